import type { ClientCall } from '../model/client-call.ts';
import { dialectOf } from '../dialects/dialects.ts';
import { resumable } from '../dialects/resumable-requests.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { toWireError } from '../wire/wire-error.ts';
import type { Caller } from '../model/caller.ts';
import { limitedProgress } from './limited-progress.ts';
import { toCaller, type ClientSource, type RequestContextLike } from './sdk.ts';

/** Answers a request to a saga in the dialect of its client. Throws a WireError if `toErrorResult` has no result for an error. */
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

/** Answers a request for who sent it. What is told of its progress comes before the answer, and none after. (W5) */
export async function withCaller<T>(
  server: ClientSource,
  context: RequestContextLike,
  options: { readonly stepContext: unknown; readonly clock: () => number },
  answer: (caller: Caller) => Promise<T>,
): Promise<T> {
  const caller = toCaller(server, context, options.stepContext);
  if (caller.progress === undefined) return await answer(caller);
  const progress = limitedProgress(caller.progress, options.clock);
  try {
    return await answer({
      ...caller,
      progress: (told) => progress.tell(told),
      flushProgress: () => progress.flush(),
    });
  } finally {
    progress.end();
  }
}
