import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/make-command.ts';
import type { Command, LogLevel } from '../model/command.ts';
import { assertJson } from '../values/json.ts';
import type { CheckedJson } from './checks/checked-json.ts';

/**
 * Reports progress to the client, once and never on replay. Values that do not increase are not
 * sent.
 * @param total - value at the end. Default: unknown
 * @example
 * ```ts
 * function* copy(files: string[]): Steps<void> {
 *   for (const [index, file] of files.entries()) {
 *     yield* step('copy', () => api.copy(file), { key: file });
 *     yield* progress(index + 1, files.length, file);
 *   }
 * }
 * ```
 */
export function progress(value: number, total?: number, message?: string): Command<void> {
  if (!Number.isFinite(value))
    throw new AuthoringError('progress() needs a finite number.', {
      anchor: 'arguments-of-commands',
    });
  return command<void>({ kind: 'progress', value, total, message });
}

/** Levels of log messages, the least severe first. */
export const logLevels: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/**
 * Sends a log message to the client, once and never on replay. MCP 2026-07-28 has deprecated logging.
 * @throws AuthoringError for an unknown level
 * @throws InvalidJson for data that is not JSON
 * @example
 * ```ts
 * function* hello(): Steps<void> {
 *   yield* log('info', { step: 'charge', cents: 100 });
 * }
 * ```
 */
export function log<T>(
  level: LogLevel,
  data: T & CheckedJson<NoInfer<T>, 'The data of log()'>,
): Command<void> {
  if (!logLevels.includes(level))
    throw new AuthoringError(
      `log() has no level '${level}'. The levels are: ${logLevels.join(', ')}.`,
      { anchor: 'arguments-of-commands' },
    );
  assertJson(data, { where: 'data of log()' });
  return command<void>({ kind: 'log', level, data });
}
