import { SagaCancelled } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import { cancelExpiry } from '../token/sealed-saga.ts';
import type { Caller } from '../model/caller.ts';
import { NotEnded, SagaHostError } from '../wire/errors.ts';
import { digestOf } from '../guard/ask-guard.ts';
import { Lease } from '../turn/lease.ts';
import type { CancelRequest } from '../model/host-requests.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { found, standIn, type OpenSaga, readTimeline } from '../token/resolve-program.ts';
import { openSaga } from './open-saga.ts';
import { runTurn } from '../turn/run-turn.ts';
import { inPlaceOf } from '../token/guard-records.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';

/** Ends a saga and undoes what it did; or, left by its client past a pivot, goes forward with it. (E5 to E8) */
export async function cancel(
  host: HostParts,
  token: string,
  caller: Caller,
  request: CancelRequest,
): Promise<SagaTurn> {
  try {
    let opened = await open(host, token, caller, request);
    let until: number | undefined;
    let idle = 0;
    for (;;) {
      const began = host.timing.clock();
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      const { turn, ran } = await taken(host, opened, caller, request);
      // It is suspended where it was not ended yet: what was begun and never finished has come to the end of its turn, so
      // that it is known what it did; or what lies past a pivot has gone on.
      if (turn.status !== 'suspended') return turn;
      // Turns that were kept are only looked up: however many they are, what follows them gets its time.
      if (ran) until ??= began + host.limits.turnBudgetMs;
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      const next = await nextOf(host, opened, turn, until);
      idle = ran && isSameJournal(opened, next) ? idle + 1 : 0;
      // An interrupted turn that runs first may record nothing.
      if (idle > 1) throw noProgress(opened.saga.claims.saga.name);
      opened = next;
    }
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/** `true` if a turn added no journal entries. */
function isSameJournal(before: OpenSaga, after: OpenSaga): boolean {
  const { structure, client, server } = before.saga.state.program;
  const { program } = after.saga.state;
  return program.structure === structure && program.client === client && program.server === server;
}

function noProgress(saga: string): SagaHostError {
  return new SagaHostError(
    'no_progress',
    `'${saga}' cannot be cancelled: two turns recorded nothing, so another turn would not end it.`,
  );
}

/** What became of the newest turn, and whether it was run here: else its response was kept. */
interface Taken {
  readonly turn: SagaTurn;
  readonly ran: boolean;
}

async function taken(
  host: HostParts,
  opened: Cancelled,
  caller: Caller,
  request: CancelRequest,
): Promise<Taken> {
  const { saga, program, current, tokenBytes, isLeft, forward } = opened;
  const { guard } = host;
  // What a version that is gone had declared, nobody knows: it is guarded where it can be.
  const forks = program === undefined && guard !== undefined ? 'refuse' : (program ?? current).forks;
  if (forks === undefined || (forks === 'refuse' && guard === undefined)) {
    throw new SagaHostError(
      'cancel_not_offered',
      `'${saga.claims.saga.name}' cannot be cancelled: it does not say what becomes of older tokens.`,
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
          // To go forward is another thing than to undo: where one of them was begun, the other one must not take its place.
          digest: await digestOf(goesForward ? 'forward' : 'cancel', new Map()),
          ends: isLeft,
          brought: { ...broughtNothing, at: timing.clock(), cancels: true },
          round: 0,
          signal: caller.signal ?? new AbortController().signal,
        }
      : undefined,
  );
  try {
    const claimed = await lease.claim();
    if ('turn' in claimed) return { turn: claimed.turn, ran: false };
    const { lost } = claimed;
    const isInterrupted = lost !== undefined;
    // What was begun by a request that does not cancel is brought to the end of its turn first.
    const isOwn = lost === undefined || lost.cancels === true;
    // Another process may know how to undo more: only the queue, whose client is gone, takes what this one can undo.
    const undoes = isLeft || current.onMismatch === 'compensate';
    const { answers, traits } = isOwn ? broughtNothing : lost;
    const turnRequest = {
      program: standIn(opened, !isOwn, undoes),
      saga,
      tokenBytes,
      isLeft,
      answers,
      traits,
      caller: isOwn ? caller : inPlaceOf(lost, caller),
      receivedAt: lost?.at,
      isInterrupted,
      ...(isOwn && !goesForward
        ? { end: { error: new SagaCancelled(request.reason) } }
        : // What follows a commit is cancelled, or taken by itself.
          { isGuarded: true, commits: isGuarded ? ('hand over' as const) : undefined }),
    };
    const { turn } = await runTurn(host, turnRequest, lease);
    return { turn, ran: true };
  } catch (error) {
    if (!goesForward || !(error instanceof TokenRefused)) throw error;
    // Somebody may have begun to cancel it, and died: from what was undone by then, nothing goes forward.
    return await taken(host, { ...opened, isLeft: false, forward: false }, caller, request);
  }
}

const broughtNothing = { answers: new Map<string, never>(), traits: {}, capabilities: undefined };

/** Whether nothing that a saga did can be undone any more, so that it is left to go forward. (E5) */
function isPastPivot({ saga, program }: OpenSaga): boolean {
  return (
    program !== undefined && readTimeline(program, saga.state.program).some(({ kind }) => kind === 'pivot')
  );
}

interface Cancelled extends OpenSaga {
  readonly tokenBytes: number;
  /** Whether its client does not come back: its own token has expired. */
  readonly isLeft: boolean;
  /** Whether it goes on where it is past a pivot, and can go on without its client. */
  readonly forward: boolean;
}

/** Brings a saga one turn nearer its end, or cancels it if only its client could. Throws NotEnded if it must wait. */
async function nextOf(
  host: HostParts,
  { isLeft, forward }: Cancelled,
  { token, sagaId, steps, due, retryAfterMs = 0 }: SuspendedTurn,
  until: number = Number.POSITIVE_INFINITY,
): Promise<Cancelled> {
  const expect = { purpose: 'token', sid: sagaId, ignoreExpiry: true, allowFuture: true } as const;
  const next = found(host, await host.keys.responses.open(token, expect));
  const { claims } = next.saga;
  const goesOnAt = steps.length > 0 ? due : claims.iat + retryAfterMs;
  const left = {
    ...next,
    // As by its own cancel token: what becomes of it is kept for as long.
    saga: { ...next.saga, claims: { ...claims, exp: cancelExpiry(claims) } },
    tokenBytes: token.length,
    isLeft,
    forward: forward && goesOnAt !== undefined,
  };
  const now = host.timing.clock();
  if (goesOnAt !== undefined && left.forward && isPastPivot(next) && (now < goesOnAt || now >= until))
    throw new NotEnded(claims.saga.name, Math.max(0, goesOnAt - now));
  return left;
}

async function open(
  host: HostParts,
  token: string,
  caller: Caller,
  { methods }: CancelRequest,
): Promise<Cancelled> {
  const by = (opened: OpenSaga, isLeft: boolean): Cancelled => ({
    ...opened,
    tokenBytes: token.length,
    isLeft,
    forward: isLeft,
  });
  if (methods !== undefined) return by(await openSaga(host, token, caller, { methods }), false);
  try {
    return by(await openSaga(host, token, caller, {}), false);
  } catch (error) {
    // A cancel token has a key of its own: it opens as nothing else, and nothing else as it. (T3)
    if (!(error instanceof TokenRefused) || !['undecryptable', 'too_large'].includes(error.reason))
      throw error;
    return by(found(host, await host.keys.responses.open(token, { purpose: 'cancel' })), true);
  }
}
