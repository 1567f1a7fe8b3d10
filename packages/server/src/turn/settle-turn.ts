import type { SuspendedSagaFacts } from '../model/hooks.ts';
import type { Observer, HostParts } from '../settings/host-parts.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { Program } from '@mcp-saga/core';
import { sealCancelToken, toSealedSaga } from '../token/sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';

// By the turn: its queue is notified when the turn counts, and not before.
const cancellable = new WeakMap<SuspendedTurn, SuspendedSagaFacts>();

/**
 * Tells a queue of the operator's what has become of a saga, now that the turn counts: under a guard, that is when its
 * response was kept. (E8)
 */
export async function settleTurn({ hooks }: Observer, turn: SagaTurn): Promise<SagaTurn> {
  if (turn.status === 'suspended') {
    const facts = cancellable.get(turn);
    if (facts !== undefined) await hooks.onSuspended(facts);
  } else {
    const { saga, sagaId } = turn;
    await hooks.onSettled({
      saga,
      sagaId,
      residue: turn.status === 'failed' ? turn.residue : [],
    });
  }
  return turn;
}

/** Seals the token by which a queue cancels a saga that waits. A state that no client gets may be larger than others. (E8) */
export async function noteCancelOf(
  host: HostParts,
  { forks }: Partial<Pick<Program, 'forks'>>,
  saga: SealedSaga,
  turn: SuspendedTurn,
): Promise<void> {
  if (!host.observer.notifiesSuspended || host.guard === undefined || forks !== 'refuse') return;
  const { cancelToken, cancelAfter } = await sealCancelToken(host.keys.responses, saga);
  const { saga: name, sagaId } = turn;
  cancellable.set(turn, { saga: name, sagaId, turn: turn.turn, cancelToken, cancelAfter });
}

/** The same for a turn that a guard has kept: what cancels it is made again, of its own token. */
export async function noteCancelAgain(host: HostParts, turn: SagaTurn): Promise<void> {
  if (turn.status !== 'suspended' || !host.observer.notifiesSuspended) return;
  const saga = toSealedSaga(
    await host.keys.responses.open(turn.token, {
      purpose: 'token',
      sid: turn.sagaId,
      ignoreExpiry: true,
      allowFuture: true,
    }),
  );
  const { name, version } = saga.claims.saga;
  const program = host.registry.version(name, version, host.timing.clock());
  await noteCancelOf(host, program ?? { forks: 'refuse' }, saga, turn);
}
