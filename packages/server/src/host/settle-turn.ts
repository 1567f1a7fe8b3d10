import type { HostSettings } from './host-options.ts';
import type { SagaTurn } from './turn.ts';

/** Tells a queue of the operator's that a saga has ended, if it has. (E8) */
export async function settleTurn(settings: HostSettings, turn: SagaTurn): Promise<SagaTurn> {
  const { status, saga, sagaId } = turn;
  if (status !== 'suspended') await settings.hooks.onSettled({ saga, sagaId });
  return turn;
}
