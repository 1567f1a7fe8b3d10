import type { SagaHostOptions } from '../model/host-options.ts';
import type { SagaStore } from '../model/saga-store.ts';

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
    if (isMeant)
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
