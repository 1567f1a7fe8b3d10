import type { Fields } from '../channel.ts';
import { endless, maxRounds, methods, type Drive } from './drive.ts';

interface Suspended {
  readonly state?: string;
  readonly sagaToken: unknown;
  readonly steps: readonly {
    readonly type: string;
    readonly stepId: string;
    readonly params: Fields;
  }[];
  readonly retryAfterMs?: number;
}

/** `tools/callSaga`, `tools/resumeSaga`. */
export const sagaMethods: Drive = async (driving, call) => {
  let result = await driving.send('tools/callSaga', { ...call });
  for (let round = 0; round < maxRounds; round += 1) {
    const { state, sagaToken, steps, retryAfterMs = 0 } = result as unknown as Suspended;
    if (state !== 'suspended') return result;
    const completedSteps: Fields[] = [];
    for (const { type, stepId, params } of steps) {
      completedSteps.push({
        stepId,
        result: await driving.answerer.answer({
          id: stepId,
          method: methods[type] ?? type,
          params,
        }),
      });
    }
    if (steps.length === 0) await driving.wait(retryAfterMs);
    const next = { sagaToken: driving.holds(sagaToken), completedSteps };
    result = await driving.send('tools/resumeSaga', next);
  }
  throw endless(call);
};
