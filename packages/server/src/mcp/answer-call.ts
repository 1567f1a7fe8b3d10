import type { ClientCall } from '../model/client-call.ts';
import { dialectOf } from '../dialects/dialects.ts';
import { resumable } from '../dialects/resumable-requests.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { toWireError } from '../wire/wire-error.ts';

/**
 * Answers a request to a saga in the dialect of its client.
 *
 * @param toErrorResult - the result that stands for an error, where the method has such a thing
 * @throws WireError
 */
export async function answerCall(
  host: SagaHostCore,
  call: ClientCall,
  toErrorResult: (error: unknown, call: ClientCall) => object | undefined = () => undefined,
): Promise<object> {
  const dialect = dialectOf(call, host);
  try {
    const told = await resumable(host, call, dialect);
    return await dialect.answer(told, { ...call, isResumable: told !== host });
  } catch (error) {
    const result = toErrorResult(error, call);
    if (result !== undefined) return result;
    throw toWireError(error, dialect.refused, host.observer.hooks.onError);
  }
}
