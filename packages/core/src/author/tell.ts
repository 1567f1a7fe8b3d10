import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/effect-of.ts';
import type { Command, LogLevel } from '../model/command.ts';
import { assertJson, type Json } from '../values/json.ts';

/** Reports progress to the client, once and never on replay. Values that do not rise are not sent. `total` is optional. */
export function progress(value: number, total?: number, message?: string): Command<void> {
  if (!Number.isFinite(value)) throw new AuthoringError('progress() needs a finite number.');
  return command<void>({ kind: 'progress', value, total, message });
}

const levels: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** Sends the client a log message, once: never again on replay. */
export function log(level: LogLevel, data: Json): Command<void> {
  if (!levels.includes(level))
    throw new AuthoringError(`log() has no level '${level}'. The levels are: ${levels.join(', ')}.`);
  assertJson(data, { where: 'data of log()' });
  return command<void>({ kind: 'log', level, data });
}
