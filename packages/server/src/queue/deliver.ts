/**
 * Messages of a queue: they continue a saga in the place of its client, and end one that its
 * client has left. A message is a sealed token, so whoever holds it can do no more than let time
 * pass.
 *
 * 1. The message is opened, and its turn is claimed like a request of the client without answers.
 * 2. If the turn ran already, its stored response leads to the next one, until the saga waits or
 *    has ended.
 * 3. A saga past the time of its client is undone. Past a pivot it goes on instead.
 *
 * - A message can be delivered any number of times, by any number of processes, in any order.
 * - Whatever throws leaves the saga as it is, and the message must be delivered again.
 * - Before a turn waits, the message of the next one is stored.
 */
import { awayMs } from '../settings/task-settings.ts';
import { optionError } from '@mcp-saga/core/shared';
import { digestText, TokenRefused } from '@mcp-saga/seal';
import { askGuard, isForgotten } from '../guard/ask-guard.ts';
import type { Caller } from '../model/caller.ts';
import type { DeliveryResult, QueueMessage } from '../model/queue-types.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import { requestToEnd } from '../requests/cancel.ts';
import { drive, isUsed, NotEnded, type DrivenTurn } from '../requests/drive.ts';
import { withTenantOf, type SagaHostCore } from '../requests/host.ts';
import { assertBegun } from '../requests/open-for-caller.ts';
import { requestWithoutAnswers, type RequestedTurn } from '../requests/requested-turn.ts';
import { queueDown } from '../settings/host-queue.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { readSealed } from '../store/sealed-values.ts';
import { abandonedAt, atAnyTime, messageExpiry } from '../token/sealed-saga.ts';
import { inPlaceOf } from '../token/guard-records.ts';
import { isPastPivot } from '../token/resolve-program.ts';
import { openWake, type OpenWake } from '../token/wake-token.ts';
import { dueOf, sendWake } from '../turn/settle.ts';
import { SagaHostError } from '../wire/errors.ts';
import { openTurn } from '../token/saga-of-turn.ts';

/**
 * Continues the saga of a queue message, as a request of its client without answers would. Once the
 * client can no longer continue the saga, ends a saga that only the client could continue.
 *
 * Any error leaves the saga as it is: deliver the message again.
 */
export async function deliver(
  core: SagaHostCore,
  message: QueueMessage,
  caller: Caller,
): Promise<DeliveryResult> {
  try {
    const { token: given } = Object(message) as { readonly token?: unknown };
    if (typeof given !== 'string') throw new TokenRefused('malformed');
    const { host, token } = await withTenantOf(core, given, 'queue');
    return await deliverTo(host, token, caller);
  } catch (error) {
    if (error instanceof TokenRefused) core.observer.reject(error.reason);
    throw error;
  }
}

const electedMs = 60 * 60 * 1000;

async function deliverTo(host: HostParts, token: string, caller: Caller): Promise<DeliveryResult> {
  const { guard, observer, timing } = host;
  if (guard?.queue === undefined)
    throw optionError('host.deliver: set the option `queue` of the host.', {
      code: 'missing_option',
    });
  const { queue } = guard;
  let isSent = true;
  /** Claims something about the turn of a saga. `false`: it was claimed before. */
  const claimsOnce = (
    { sagaId, claims: { turn } }: Pick<OpenWake['saga'], 'sagaId' | 'claims'>,
    what: string,
    ms: number,
  ): Promise<boolean> => {
    const now = timing.clock();
    // Steps are claimed by idempotency keys, which contain no space.
    return askGuard(observer, () =>
      guard.turns.claim(`${sagaId}:wake ${turn}${what}`, now + ms, now),
    );
  };
  const own: HostParts = {
    ...host,
    guard: {
      ...guard,
      queue: {
        ...queue,
        send: async (...sent) => {
          isSent = (await queue.send(...sent)) && isSent;
          return isSent;
        },
        // Otherwise each request of a waiting client would add a message to a queue that stores
        // several, until the saga ends.
        elects: async (saga) => {
          // The process of an earlier delivery of this message may have died before it sent.
          const isRepeated = !(await claimsOnce(
            saga,
            ` ${await digestText(token)}`,
            2 * electedMs,
          ));
          return isRepeated || (await claimsOnce(saga, '', electedMs));
        },
      },
    },
  };
  const woken = await withTask(own, await openWake(own, token));
  const delivery = await delivered(own, woken, caller).catch(async (error: unknown) => {
    if (!isBusy(error)) throw error;
    // A queue may deliver a message twice, and would hold two messages after that, then four.
    const again = ` again ${await digestText(token)}`;
    if (!(await claimsOnce(woken.saga, again, 2 * electedMs))) throw error;
    return await laterThanLease(own, woken);
  });
  // The message at hand leads to the turn whose message was lost.
  if (!isSent)
    throw queueDown('the message of the next turn is not stored. Deliver this message again.');
  return delivery;
}

