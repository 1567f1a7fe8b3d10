import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  type SagaHostOptions,
  type SagaStore,
} from '@mcp-saga/server';
import { z } from 'zod';
import { suspended } from '../fixtures/host.ts';
import { coreOf } from '../../src/saga-host.ts';

/** A client that sends little and makes a store keep as much as possible. */
export interface FloodingClient {
  /** Bytes that were sent so far: arguments, tokens, and answers. */
  readonly sent: () => number;
  /**
   * Answers the question of a saga so often; each time with an answer that leads to the next
   * question.
   */
  readonly answer: (times: number) => Promise<void>;
  /** Sends this number of invalid answers. */
  readonly answerWrongly: (times: number) => Promise<void>;
}

/**
 * Starts a saga with arguments of a mebibyte, which a token holds as a few kilobytes, and which
 * each question repeats.
 */
export async function floodingClient(
  store: SagaStore,
  options: Partial<SagaHostOptions> = {},
): Promise<FloodingClient> {
  const flooded = saga(
    { name: 'flooded', version: '1', input: z.object({ text: z.string() }) },
    function* ({ text }) {
      for (;;) {
        const { more } = yield* elicit('more', {
          message: `${text} More?`,
          schema: z.object({ more: z.boolean() }),
        });
        if (!more) return 'done';
      }
    },
  );
  const host = createSagaHost({
    sagas: [flooded],
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production' },
    hooks: { onTurn: () => undefined },
    ...options,
    limits: { maxTokenBytes: 1024 * 1024, ...options.limits },
    store,
  });
  const args = { text: 'x'.repeat(900_000) };
  let sent = JSON.stringify(args).length;
  let { token, steps } = suspended(
    await coreOf(host).start('flooded', args, {}, { method: 'tools/callSaga' }),
  );
  const answer = async (times: number, more: (time: number) => boolean | string): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const answers = steps.map(({ stepId }) => ({
        stepId,
        result: { action: 'accept', content: { more: more(time) } },
      }));
      sent += token.length + JSON.stringify(answers).length;
      ({ token, steps } = suspended(await host.resume(token, answers)));
    }
  };
  return {
    sent: () => sent,
    answer: (times) => answer(times, () => true),
    answerWrongly: (times) => answer(times, (time) => `no answer ${time}`),
  };
}
