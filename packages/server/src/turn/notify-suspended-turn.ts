import type { Program } from '@mcp-saga/core';
import { sealCancelToken } from '../token/cancel-token.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { toSealedSaga } from '../token/sealed-saga.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { noteCancel } from './settle-turn.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';

/** Seals the token by which a queue cancels a saga that waits. A state that no client gets may be larger than others. (E8) */
export async function noteCancelOf(
  host: HostParts,
  { forks }: Partial<Pick<Program, 'forks'>>,
  saga: SealedSaga,
  turn: SuspendedTurn,
): Promise<void> {
  if (!host.observer.notifiesSuspended || host.guard === undefined || forks !== 'refuse') return;
  const { cancelToken, cancelAfter } = await sealCancelToken(host.keys.responses, saga);
  noteCancel(turn, { saga: turn.saga, sagaId: turn.sagaId, turn: turn.turn, cancelToken, cancelAfter });
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
