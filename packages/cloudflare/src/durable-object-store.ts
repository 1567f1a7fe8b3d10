import type { Fence, GuardVerdict, SagaGuard, SagaStore } from '@mcp-saga/server/stores';
import {
  callId,
  objectsOf,
  type AskObject,
  type DurableObjectNamespaceLike,
  type DurableObjectOptions,
} from './ask-object.ts';

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
): SagaStore {
  const ask = objectsOf('durableObjectStore', namespace, options);
  return {
    guard: objectGuard(ask),
    tasks: {
      read: (id) => ask(`task ${id}`, 'readTask'),
      write: (id, ...args) => ask(`task ${id}`, 'writeTask', ...args),
    },
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

/** Stored bytes of a principal, counted at the start of a turn. */
interface Counted {
  /** Digest of the principal. */
  readonly owner: string;
  /** Time of expiry, in milliseconds since the epoch. */
  readonly until: number;
  readonly bytes: number;
}

interface CountedFence extends Fence {
  readonly counted?: Counted;
}

function objectGuard(ask: AskObject): SagaGuard {
  const add = ({ owner, until }: Counted, bytes: number, maxBytes: number): Promise<boolean> =>
    ask(`owner ${owner}`, 'countBytes', bytes, until, maxBytes);
  return {
    begin: async ({ owner, ...claim }): Promise<GuardVerdict> => {
      const respondsUntil = Math.min(claim.respondsUntil ?? claim.expiresAt, claim.expiresAt);
      const verdict = await ask(
        sagaObjectName(claim.sagaId),
        'begin',
        { ...claim, respondsUntil },
        callId(),
      );
      if (owner === undefined || typeof verdict === 'string' || !('run' in verdict)) return verdict;
      const { run, interrupted } = verdict;
      // An interrupted turn is already counted, and can always end.
      const bytes = interrupted === undefined ? (claim.request?.length ?? 0) : 0;
      const counted = { owner: owner.id, until: respondsUntil, bytes };
      if (interrupted === undefined && !(await add(counted, bytes, owner.maxBytes))) {
        await ask(sagaObjectName(run.sagaId), 'forget', run);
        return 'full';
      }
      const fence: CountedFence = { ...run, counted };
      return { ...verdict, run: fence };
    },
    finish: async (fence: CountedFence, sealedResponse) => {
      const { counted } = fence;
      const [isStored] = await Promise.all([
        ask(sagaObjectName(fence.sagaId), 'finish', fence, sealedResponse),
        counted && add(counted, sealedResponse.length - counted.bytes, Number.MAX_SAFE_INTEGER),
      ]);
      return isStored;
    },
    release: (fence) => ask(sagaObjectName(fence.sagaId), 'release', fence),
    forget: (fence) => ask(sagaObjectName(fence.sagaId), 'forget', fence),
    // The key of a step begins with the ID of the saga.
    claim: (key, expiresAt) =>
      ask(sagaObjectName(key.split(':', 1)[0] ?? key), 'claimKey', key, expiresAt, callId()),
  };
}
