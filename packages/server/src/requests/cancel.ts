import { present } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import type { Caller } from '../model/caller.ts';
import type { CancelRequest } from '../model/request-types.ts';
import type { SagaTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import type { OpenSaga } from '../token/resolve-program.ts';
import { drive } from './drive.ts';
import { openSaga } from './open-for-caller.ts';
import { requestWithoutAnswers, type EndIntent, type RequestedTurn } from './requested-turn.ts';

/** Ends a saga for its client, and undoes its steps. */
export async function cancel(
  host: HostParts,
  token: string,
  caller: Caller,
  { reason, methods }: CancelRequest,
): Promise<SagaTurn> {
  try {
    const opened = await openSaga(host, token, caller, present({ methods }));
    const { turn } = await drive(host, requestToEnd(host, opened, 'client', reason), caller);
    return turn;
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/**
 * Returns the request that ends an opened saga: for its client, or for a queue. An abandoned saga
 * past its pivot continues instead.
 */
export function requestToEnd(
  host: HostParts,
  opened: OpenSaga,
  by: EndIntent['by'],
  reason?: string,
): RequestedTurn {
  const isAbandoned = by === 'queue';
  return {
    ...requestWithoutAnswers(host, opened, {
      holder: { kind: isAbandoned ? 'nobody' : 'client' },
      dialect: {},
    }),
    intent: { kind: 'end', by, goesForward: isAbandoned, reason },
    isUnlimited: true,
  };
}
