import { specOf } from '../effects/make-command.ts';
import { bodyLog } from '../values/body-log.ts';
import type { Command } from '../model/command.ts';
import { AuthoringError } from '../values/errors.ts';

/**
 * Marks a command as dropped on purpose. A question or an effect that the body creates and never
 * yields fails the saga, because a forgotten `yield*` looks the same. This is an ordinary function:
 * call it without `yield*`.
 * @throws AuthoringError for a value that is not a command
 * @example
 * ```ts
 * function* notify(byMail: boolean): Steps<void> {
 *   const email = step('email', () => mail.send('Done'));
 *   const chat = step('chat', () => api.post('Done'));
 *   yield* byMail ? email : chat;
 *   ignore(byMail ? chat : email);
 * }
 * ```
 */
export function ignore(command: Command<unknown>): void {
  if (specOf(command) === undefined)
    throw new AuthoringError('ignore() needs a command, such as step(…) or elicit(…).', {
      anchor: 'arguments-of-commands',
    });
  bodyLog()?.ignore(command);
}
