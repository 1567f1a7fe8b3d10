import type { SuspendedSagaFacts } from '../model/hooks.ts';
import type { Observer } from '../settings/host-parts.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';

const cancellable = new WeakMap<SuspendedTurn, SuspendedSagaFacts>();

/** Notes by which token a suspended turn can be cancelled: told when the turn counts, and not before. */
export function noteCancel(turn: SuspendedTurn, facts: SuspendedSagaFacts): void {
  cancellable.set(turn, facts);
}

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
