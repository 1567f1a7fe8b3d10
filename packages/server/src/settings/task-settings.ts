import { optionError } from '@mcp-saga/core/shared';
import type { SagaStore } from '../model/saga-store.ts';
import type { AnonymousOptions, TaskOptions } from '../model/host-options.ts';
import { wholeDuration } from './default-limits.ts';

/**
 * Maximum length of a task ID, in characters. Clients send it in a header, which proxies truncate
 * or reject at 8 KiB.
 */
export const maxTaskIdLength = 4_096;

/** Completed options of tasks. */
export interface TaskSettings {
  readonly store: SagaStore | undefined;
  readonly ttl: number;
  readonly pollInterval: number;
  readonly maxIdLength: number;
  readonly acceptsAnonymous: boolean;
}

/**
 * Completes the options. Returns undefined if no caller is offered tasks. Throws RangeError for
 * invalid options.
 */
export function toTaskSettings(
  host: {
    readonly tasks?: TaskOptions;
    readonly anonymous?: AnonymousOptions;
    readonly auth?: { readonly principal?: unknown };
    readonly sagas: readonly { readonly task: unknown }[];
  },
  warn: (message: string) => void,
): TaskSettings | undefined {
  const { tasks, anonymous, auth, sagas } = host;
  const settings = {
    store: tasks?.store,
    ttl: wholeDuration('tasks.ttl', tasks?.ttl ?? 24 * 60 * 60 * 1000),
    pollInterval: wholeDuration('tasks.pollInterval', tasks?.pollInterval ?? 1_000),
    maxIdLength: idLength(tasks?.maxIdLength ?? 128),
    acceptsAnonymous: anonymous?.tasks === 'accept',
  };
  const isOffered = tasks !== undefined || settings.acceptsAnonymous;
  if (!isOffered && sagas.every(({ task }) => task === undefined)) return undefined;
  if (settings.acceptsAnonymous || auth?.principal !== undefined) return settings;
  warn(
    'Tasks are not offered: without authentication, a task ID alone gives access to its result. Set auth: { principal } or, for serveSagas, auth: { authenticate }, ' +
      "or anonymous: { tasks: 'accept' } to allow this.",
  );
  return undefined;
}

function idLength(length: number): number {
  if (!Number.isSafeInteger(length) || length < 1 || length > maxTaskIdLength)
    throw optionError(`tasks.maxIdLength must be a whole number from 1 to ${maxTaskIdLength}.`, {
      type: RangeError,
    });
  return length;
}
