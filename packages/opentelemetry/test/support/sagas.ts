import {
  all,
  createSagaHost,
  elicit,
  generateKey,
  poll,
  saga,
  sample,
  step,
  type SagaHost,
  type SagaHostOptions,
  type StepAnswer,
  type SuspendedTurn,
  type SagaTurn,
} from '@mcp-saga/server';
import { z } from 'zod';
import type { Tracing } from './tracing.ts';

export const keys: string = generateKey();

export function hostOf(
  sagas: SagaHostOptions['sagas'],
  options: Partial<SagaHostOptions> = {},
): SagaHost {
  return createSagaHost({
    keys,
    name: 'shop',
    testing: { environment: 'production' },
    hooks: quiet,
    ...options,
    sagas,
  });
}

const quiet = { onReject: () => undefined, onTurn: () => undefined };

export function suspended(turn: SagaTurn): SuspendedTurn {
  if (turn.status !== 'suspended') throw new Error(`Not suspended, but ${turn.status}`);
  return turn;
}

export const accept = (stepId: string, content: object = {}): StepAnswer => ({
  stepId,
  result: { action: 'accept', content: content as { [name: string]: string } },
});

export const say = (stepId: string, text: string): StepAnswer => ({
  stepId,
  result: { role: 'assistant', model: 'any', content: { type: 'text', text } },
});

const Sure = z.object({ sure: z.string() });

/**
 * Runs effects of each kind. Calls in steps create their own spans, like instrumentation of HTTP.
 */
export function order({ provider }: Tracing) {
  const called = async (name: string): Promise<string> => {
    await Promise.resolve();
    const tracer = provider.getTracer('instrumentation');
    tracer.startSpan(name).end();
    return name;
  };
  let polls = 0;
  return saga({ name: 'order', version: '3', reuse: 'ok' }, function* () {
    yield* all({
      pay: step('charge', () => called('POST /charges'), {
        compensate: () => called('POST /refunds'),
      }),
      look: step(
        'stock',
        async ({ attempt }) => {
          await called('GET /stock');
          if (attempt === 1) throw Object.assign(new Error('secret'), { code: 'ECONNRESET' });
        },
        { retry: { attempts: 2, delay: 1 } },
      ),
    });
    const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
    yield* poll(
      'parcel',
      async () => {
        await called('GET /parcel');
        return polls++ % 2 === 0 ? undefined : 'sent';
      },
      { every: 1, timeout: 10_000 },
    );
    yield* sample('thanks', {
      messages: [
        { role: 'user', content: { type: 'text', text: `Thank them for saying ${sure}` } },
      ],
      maxTokens: 10,
    });
    if (sure === 'no') throw new Error('secret');
    return 'On its way';
  });
}
