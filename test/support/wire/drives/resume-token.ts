import type { Fields } from '../channel.ts';
import { endless, maxRounds, methods, type Drive } from './drive.ts';
import { retryAfter } from './multi-round-trip.ts';

/** `tools/call` of a client without elicitation and sampling. */
export const resumeToken: Drive = (driving, call) => driving.send('tools/call', { ...call });

/** Repeats a call with the same arguments plus `resumeToken` and `answers`, like a model. */
export const toTheEnd =
  (drive: Drive): Drive =>
  async (driving, call) => {
    let result = await drive(driving, call);
    for (let round = 0; round < maxRounds; round += 1) {
      const { nextResumeToken: token, _meta: meta } = result;
      if (token === undefined) return result;
      const { steps = [] } = Object(Object(meta)['io.github.mcp-saga/saga']) as {
        readonly steps?: readonly {
          readonly stepId: string;
          readonly type: string;
          readonly params: Fields;
        }[];
      };
      const answers: Record<string, Fields> = {};
      for (const { stepId: id, type, params } of steps) {
        answers[id] = await driving.answerer.answer({ id, method: methods[type] ?? type, params });
      }
      if (steps.length === 0) await driving.wait(retryAfter(result));
      const more = {
        resumeToken: driving.holds(token),
        ...(steps.length === 0 ? {} : { answers }),
      };
      result = await drive(driving, { ...call, arguments: { ...call.arguments, ...more } });
    }
    throw endless(call);
  };
