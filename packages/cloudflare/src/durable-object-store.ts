import { storeGuard, storeTasks, type EntryStore, type SagaStore } from '@mcp-saga/server/stores';
import {
  objectsOf,
  type AskObject,
  type DurableObjectNamespaceLike,
  type DurableObjectOptions,
} from './ask-object.ts';
import type { Charged } from './stored-entries.ts';

/** Stores of a host in Durable Objects. */
export interface DurableObjectStore extends SagaStore {
  /** Entries of the guard. */
  readonly entries: EntryStore;
}

/**
 * Creates the guard, the task store, and the mailbox of a host in Durable Objects. Sagas, tasks,
 * steps that wait for answers from outside, and principals with stored bytes each have a separate
 * object. Entries expire by the clock of the object.
 * @param namespace - binding to the class that {@link createSagaObject} made
 * @throws TypeError or RangeError if the binding or an option is invalid
 * @example
 * ```ts
 * declare const env: { readonly SAGAS: DurableObjectNamespaceLike };
 *
 * const { guard, tasks, mailbox } = durableObjectStore(env.SAGAS);
 * ```
 */
export function durableObjectStore(
  namespace: DurableObjectNamespaceLike,
  options: DurableObjectOptions = {},
): DurableObjectStore {
  const ask = objectsOf('durableObjectStore', namespace, options);
  const entries = objectEntries(ask);
  return {
    entries,
    guard: storeGuard(entries),
    tasks: storeTasks(entries),
    mailbox: {
      put: (box, ...args) => ask(`box ${box}`, 'putAnswer', ...args),
      list: (box) => ask(`box ${box}`, 'listAnswers'),
      remove: (box, answers) => ask(`box ${box}`, 'removeAnswers', answers),
      close: (box, expiresAt) => ask(`box ${box}`, 'closeBox', expiresAt),
    },
  };
}

/** Name of the object of a saga. */
export function sagaObjectName(sagaId: string): string {
  return `saga ${sagaId}`;
}

function objectEntries(ask: AskObject): EntryStore {
  /** Counts new bytes in place of old ones. `false`: the principal is at its limit. */
  const charge = async (
    added: Charged | undefined,
    replaced: Charged | undefined,
    limit?: number,
  ): Promise<boolean> => {
    const { principal } = added ?? replaced ?? {};
    if (principal === undefined) return true;
    return await ask(`owner ${principal}`, 'countBytes', { added, replaced, limit });
  };
  const remove: EntryStore['remove'] = async ({ group, name }, expected) => {
    const { isRemoved, replaced } = await ask(sagaObjectName(group), 'removeEntry', name, expected);
    await charge(undefined, replaced);
    return isRemoved;
  };
  return {
    write: async (key, value, expected, bounds) => {
      const { group, name } = key;
      const object = sagaObjectName(group);
      const { expiresAtMs, bodyExpiresAtMs = expiresAtMs, charge: charged } = bounds;
      const added: Charged | undefined = charged && {
        principal: charged.to,
        bytes: value.body?.length ?? 0,
        untilMs: Math.min(bodyExpiresAtMs, expiresAtMs),
      };
      const isNew = expected === 0;
      // Other requests must not see an entry that the limit of its principal would remove again.
      if (isNew && !(await charge(added, undefined, charged?.limit))) {
        const { entry, nowMs } = await ask(object, 'readEntry', name);
        return entry === undefined ? { status: 'full', nowMs } : { status: 'other', entry, nowMs };
      }
      const written = await ask(object, 'writeEntry', name, value, expected, bounds).catch(
        async (error: unknown) => {
          // A body that is too large for the object would count in each attempt.
          if (isNew) await charge(undefined, added);
          throw error;
        },
      );
      if (written.status === 'other') {
        if (isNew) await charge(undefined, added);
        return { ...written, entry: written.entry };
      }
      const { replaced, ...result } = written;
      if (!isNew) await charge(added, replaced);
      return result;
    },
    remove,
    read: async ({ group, name }) => (await ask(sagaObjectName(group), 'readEntry', name)).entry,
  };
}