/** `true` if another process runs the turn of the message. */
function isBusy(error: unknown): boolean {
  return error instanceof SagaHostError && error.code === 'busy';
}

/**
 * Sends a message again for the end of the lease of the process that runs its turn. A step may last
 * for many leases, and the message finishes the turn if that process dies.
 */
async function laterThanLease(host: HostParts, woken: OpenWake): Promise<DeliveryResult> {
  const { saga, client, due } = woken;
  const at = host.timing.clock() + host.timing.leaseMs;
  await sendWake(host, saga, client, { due, at });
  return { status: 'waiting', sagaId: saga.sagaId, at };
}

/**
 * Extends the life of a saga that a client follows as a task: it may stay away for longer than the
 * token in the message is good.
 */
async function withTask(host: HostParts, woken: OpenWake): Promise<OpenWake> {
  const { saga, program } = woken;
  const store = host.offers.tasks?.store;
  if (program?.task === undefined || store === undefined) return woken;
  const stored = await readSealed(store, 'task', saga.sagaId);
  if (stored === undefined) return woken;
  const expect = { purpose: 'blob', sid: saga.sagaId, ...atAnyTime } as const;
  const { claims } = await host.keys.responses.open(stored.sealed, expect);
  const exp = Math.max(saga.claims.exp, Math.min(claims.exp, claims.iat + awayMs));
  return { ...woken, saga: { ...saga, claims: { ...saga.claims, exp } } };
}

async function delivered(
  host: HostParts,
  first: OpenWake,
  caller: Caller,
): Promise<DeliveryResult> {
  const { sagaId } = first.saga;
  assertBegun(host, first.saga.claims);
  if (isEnding(host, first)) return await ended(host, first, caller);
  let taken: DrivenTurn;
  try {
    taken = await drive(host, withoutClient(host, first), inPlaceOf(first.client, caller));
  } catch (error) {
    if (!isUsed(error)) throw error;
    // The response has expired, or the saga was being cancelled, which the queue finishes if the
    // client does not.
    return await ended(host, first, caller);
  }
  const { turn, isUsed: isLeft = false } = taken;
  if (turn.status !== 'suspended') return { status: 'ended', sagaId };
  const newest = await nextOf(host, first, turn);
  if (isLeft) return await ended(host, newest, caller);
  return { status: 'waiting', sagaId, at: timeOf(newest) };
}

/** `true` if the saga of a message must not continue, or can only continue to its end. */
function isEnding(host: HostParts, woken: OpenWake): boolean {
  const { claims } = woken.saga;
  const { rejectIssuedBefore = 0 } = host.gate;
  if (woken.due === undefined || isForgotten(host, claims.iat) || claims.iat < rejectIssuedBefore)
    return true;
  // Where its code is gone, the saga can never continue, and nobody else comes.
  const canOnlyEnd = woken.program === undefined || isPastPivot(woken);
  return host.timing.clock() >= abandonedAt(claims) && canOnlyEnd;
}

/** The turn of a message, in the place of its client. */
function withoutClient(host: HostParts, woken: OpenWake): RequestedTurn {
  const { dialect } = woken.client;
  return requestWithoutAnswers(host, woken, { holder: { kind: 'queue' }, dialect });
}

/** Ends an abandoned saga. Until then, sends the message again. */
async function ended(host: HostParts, woken: OpenWake, caller: Caller): Promise<DeliveryResult> {
  const { saga, client } = woken;
  const { sagaId, claims } = saga;
  const at = abandonedAt(claims);
  if (host.timing.clock() < at) {
    await sendWake(host, saga, client, { due: undefined });
    return { status: 'waiting', sagaId, at };
  }
  // The guard stores the turn as long as the message opens.
  const stored = { ...saga, claims: { ...claims, exp: messageExpiry(claims) } };
  try {
    await drive(host, requestToEnd(host, { ...woken, saga: stored }, 'queue'), caller);
    return { status: 'ended', sagaId };
  } catch (error) {
    if (isUsed(error)) return { status: 'outdated', sagaId };
    if (error instanceof NotEnded)
      return { status: 'waiting', sagaId, at: host.timing.clock() + error.retryAfterMs };
    throw error;
  }
}

/** Opens the newer turn of a saga. */
async function nextOf(
  host: HostParts,
  { client }: OpenWake,
  turn: SuspendedTurn,
): Promise<OpenWake> {
  const opened = await openTurn(host, turn);
  const due = dueOf(turn, opened.saga.claims.iat, opened.saga);
  return { ...opened, due, client };
}

function timeOf({ due, saga }: OpenWake): number {
  return due ?? abandonedAt(saga.claims);
}
