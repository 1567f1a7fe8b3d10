import {
  publicMessageOf,
  type ClientStep,
  type SagaHost,
  type SagaTurn,
  type StepAnswer,
} from '@mcp-saga/server';
import type { DurableContext } from '../asked-refund/local-lambda.ts';

const caller = {
  principal: { subject: 'ada', client: 'shop' },
  capabilities: { elicitation: { form: {} } },
};

// #region plain
/** An error is not JSON, and its message may be meant for nobody. */
export const plain = (turn: SagaTurn): SagaTurn =>
  turn.status === 'failed' ? { ...turn, error: publicMessageOf(turn.saga, turn.error) } : turn;
// #endregion plain

// #region driver
type Ask = (question: ClientStep, callbackId: string) => Promise<void>;

export const driverOf =
  (host: SagaHost, name: string, ask: Ask) =>
  async (args: object, ctx: DurableContext): Promise<SagaTurn> => {
    const request = { caller, idempotencyKey: ctx.executionContext.durableExecutionArn };
    let turn = await ctx.step('turn 1', async () => plain(await host.start(name, args, request)));
    for (let n = 2; turn.status === 'suspended'; n += 1) {
      const { token, steps, retryAfterMs = 1_000 } = turn;
      const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
      if (steps.length === 0) await ctx.wait(`wait ${n}`, { seconds });
      const answers: StepAnswer[] = [];
      for (const question of steps) {
        const id = `${n} ${question.stepId}`;
        const answer = await ctx.waitForCallback(id, (callback) => ask(question, callback));
        answers.push({ stepId: question.stepId, result: JSON.parse(answer) });
      }
      turn = await ctx.step(`turn ${n}`, async () =>
        plain(await host.resume(token, answers, { caller })),
      );
    }
    return turn;
  };
// #endregion driver
