import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';

/**
 * Hands the client a fresh token with nothing to do. Steps before it do not run again when the request after it is
 * lost. (E1)
 *
 * @param content - a page of a large result, or how far the saga is. Shown once: a call of a tool ends with it, and the
 *   model calls again. Prompts and resources do not show it. Default: nothing
 */
export function checkpoint(content?: string): Command<void> {
  if (content !== undefined && typeof content !== 'string')
    throw new AuthoringError('checkpoint() shows a text: give it a string, or nothing.');
  return command<void>({ kind: 'checkpoint', id: 'checkpoint', content });
}
