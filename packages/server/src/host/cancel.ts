import { SagaCancelled } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import type { Caller } from './caller.ts';
import { SagaHostError } from './errors.ts';
import { digestOf, guarded } from './guarded.ts';
import type { CancelRequest } from './host.ts';
import type { HostSettings } from './host-options.ts';
import { found, openSaga, standIn, type OpenSaga } from './open-saga.ts';
import { runTurn } from './run-turn.ts';
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
    const opened = await open(settings, token, caller, request);
    const { saga, program, current } = opened;
    const { guard } = settings;
    // What a version that is gone had declared, nobody knows: it is guarded where it can be.
    const forks = program === undefined && guard !== undefined ? 'refuse' : (program ?? current).forks;
    if (forks === undefined || (forks === 'refuse' && guard === undefined)) {
      throw new SagaHostError(
        'cancel_not_offered',
        `'${saga.claims.saga.name}' cannot be cancelled: it does not say what becomes of older tokens.`,
      );
    }
    const end = { error: new SagaCancelled(request.reason) };
    const run = (): Promise<SagaTurn> =>
      runTurn(settings, {
        program: standIn(opened),
        saga,
        answers: new Map(),
        caller,
        tokenBytes: token.length,
        traits: {},
        end,
      });
    if (guard === undefined || forks === 'accept') return await settleTurn(settings, await run());
    const digest = await digestOf('cancel', new Map());
    const signal = caller.signal ?? new AbortController().signal;
    return await guarded(settings, guard, saga, { action: 'cancel', digest, signal }, run);
  } catch (error) {
    if (error instanceof TokenRefused) settings.reject(error.reason);
    throw error;
  }
}

async function open(
  settings: HostSettings,
  token: string,
  caller: Caller,
  { methods }: CancelRequest,
): Promise<OpenSaga> {
  if (methods !== undefined) return await openSaga(settings, token, caller, { methods });
  try {
    return await openSaga(settings, token, caller, {});
  } catch (error) {
    // A cancel token has a key of its own: it opens as nothing else, and nothing else as it. (T3)
    if (!(error instanceof TokenRefused) || error.reason !== 'undecryptable') throw error;
    return found(settings, await settings.sealer.open(token, { purpose: 'cancel' }));
  }
}
