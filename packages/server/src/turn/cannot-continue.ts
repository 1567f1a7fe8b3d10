import { ReplayMismatch, type Program } from '@mcp-saga/core';
import { SagaHostError } from '../wire/errors.ts';
import type { Observer } from '../settings/host-parts.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { FailedTurn, SagaTurn } from '../model/turn.ts';

/**
 * `true` if this process cannot continue a saga now, and the saga is not over: the version is not served here, or the code
 * does not fit the journal. Nothing ran, nothing was undone, and the token stays good.
 */
export function cannotContinue(error: unknown): error is ReplayMismatch | SagaHostError {
  return error instanceof ReplayMismatch || (error instanceof SagaHostError && error.code === 'version_gone');
}

/** `true` if a turn failed only because the code does not fit the journal, and nothing was undone. */
export function isLeftAsItIs(
  turn: SagaTurn,
  { onMismatch }: Pick<Partial<Program>, 'onMismatch'>,
): turn is FailedTurn & { readonly error: ReplayMismatch } {
  return (
    onMismatch === 'fail' &&
    turn.status === 'failed' &&
    turn.error instanceof ReplayMismatch &&
    !turn.error.isFinal &&
    turn.compensated.length + turn.residue.length === 0
  );
}

/** Reports to the operator why this process cannot continue a saga. */
export function reportCannotContinue(
  { hooks }: Pick<Observer, 'hooks'>,
  { claims }: SealedSaga,
  error: ReplayMismatch | SagaHostError,
): void {
  const { name, version } = claims.saga;
  if (error instanceof SagaHostError) return hooks.onError(error);
  hooks.onError(
    new SagaHostError(
      'replay_mismatch',
      `'${name}' (version '${version}') cannot continue after turn ${claims.turn}: its code does not do what its journal ` +
        'records. The token stays good: roll the change back, or release it as a version of its own.',
      { cause: error, public: false },
    ),
  );
}
