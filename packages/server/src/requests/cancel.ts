import { SagaCancelled } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import { cancelExpiry, toSealedSaga } from '../token/sealed-saga.ts';
import type { Caller } from '../model/caller.ts';
import { NotEnded, SagaHostError } from '../wire/errors.ts';
import { digestOf } from '../guard/ask-guard.ts';
import { Lease } from '../turn/turn-lease.ts';
import type { CancelRequest } from '../model/request-types.ts';
import { neverAborted } from '../settings/clock.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { found, standIn, type OpenSaga, readTimeline } from '../token/resolve-program.ts';
import { isUsed, takeNewest } from './newest-resumption.ts';
import { openSaga } from './open-for-caller.ts';
import { sameRequest, withoutAnswers } from './resumption.ts';
import { runTurn } from '../turn/run-turn.ts';
import type { TurnRequest } from '../turn/turn-request.ts';
import { inPlaceOf } from '../token/guard-records.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { openTurn } from '../token/saga-of-turn.ts';

/** Ends a saga and undoes its steps. An abandoned saga past its pivot continues instead. */
export async function cancel(
  host: HostParts,
  token: string,
  caller: Caller,
  request: CancelRequest,
): Promise<SagaTurn> {
  try {
    return await cancelOpened(host, await open(host, token, caller, request), caller, request);
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/** Ends an opened saga: for its client, or for a queue. */
export async function cancelOpened(
  host: HostParts,
  given: Cancelled,
  caller: Caller,
  request: Pick<CancelRequest, 'reason'> = {},
): Promise<SagaTurn> {
  let opened = given;
  let until: number | undefined;
  let idle = 0;
  for (;;) {
    const began = host.timing.clock();
    const { turn, ran } = await takenAt(host, opened, caller, request);
    // A suspended saga has not ended: an interrupted turn was finished first, or the saga continued
    // past its pivot.
    if (turn.status !== 'suspended') return turn;
    // Looking up stored turns does not count as running time.
    if (ran) until ??= began + host.limits.turnBudgetMs;
    const next = await nextOf(host, opened, turn, until);
    idle = ran && isSameJournal(opened, next) ? idle + 1 : 0;
    // A finished interrupted turn may record nothing.
    if (idle > 1) throw noProgress(opened.saga.claims.saga.name);
    opened = next;
  }
}

/** Takes a turn of a cancelled saga. If time has moved the saga on, finds its newest turn. */
async function takenAt(
  host: HostParts,
  opened: Cancelled,
  caller: Caller,
  request: Pick<CancelRequest, 'reason'>,
): Promise<Taken> {
  try {
    return await taken(host, opened, caller, request);
  } catch (error) {
    if (!isUsed(error) || opened.isAbandoned) throw error;
    // A decision of the client with a later token stands.
    const repeated = {
      ...withoutAnswers(host, opened),
      decided: 'cancel',
      isBehindCommit: true,
    } as const;
    const { turn } = await takeNewest(host, repeated, caller);
    return { turn, ran: false };
  }
}

function isSameJournal(before: OpenSaga, after: OpenSaga): boolean {
  const { structure, client, server } = before.saga.state.program;
  const { program } = after.saga.state;
  return program.structure === structure && program.client === client && program.server === server;
}

function noProgress(saga: string): SagaHostError {
  return new SagaHostError(
    'no_progress',
    `'${saga}' cannot be cancelled: two turns recorded nothing, so another turn would not end the saga.`,
  );
}

/** Newest turn. `ran` is `false` if the guard had stored its response. */
interface Taken {
  readonly turn: SagaTurn;
  readonly ran: boolean;
}

async function taken(
  host: HostParts,
  opened: Cancelled,
  caller: Caller,
  request: Pick<CancelRequest, 'reason'>,
): Promise<Taken> {
  const { saga, program, current, isAbandoned, forward } = opened;
  const { guard } = host;
  // The declaration of a removed version is unknown: the saga is guarded if possible.
  const forks =
    program === undefined && guard !== undefined ? 'refuse' : (program ?? current).forks;
  if (forks === undefined || (forks === 'refuse' && guard === undefined)) {
    throw new SagaHostError(
      'cancel_not_offered',
      `'${saga.claims.saga.name}' cannot be cancelled: the saga does not declare forks.`,
    );
  }
  const goesForward = forward && isPastPivot(opened);
  const isGuarded = guard !== undefined && forks !== 'accept';
  const { timing } = host;
  const lease = new Lease(
    host,
    saga,
    isGuarded
      ? {
          action: 'cancel',
          // Undoing runs must not take over continuing runs, nor the reverse.
          digest: await digestOf(goesForward ? 'forward' : 'cancel', new Map()),
          ends: isAbandoned,
          brought: { ...broughtNothing, at: timing.clock(), cancels: true },
          round: 0,
          signal: caller.signal ?? neverAborted(),
        }
      : undefined,
  );
  try {
    const claimed = await lease.claim();
    if ('turn' in claimed) return { turn: claimed.turn, ran: false };
    const { interrupted } = claimed;
    // Any other interrupted request is first run to the end of its turn.
    const isOwn = interrupted === undefined || interrupted.cancels === true;
    // Another process may be able to undo more, but an abandoned saga has no other chance.
    const undoes = isAbandoned || current.onMismatch === 'compensate';
    const { answers, dialect } = isOwn ? broughtNothing : interrupted;
    const does =
      isOwn && !goesForward
        ? ({ kind: 'end', error: new SagaCancelled(request.reason) } as const)
        : ({ kind: 'answer', answers } as const);
    const turnRequest: TurnRequest = {
      program: standIn(opened, !isOwn, undoes),
      saga,
      intent: { ...does, receivedAt: interrupted?.at },
      dialect,
      caller: isOwn ? caller : inPlaceOf(interrupted, caller),
      holder: { kind: isAbandoned ? 'nobody' : 'client' },
      before: interrupted && sameRequest(interrupted),
    };
    const { turn } = await runTurn(host, turnRequest, lease);
    return { turn, ran: true };
  } catch (error) {
    if (!goesForward || !(error instanceof TokenRefused)) throw error;
    // An earlier cancellation may have been interrupted. A partly undone saga must not continue.
    return await taken(host, { ...opened, isAbandoned: false, forward: false }, caller, request);
  }
}

const broughtNothing = { answers: new Map<string, never>(), dialect: {}, capabilities: undefined };

/** `true` if the saga has passed a pivot, and can only continue. */
export function isPastPivot({ saga, program }: OpenSaga): boolean {
  return (
    program !== undefined &&
    readTimeline(program, saga.state.program).some(({ kind }) => kind === 'pivot')
  );
}

/** Opened saga that is to end. */
export interface Cancelled extends OpenSaga {
  /** `true` if the token of the client has expired. */
  readonly isAbandoned: boolean;
  /** `true` if a saga past its pivot continues without its client. */
  readonly forward: boolean;
}

/** Opens the next token of a cancelled saga. Throws NotEnded if the saga must wait. */
async function nextOf(
  host: HostParts,
  { isAbandoned, forward }: Cancelled,
  turn: SuspendedTurn,
  until: number = Number.POSITIVE_INFINITY,
): Promise<Cancelled> {
  const { steps, due, retryAfterMs = 0 } = turn;
  const next = await openTurn(host, turn);
  const { claims } = next.saga;
  const goesOnAt = steps.length > 0 ? due : claims.iat + retryAfterMs;
  const abandoned = {
    ...next,
    // Stored as long as for a cancel token.
    saga: { ...next.saga, claims: { ...claims, exp: cancelExpiry(claims) } },
    isAbandoned,
    forward: forward && goesOnAt !== undefined,
  };
  const now = host.timing.clock();
  if (
    goesOnAt !== undefined &&
    abandoned.forward &&
    isPastPivot(next) &&
    (now < goesOnAt || now >= until)
  )
    throw new NotEnded(claims.saga.name, Math.max(0, goesOnAt - now));
  return abandoned;
}

async function open(
  host: HostParts,
  token: string,
  caller: Caller,
  { methods, isCancelToken = false }: CancelRequest,
): Promise<Cancelled> {
  if (methods !== undefined) return byClient(await openSaga(host, token, caller, { methods }));
  try {
    // A cancel token acts for the sealed principal, so that no caller is needed.
    const sealed = await host.keys.responses.open(token, { purpose: 'cancel' });
    const opened = found(host, toSealedSaga(sealed, token.length));
    return { ...opened, isAbandoned: true, forward: true };
  } catch (error) {
    // Cancel tokens have a separate key.
    const isOther = error instanceof TokenRefused && error.reason === 'undecryptable';
    if (!isOther || isCancelToken) throw error;
    return byClient(await openSaga(host, token, caller, {}));
  }
}

function byClient(opened: OpenSaga): Cancelled {
  return { ...opened, isAbandoned: false, forward: false };
}
