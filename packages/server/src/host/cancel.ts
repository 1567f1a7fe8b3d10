import { SagaCancelled } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import type { Caller } from './caller.ts';
import { SagaHostError } from './errors.ts';
import { digestOf, guarded } from './guarded.ts';
import type { CancelRequest } from './host.ts';
import type { HostSettings } from './host-options.ts';
import { found, openSaga, standIn, type OpenSaga } from './open-saga.ts';
import { runTurn } from './run-turn.ts';
import { inPlaceOf, openRequest } from './sealed-request.ts';
import { settleTurn } from './settle-turn.ts';
import type { SagaTurn } from './turn.ts';

/** Ends a saga and undoes what it did. (E6 to E8) */
export async function cancel(
  settings: HostSettings,
  token: string,
  caller: Caller,
  request: CancelRequest,
): Promise<SagaTurn> {
  try {
    return await cancelled(settings, await open(settings, token, caller, request), caller, request);
  } catch (error) {
    if (error instanceof TokenRefused) settings.reject(error.reason);
    throw error;
  }
}

async function cancelled(
  settings: HostSettings,
  opened: Cancelled,
  caller: Caller,
  request: CancelRequest,
): Promise<SagaTurn> {
  const { saga, program, current, tokenBytes, isLeft, forward } = opened;
  const { guard } = settings;
  // What a version that is gone had declared, nobody knows: it is guarded where it can be.
  const forks = program === undefined && guard !== undefined ? 'refuse' : (program ?? current).forks;
  if (forks === undefined || (forks === 'refuse' && guard === undefined)) {
    throw new SagaHostError(
      'cancel_not_offered',
      `'${saga.claims.saga.name}' cannot be cancelled: it does not say what becomes of older tokens.`,
    );
  }
  const turn = { program: standIn(opened), saga, tokenBytes };
  const goesForward = forward > 0 && isPastPivot(opened);
  const run = async (begun?: string): Promise<SagaTurn> => {
    if (begun === undefined) {
      const nothing = { ...turn, answers: new Map(), caller };
      if (goesForward)
        return await runTurn(settings, { ...nothing, traits: { maxHold: 0 }, isGuarded: true });
      const end = { error: new SagaCancelled(request.reason) };
      return await runTurn(settings, { ...nothing, traits: {}, end });
    }
    const lost = await openRequest(settings.responses, saga, begun);
    const { answers, traits, at: heardAt } = lost;
    const served = inPlaceOf(lost, caller);
    return await runTurn(settings, { ...turn, answers, heardAt, caller: served, traits, isGuarded: true });
  };
  if (guard === undefined || forks === 'accept') return await settleTurn(settings, await run());
  // To go forward is another thing than to undo: where one of them was begun, the other one must not take its place.
  const digest = await digestOf(goesForward ? 'forward' : 'cancel', new Map());
  const signal = caller.signal ?? new AbortController().signal;
  const claim = { action: 'cancel', digest, ends: isLeft, signal } as const;
  let ended: SagaTurn;
  try {
    ended = await guarded(settings, guard, saga, claim, run);
  } catch (error) {
    if (!goesForward || !(error instanceof TokenRefused)) throw error;
    // Somebody may have begun to cancel it, and died: from what was undone by then, nothing goes forward.
    return await cancelled(settings, { ...opened, isLeft: false, forward: 0 }, caller, request);
  }
  // It is suspended where it was not ended yet: what was begun and never finished has come to the end of its turn, so that
  // it is known what it did; or what lies past a pivot has gone on.
  if (ended.status !== 'suspended') return ended;
  const isIdle = ended.steps.length > 0 || (ended.retryAfterMs ?? 0) > 0;
  const expect = { purpose: 'token', sid: saga.sagaId, ignoreExpiry: true } as const;
  const next = found(settings, await settings.sealer.open(ended.token, expect));
  const left = { tokenBytes: ended.token.length, isLeft, forward: isIdle ? 0 : forward - 1 };
  return await cancelled(settings, { ...next, ...left }, caller, request);
}

/** How many turns a saga goes on past its pivot when its client does not come back. */
const mostForward = 100;

/** Whether nothing that a saga did can be undone any more, so that it is left to go forward. (E5) */
function isPastPivot({ saga, program }: OpenSaga): boolean {
  return program?.timeline?.(saga.state.program).some(({ kind }) => kind === 'pivot') === true;
}

/** A saga that is to be cancelled. */
interface Cancelled extends OpenSaga {
  readonly tokenBytes: number;
  /** Whether its client does not come back: its own token has expired. */
  readonly isLeft: boolean;
  /** How many turns it may still go on, past a pivot. */
  readonly forward: number;
}

async function open(
  settings: HostSettings,
  token: string,
  caller: Caller,
  { methods }: CancelRequest,
): Promise<Cancelled> {
  const by = (opened: OpenSaga, isLeft: boolean): Cancelled => ({
    ...opened,
    tokenBytes: token.length,
    isLeft,
    forward: isLeft ? mostForward : 0,
  });
  if (methods !== undefined) return by(await openSaga(settings, token, caller, { methods }), false);
  try {
    return by(await openSaga(settings, token, caller, {}), false);
  } catch (error) {
    // A cancel token has a key of its own: it opens as nothing else, and nothing else as it. (T3)
    if (!(error instanceof TokenRefused) || error.reason !== 'undecryptable') throw error;
    return by(found(settings, await settings.sealer.open(token, { purpose: 'cancel' })), true);
  }
}
