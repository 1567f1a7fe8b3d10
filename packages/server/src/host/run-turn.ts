import type { ClientAnswer, Outcome, Program } from '@mcp-saga/core';
import { TokenTooLarge } from '@mcp-saga/seal';
import type { Caller } from './caller.ts';
import { SagaHostError } from './errors.ts';
import { expiryOf } from './expiry.ts';
import type { HostSettings } from './host-options.ts';
import { newTokenId } from './token-id.ts';
import { checkedResult } from './result.ts';
import { sealSaga, type SealedSaga } from './sealed-saga.ts';
import type { SagaTurn } from './turn.ts';
import { turnRuntime } from './turn-runtime.ts';

/** Runs one turn of an opened saga, and seals what is left of it: open -> advance -> seal. */
export async function runTurn(
  settings: HostSettings,
  program: Program,
  saga: SealedSaga,
  answers: ReadonlyMap<string, ClientAnswer>,
  caller: Caller,
  tokenBytes: number,
): Promise<SagaTurn> {
  const began = settings.clock();
  const runtime = turnRuntime(settings, program, saga, caller, tokenBytes);
  const outcome = await program.advance(saga.state.program, answers, runtime);
  for (const ignored of outcome.ignored) {
    settings.hooks.onIgnoredAnswer({ ...ignored, saga: program.name, sagaId: saga.sagaId });
  }
  return reported(settings, await concluded(settings, program, saga, outcome), began);
}

/** Tells the hooks of a turn that ended. */
export function reported(settings: HostSettings, turn: SagaTurn, began: number): SagaTurn {
  const { saga, sagaId, status } = turn;
  settings.hooks.onTurn({
    saga,
    sagaId,
    turn: turn.turn,
    status,
    ...(status === 'failed' ? { error: turn.error } : {}),
    tokenBytes: status === 'suspended' ? turn.token.length : 0,
    duration: settings.clock() - began,
  });
  return turn;
}

async function concluded(
  settings: HostSettings,
  program: Program,
  saga: SealedSaga,
  outcome: Outcome,
): Promise<SagaTurn> {
  const facts = { saga: program.name, sagaId: saga.sagaId, turn: saga.claims.turn + 1 };
  try {
    switch (outcome.status) {
      case 'suspended':
        return await suspended(settings, program, saga, outcome);
      case 'completed':
        return { status: 'completed', result: await checkedResult(program, outcome.result), ...facts };
      case 'failed':
        return { status: 'failed', error: outcome.error, compensated: [], residue: [], ...facts };
    }
  } catch (error) {
    return { status: 'failed', error, compensated: [], residue: [], ...facts };
  }
}

async function suspended(
  settings: HostSettings,
  program: Program,
  saga: SealedSaga,
  outcome: Extract<Outcome, { status: 'suspended' }>,
): Promise<SagaTurn> {
  const { sagaId, claims, state } = saga;
  const turn = claims.turn + 1;
  const iat = settings.clock();
  const expiresAt = expiryOf(settings, claims, iat, outcome);
  const next: SealedSaga = {
    sagaId,
    claims: { ...claims, turn, jti: newTokenId(), iat, exp: expiresAt },
    state: { ...state, program: outcome.state },
  };
  const token = await sealed(settings, program, next);
  if (token.length > settings.limits.maxTokenBytes / 4) {
    settings.warn(
      `The token of saga '${program.name}' has ${token.length} bytes of at most ${settings.limits.maxTokenBytes}. ` +
        `Largest: ${largest(program, next)}.`,
    );
  }
  return {
    status: 'suspended',
    token,
    steps: outcome.steps,
    expiresAt,
    ...(outcome.retryAfterMs === undefined ? {} : { retryAfterMs: outcome.retryAfterMs }),
    saga: program.name,
    sagaId,
    turn,
  };
}

// A token over its limit is refused here, before the user is asked anything. (T11)
async function sealed(settings: HostSettings, program: Program, saga: SealedSaga): Promise<string> {
  try {
    return await sealSaga(settings.sealer, saga);
  } catch (error) {
    if (!(error instanceof TokenTooLarge)) throw error;
    throw new SagaHostError(
      'token_too_large',
      `The state of saga '${program.name}' no longer fits a token (${error.bytes} bytes, limit ${error.limit}). ` +
        `Return references instead of values from steps. Largest: ${largest(program, saga)}.`,
      { cause: error, public: false },
    );
  }
}

function largest(program: Program, saga: SealedSaga): string {
  return program
    .timeline(saga.state.program)
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, 3)
    .map(({ kind, path, bytes }) => (path === '' ? `${kind} (${bytes})` : `${kind} '${path}' (${bytes})`))
    .join(', ');
}
