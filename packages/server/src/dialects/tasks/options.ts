import type { TaskStore } from './store.ts';

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
  readonly bearer: 'accept' | undefined;
}

/**
 * Completes the options; undefined where nobody is offered a task.
 *
 * @throws RangeError for a duration that is not a finite number of milliseconds, more than 0; fractions are rounded up
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
