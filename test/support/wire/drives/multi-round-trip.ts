import type { Fields } from '../channel.ts';
import { endless, maxRounds, type Drive, type Driving, type ToolCall } from './drive.ts';

/** Input requests of a result. */
export interface InputRequests {
  readonly [key: string]: { readonly method: string; readonly params: Fields };
}

/** `tools/call`, again with `requestState` and the answers. */
export const multiRoundTrip: Drive = (driving, call) =>
  inRounds(driving, call, (params) => driving.send('tools/call', params));

/** Sends a call, and repeats it until the result is complete. */
export async function inRounds(
  driving: Driving,
  call: ToolCall,
  send: (params: Fields) => Promise<Fields>,
): Promise<Fields> {
  let result = await send({ ...call });
  for (let round = 0; round < maxRounds; round += 1) {
    if (result['resultType'] !== 'input_required') return result;
    const { inputRequests = {}, requestState } = result as {
      inputRequests?: InputRequests;
      requestState?: unknown;
    };
    const inputResponses = await responsesTo(driving, inputRequests);
    const held = driving.holds(requestState);
    if (Object.keys(inputRequests).length === 0) await driving.wait(retryAfter(result));
    result = await send({ ...call, requestState: held, inputResponses });
  }
  throw endless(call);
}

/** Answers the requests, by key. */
export async function responsesTo({ answerer }: Driving, requests: InputRequests): Promise<Fields> {
  const responses: Record<string, Fields> = {};
  for (const [id, { method, params }] of Object.entries(requests)) {
    responses[id] = await answerer.answer({ id, method, params });
  }
  return responses;
}

/** Delay before the next round, in milliseconds. */
export function retryAfter({ _meta: meta }: Fields): number {
  const hints = Object(Object(meta)['io.github.mcp-saga/saga']) as {
    readonly retryAfterMs?: number;
  };
  return hints.retryAfterMs ?? 0;
}
