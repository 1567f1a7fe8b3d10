import { TokenRefused } from '@mcp-saga/seal';
import type { Caller } from '../model/caller.ts';
import type { CancelRequest } from '../model/request-types.ts';
import type { SagaTurn } from '../model/turn.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { found, type OpenSaga } from '../token/resolve-program.ts';
import { toSealedSaga } from '../token/sealed-saga.ts';
import { drive } from './drive.ts';
import { openSaga } from './open-for-caller.ts';
import { requestWithoutAnswers, type EndIntent, type RequestedTurn } from './requested-turn.ts';

/** Ends a saga and undoes its steps. An abandoned saga past its pivot continues instead. */
export async function cancel(
  host: HostParts,
  token: string,
  caller: Caller,
  request: CancelRequest,
): Promise<SagaTurn> {
  try {
    const { reason } = request;
    const { by, opened } = await open(host, token, caller, request);
    const { turn } = await drive(host, requestToEnd(host, opened, by, reason), caller);
    return turn;
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}

/** Returns the request that ends an opened saga: for its client, or for a queue. */
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

/** Opens a token of a client, or a cancel token. */
async function open(
  host: HostParts,
  token: string,
  caller: Caller,
  { methods, isCancelToken = false }: CancelRequest,
): Promise<{ readonly opened: OpenSaga } & Pick<EndIntent, 'by'>> {
  if (methods !== undefined)
    return { opened: await openSaga(host, token, caller, { methods }), by: 'client' };
  try {
    // A cancel token acts for the sealed principal, so that no caller is needed.
    const sealed = await host.keys.responses.open(token, { purpose: 'cancel' });
    return { opened: found(host, toSealedSaga(sealed, token.length)), by: 'queue' };
  } catch (error) {
    // Cancel tokens have a separate key.
    const isOther = error instanceof TokenRefused && error.reason === 'undecryptable';
    if (!isOther || isCancelToken) throw error;
    return { opened: await openSaga(host, token, caller, {}), by: 'client' };
  }
}
