import type { TaskStore } from '../model/task-store.ts';
import type { TaskOptions } from '../model/host-options.ts';

/** Maximum length of any task ID, in characters: it travels in a header, which proxies cut or refuse at 8 KiB. */
export const maxTaskIdLength = 4_096;

/** The options of tasks, completed. */
export interface TaskSettings {
  readonly store: TaskStore | undefined;
  readonly ttl: number;
  readonly pollInterval: number;
  readonly maxIdLength: number;
  readonly bearer: 'accept' | undefined;
}

/** Completes the options; undefined if no caller is offered a task. Throws RangeError for an invalid duration or `maxIdLength`. */
export function toTaskSettings(
  host: {
    readonly tasks?: TaskOptions;
    readonly auth?: { readonly principal?: unknown };
    readonly sagas: readonly { readonly task: unknown }[];
  },
  warn: (message: string) => void,
): TaskSettings | undefined {
  const { tasks, auth, sagas } = host;
  const settings = {
    store: tasks?.store,
    ttl: whole('ttlMs', tasks?.ttlMs ?? 24 * 60 * 60 * 1000),
    pollInterval: whole('pollIntervalMs', tasks?.pollIntervalMs ?? 1_000),
    maxIdLength: idLength(tasks?.maxIdLength ?? 128),
    bearer: tasks?.bearer,
  };
  if (tasks === undefined && sagas.every(({ task }) => task === undefined)) return undefined;
  if (settings.bearer === 'accept' || auth?.principal !== undefined) return settings;
  warn(
    'No client is offered tasks, because nobody is authenticated: whoever has the id of a task could see its result. ' +
      "Give the host auth: { principal }, or tasks: { bearer: 'accept' } if that is meant.",
  );
  return undefined;
}

function whole(name: string, ms: number): number {
  const rounded = Math.ceil(ms);
  if (!Number.isSafeInteger(rounded) || rounded < 1)
    throw new RangeError(`tasks.${name} must be a number of milliseconds, more than 0.`);
  return rounded;
}

function idLength(length: number): number {
  if (!Number.isSafeInteger(length) || length < 1 || length > maxTaskIdLength)
    throw new RangeError(`tasks.maxIdLength must be a whole number from 1 to ${maxTaskIdLength}.`);
  return length;
}
