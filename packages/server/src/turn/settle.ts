import type { Program } from '@mcp-saga/core';
import { answerGraceMs } from '@mcp-saga/core/program';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { type HostParts, isSingleUse } from '../settings/host-parts.ts';
import { usableOf, type RetryableRequest } from '../token/guard-records.ts';
import { abandonedAt, isNamed } from '../token/sealed-saga.ts';
import { sealWake, type AbsentClient } from '../token/wake-token.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { openTurn, sagaOf } from '../token/saga-of-turn.ts';
import { SagaHostError } from '../wire/errors.ts';

/** Sends the message of a suspended turn to the queue, when the turn is kept. */
const wakes = new WeakMap<SuspendedTurn, () => Promise<boolean>>();

/** What the queue knows of a saga when a turn ends. */
interface KnownToQueue {
  /** `true` if the queue has a message that leads to this turn. @default false */
  readonly isContinued?: boolean;
  /** `true` if the queue may have a message of the saga, even of its first turn. */
  readonly isGuarded: boolean;
}

/**
 * Tells the queue and the operator how a turn ended. With a guard, call after the response is kept.
 * Resolves to `false` if the queue has failed.
 */
export async function settleTurn(
  { observer: { hooks }, guard }: HostParts,
  turn: SagaTurn,
  { isContinued = false, isGuarded }: KnownToQueue,
): Promise<boolean> {
  if (turn.status === 'suspended') {
    const wake = wakes.get(turn);
    return isContinued || wake === undefined || (await wake());
  }
  const { saga, sagaId } = turn;
  await hooks.onSettled({
    saga,
    sagaId,
    uncompensated: turn.status === 'failed' ? turn.uncompensated : [],
  });
  if (isGuarded || turn.turn > 1) await guard?.queue?.remove(sagaId);
  return true;
}

/** Makes the error of a start that the queue must know, and does not. Nothing has run. */
export function startLater(): SagaHostError {
  return new SagaHostError(
    'queue_down',
    'The server cannot start the call now. Send the request again later.',
  );
}

/** Client of a turn. */
type ClientOfTurn = Pick<RetryableRequest, 'capabilities' | 'dialect'>;

/** Circumstances of a suspended turn. */
interface Suspension {
  /** Time from which the turn waits (ms since the epoch). */
  readonly now: number;
  /** `true` for a committed turn: the same run continues it. */
  readonly isCommit: boolean;
  /** `true` for the commit before the first step of a call that nobody can repeat. */
  readonly isVital?: boolean;
  /** `true` if a queue took the turn, so no client is there to continue it. */
  readonly isWoken: boolean;
}

/** Prepares the message for the queue, if a guard keeps the turns of the saga. */
export function noteSuspended(
  host: HostParts,
  program: Pick<Program, 'reuse'>,
  saga: SealedSaga,
  turn: SuspendedTurn,
  client: ClientOfTurn,
  { now, isCommit, isVital = false, isWoken }: Suspension,
): void {
  if (host.guard?.queue === undefined || !isSingleUse(host, program)) return;
  // Another run may take over a committed turn when the lease is over. Nothing but the end is left of
  // a pushed call whose client never had a token.
  const isLost = isVital && client.dialect.endsOnAbort === true;
  const dueOfCommit = isLost ? undefined : now + host.timing.leaseMs;
  const due = isCommit ? dueOfCommit : dueOf(turn, now, saga, client.dialect);
  const wait = { due, hasClient: !isCommit && (!isWoken || turn.steps.length > 0) };
  wakes.set(turn, async () => await sendWake(host, saga, toAbsent(host, client), wait));
}

/** Prepares the message of a kept turn again, from the token of the turn. */
export async function noteSuspendedAgain(
  host: HostParts,
  turn: SagaTurn,
  client: ClientOfTurn,
  isCommit: boolean,
): Promise<void> {
  if (turn.status !== 'suspended' || host.guard?.queue === undefined) return;
  const saga = await sagaOf(host, turn);
  const { name, version } = saga.claims.saga;
  const program = host.registry.version(name, version, host.timing.clock());
  noteSuspended(host, program ?? {}, saga, turn, client, {
    now: saga.claims.iat,
    isCommit,
    isWoken: false,
  });
}

/**
 * Time at which a queue continues a waiting saga (ms since the epoch). Undefined: only the client
 * can continue the saga.
 */
export function dueOf(
  { steps, due, retryAfterMs = 0, hasPage, turn }: SuspendedTurn,
  now: number,
  saga: Pick<SealedSaga, 'claims' | 'state'>,
  { endsOnAbort = false }: DialectCapabilities = {},
): number | undefined {
  // The client has no token, and takes the call for failed.
  if (endsOnAbort) return undefined;
  // A client that was to come back at once may not have its first token, and call again. Of a start
  // with a name, the repeated call finds this saga.
  const mayStartAnother = turn === 1 && !isNamed(saga);
  // After its expiry, nothing but the end is left of a question.
  if (steps.length > 0) {
    if (due === undefined || (mayStartAnother && due <= now)) return undefined;
    return due < abandonedAt(saga.claims) ? due : undefined;
  }
  // A client takes the pages of a call itself.
  if (hasPage === true || (mayStartAnother && retryAfterMs <= 0)) return undefined;
  return now + retryAfterMs;
}

/** When a message is delivered. */
interface WakeTime {
  /** Time at which the saga goes on (ms since the epoch). Undefined: only its client continues it. */
  readonly due: number | undefined;
  /** `true` if the client may continue the saga or answer first. */
  readonly hasClient?: boolean;
  /**
   * Time of the delivery (ms since the epoch). Default: `due`, or the time at which the saga is
   * abandoned.
   */
  readonly at?: number;
}

/** Sends the message of a saga to the queue. Resolves to `false` if the queue failed. */
export async function sendWake(
  host: HostParts,
  saga: SealedSaga,
  client: AbsentClient,
  { due, hasClient = false, at }: WakeTime,
): Promise<boolean> {
  const queue = host.guard?.queue;
  if (queue === undefined) return true;
  const time =
    at ?? (due === undefined ? abandonedAt(saga.claims) : due + (hasClient ? answerGraceMs : 0));
  return await queue.send(await sealWake(host, saga, due, client), time);
}

/**
 * Sends the message of a turn again, when the client has got its token from a call with several
 * turns.
 */
export async function sendWakeOf(
  host: HostParts,
  turn: SuspendedTurn,
  client: ClientOfTurn,
): Promise<void> {
  if (host.guard?.queue === undefined) return;
  const { saga, program } = await openTurn(host, turn);
  if (program === undefined || program.reuse === 'ok') return;
  const due = dueOf(turn, saga.claims.iat, saga);
  await sendWake(host, saga, toAbsent(host, client), { due, hasClient: true });
}

/**
 * Sends the message of a begun turn, which finishes the turn if its process dies. Resolves to
 * `false` if the queue failed.
 */
export async function sendBegunWake(
  host: HostParts,
  saga: SealedSaga,
  client: ClientOfTurn,
): Promise<boolean> {
  // Nothing but the end is left of a call whose client has no token.
  if (client.dialect.endsOnAbort === true) return true;
  return await sendWake(host, saga, toAbsent(host, client), {
    due: host.timing.clock() + host.timing.leaseMs,
  });
}

function toAbsent({ limits }: HostParts, { capabilities, dialect }: ClientOfTurn): AbsentClient {
  return usableOf(noIds, { answers: new Map(), dialect, capabilities }, limits);
}

const noIds = { toWire: (stepId: string): string => stepId };
