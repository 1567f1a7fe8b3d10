import { AuthoringError } from '../values/errors.ts';
import { asking } from '../effects/make-command.ts';
import type { AskingCommand } from '../model/command.ts';

/**
 * Gives the client a new token without a question. If a later request is lost, the steps before the
 * checkpoint do not run again.
 * @param content - a page of a large result, or the progress of the saga. Shown once: the tool call
 * ends, and the model calls again. Prompts and resources do not show it. Default: nothing
 * @example
 * ```ts
 * function* pages(): Steps<void> {
 *   for (let page = 1; page <= 3; page += 1) {
 *     const text = yield* step('page', async (): Promise<string> => db.page(page), { key: String(page) });
 *     yield* checkpoint(text);
 *   }
 * }
 * ```
 */
export function checkpoint(content?: string): AskingCommand<void> {
  if (content !== undefined && typeof content !== 'string')
    throw new AuthoringError('checkpoint() takes a string, or nothing.', {
      anchor: 'arguments-of-commands',
    });
  return asking<void>({ kind: 'checkpoint', id: 'checkpoint', content });
}
