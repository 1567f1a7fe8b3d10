import { command, type Command } from './command.ts';

/**
 * Hands the client a fresh token with nothing to do. Steps before it do not run again when the request after it is
 * lost. (E1)
 */
export function checkpoint(): Command<void> {
  return command<void>({ kind: 'checkpoint', id: 'checkpoint' });
}
