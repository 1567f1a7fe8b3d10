import type { SagaHostOptions } from '../model/host-options.ts';
import type { SagaStore } from '../model/saga-store.ts';

/**
 * Time for which the client of a task may stay away, in milliseconds: after a question, until the
 * saga counts as abandoned; and after the end, until its result is forgotten. A task that waits for
 * time or for other people lives as long as its saga may.
 */
export const awayMs: number = 24 * 60 * 60 * 1000;

/** What a host that offers tasks needs for them. */
export interface TaskSettings {
  readonly store: SagaStore;
  readonly acceptsAnonymous: boolean;
}

/** Returns undefined if no caller is offered tasks. */
export function toTaskSettings(
  { store, anonymous, auth, sagas }: SagaHostOptions,
  warn: (message: string) => void,
): TaskSettings | undefined {
  const acceptsAnonymous = anonymous?.tasks === 'accept';
  const isMeant = sagas.some(({ task }) => task !== undefined);
  if (store === undefined) {
    if (isMeant || acceptsAnonymous)
      warn(
        'Tasks are not offered: they need a store. Set store: memoryStore(), or that of a database.',
      );
    return undefined;
  }
  if (!isMeant && !acceptsAnonymous) return undefined;
  if (acceptsAnonymous || auth?.principal !== undefined) return { store, acceptsAnonymous };
  warn(
    'Tasks are not offered: without authentication, a task ID alone gives access to its result. Set auth: { principal } or, for serveSagas, auth: { authenticate }, ' +
      "or anonymous: { tasks: 'accept' } to allow this.",
  );
  return undefined;
}
