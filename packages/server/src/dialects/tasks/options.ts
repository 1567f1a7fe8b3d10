import type { TaskStore } from './store.ts';

/** Maximum length of any task ID, in characters: it travels in a header, which proxies cut or refuse at 8 KiB. */
export const maxTaskIdLength = 4_096;

/** How a host offers MCP's tasks (extension `io.modelcontextprotocol/tasks`). */
export interface TaskOptions {
  /**
   * Keeps tasks that do more than wait: they run server steps after the answer, ask questions, and can be cancelled.
   * Without a store a call becomes a task only where nothing is left to do but wait. `memoryTaskStore()` is for one
   * process.
   */
  readonly store?: TaskStore;
  /** How long a task is kept, in milliseconds from its creation. Default 24 hours; never past `maxLifetime`. */
  readonly ttl?: number;
  /**
   * Maximum length of a task ID, in characters. With a store, an ID has 45. Without a store, it holds the entire state,
   * in about 1,000 or more: a call whose ID would be longer is answered without a task. At most 4,096.
   *
   * @default 128, because Claude Code refuses longer IDs
   */
  readonly maxIdLength?: number;
  /** How often clients are told to ask, in milliseconds. Default one second. */
  readonly pollInterval?: number;
  /**
   * `accept` offers tasks to callers that are not authenticated: whoever has the id of such a task, which stands in
   * headers and logs, sees its result, answers its questions and cancels it. (T14) Default: they get none.
   */
  readonly bearer?: 'accept';
}

/** The options of tasks, completed. */
export interface TaskSettings {
  readonly store: TaskStore | undefined;
  readonly ttl: number;
  readonly pollInterval: number;
  readonly maxIdLength: number;
  readonly bearer: 'accept' | undefined;
}

/**
 * Completes the options; undefined where nobody is offered a task.
 *
 * @throws RangeError for a duration that is not a finite number of milliseconds, more than 0; fractions are rounded up.
 * For a `maxIdLength` that is not a whole number from 1 to 4,096
 */
export function toTaskSettings(
  host: {
    readonly tasks?: TaskOptions;
    readonly principal?: unknown;
    readonly sagas: readonly { readonly task: unknown }[];
  },
  warn: (message: string) => void,
): TaskSettings | undefined {
  const { tasks, principal, sagas } = host;
  const settings = {
    store: tasks?.store,
    ttl: whole('ttl', tasks?.ttl ?? 24 * 60 * 60 * 1000),
    pollInterval: whole('pollInterval', tasks?.pollInterval ?? 1_000),
    maxIdLength: idLength(tasks?.maxIdLength ?? 128),
    bearer: tasks?.bearer,
  };
  if (tasks === undefined && sagas.every(({ task }) => task === undefined)) return undefined;
  if (settings.bearer === 'accept' || principal !== undefined) return settings;
  warn(
    'No client is offered tasks, because nobody is authenticated: whoever has the id of a task could see its result. ' +
      "Give the host a `principal` option, or tasks: { bearer: 'accept' } if that is meant.",
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
