import type { SagaStore } from '@mcp-saga/server/stores';
import {
  ObjectRefusal,
  objectsOf,
  type AskObject,
  type DurableObjectNamespaceLike,
  type DurableObjectOptions,
} from './ask-object.ts';
import type { Charged } from './stored-entries.ts';

/**
 * Creates the store of a host in Durable Objects. Sagas, links, steps that wait for answers from
 * outside, and principals with stored bytes each have a separate object. Entries expire by the
 * clock of the object.
 * @param namespace - binding to the class that {@link createSagaObject} made
 * @throws TypeError or RangeError if the binding or an option is invalid
 * @example
 * ```ts
 * declare const env: { readonly SAGAS: DurableObjectNamespaceLike };
 *
 * const store = durableObjectStore(env.SAGAS);
 * ```
 */
export function durableObjectStore(
  namespace: DurableObjectNamespaceLike,
  options: DurableObjectOptions = {},
): SagaStore {
  const ask = objectsOf('durableObjectStore', namespace, options);
  const charge: CountBytes = async (added, given, limit) => {
    const replaced = given.filter((one) => one !== undefined);
    const { principal } = added ?? replaced[0] ?? {};
    if (principal === undefined) return true;
    return await ask(`owner ${principal}`, 'countBytes', { added, replaced, limit });
  };
  return { ...objectEntries(ask, charge), ...objectLists(ask, charge) };
}

/** Name of the object of a group, such as a saga. */
export function sagaObjectName(group: string): string {
  return `saga ${group}`;
}

/**
 * Counts new bytes in place of others, in the object of their principal, who is the same. Returns
 * `false` and adds nothing if the principal is at the limit.
 */
type CountBytes = (
  added: Charged | undefined,
  replaced: readonly (Charged | undefined)[],
  limit?: number,
) => Promise<boolean>;

function objectLists(
  ask: AskObject,
  charge: CountBytes,
): Pick<SagaStore, 'append' | 'list' | 'discard' | 'close'> {
  return {
    append: async ({ group, name }, value, bounds) => {
      const { chargeTo, expiresAtMs } = bounds;
      const added: Charged | undefined =
        chargeTo === undefined
          ? undefined
          : { principal: chargeTo, bytes: value.length, untilMs: expiresAtMs };
      await charge(added, []);
      const appended = ask(sagaObjectName(group), 'appendValue', { name, value }, bounds);
      const result = await appended.catch(async (error: unknown) => {
        // Without a reply, nobody knows whether the value is stored, and its bytes count.
        if (error instanceof ObjectRefusal) await charge(undefined, [added]);
        throw error;
      });
      if (result !== 'added') await charge(undefined, [added]);
      return result;
    },
    list: (group) => ask(sagaObjectName(group), 'listValues'),
    discard: async (group, values) => {
      const discarded = await ask(sagaObjectName(group), 'discardValues', values);
      await charge(undefined, discarded);
    },
    close: (group, expiresAtMs) => ask(sagaObjectName(group), 'closeList', expiresAtMs),
  };
}

function objectEntries(
  ask: AskObject,
  charge: CountBytes,
): Pick<SagaStore, 'write' | 'remove' | 'read'> {
  const remove: SagaStore['remove'] = async ({ group, name }, expected) => {
    const { isRemoved, replaced } = await ask(sagaObjectName(group), 'removeEntry', name, expected);
    await charge(undefined, [replaced]);
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
      if (isNew && !(await charge(added, [], charged?.limit))) {
        const { entry, nowMs } = await ask(object, 'readEntry', name);
        return entry === undefined ? { status: 'full', nowMs } : { status: 'other', entry, nowMs };
      }
      const written = await ask(object, 'writeEntry', name, value, expected, bounds).catch(
        async (error: unknown) => {
          // A body that is too large for the object would count in each attempt. Without a reply,
          // nobody knows whether the entry is stored, and its bytes count.
          if (isNew && error instanceof ObjectRefusal) await charge(undefined, [added]);
          throw error;
        },
      );
      if (written.status === 'other') {
        if (isNew) await charge(undefined, [added]);
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
