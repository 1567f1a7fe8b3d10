import { command, type Command } from './command.ts';

/**
 * Hands the client a fresh token with nothing to do. Steps before it do not run again when the request after it is
 * lost. (E1)
 *
 * @param content - what is shown with it, once: a page of a large result, how far it is. Clients that go on by
 *   themselves (multi round-trip, push) show it to nobody, so what must be read belongs into the result. Default: nothing
 */
export function checkpoint(content?: string): Command<void> {
  if (content !== undefined && typeof content !== 'string')
    throw new TypeError('checkpoint() shows a text: give it a string, or nothing.');
  return command<void>({ kind: 'checkpoint', id: 'checkpoint', content });
}
