import { getStatus, resumableMethods, resumeRefused, resumeRequest } from '../dialects/resumable-requests.ts';
import type { Caller } from '../model/caller.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { toClientCall } from './to-client-call.ts';
import { setMethodHandler, type McpServerLike, type RequestContextLike } from './sdk.ts';
import { toToolResult } from '../wire/tool-result.ts';
import { withCaller } from './answer-call.ts';
import { toWireError } from '../wire/wire-error.ts';

/** Registers `requests/resume` and `requests/getStatus`. */
export function attachResumableRequests(
  host: SagaHostCore,
  server: McpServerLike,
  stepContext: unknown,
): void {
  const { clock } = host.timing;
  const { hooks } = host.observer;
  const register = (
    method: string,
    handle: (params: unknown, caller: Caller, context: RequestContextLike) => Promise<object>,
  ): void =>
    setMethodHandler(server, method, async (params, context) => {
      try {
        return await withCaller(server, context, { stepContext, clock }, (caller) =>
          handle(params, caller, context),
        );
      } catch (error) {
        throw toWireError(error, resumeRefused, hooks.onError);
      }
    });
  register(resumableMethods.resume, (params, caller, context) =>
    resumeRequest(host, params, caller, (saga, method) =>
      toClientCall(server, saga, {
        request: { method },
        args: undefined,
        context,
        caller,
        toResult: toToolResult,
      }),
    ),
  );
  register(resumableMethods.status, (params, caller) => getStatus(host, params, caller));
}
