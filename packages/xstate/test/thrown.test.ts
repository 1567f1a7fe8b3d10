import { createSagaHost, memoryStore, StepError, type TurnFacts } from '@mcp-saga/server';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

function chargeCard(): never {
  throw new RangeError('no card');
}

/** How a machine ends that holds, and then charges a card that there is not. */
async function ended(reuse: 'ok' | undefined, unhold: () => unknown): Promise<TurnFacts> {
  const machine = setup({
    types: { output: {} as string },
    actors: {
      ask: elicit({ message: 'Sure?', schema: z.object({}) }),
      hold: step(() => 1, { compensate: unhold, undo: { retry: 1 } }),
      charge: step(chargeCard),
    },
  }).createMachine({
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'sure', src: 'ask', onDone: 'holding' } },
      holding: { invoke: { id: 'hold', src: 'hold', onDone: 'charging' } },
      charging: { invoke: { id: 'charge', src: 'charge', onDone: 'done' } },
      done: { type: 'final' },
    },
    output: 'done',
  });
  const turns: TurnFacts[] = [];
  const host = createSagaHost({
    sagas: [machineSaga({ name: 'order', version: '1', reuse }, machine)],
    keys: 'ephemeral',
    name: 'shop',
    store: memoryStore({ clock: () => 1_000 }),
    testing: { clock: () => 1_000 },
    hooks: { onTurn: (turn) => turns.push(turn), onWarning: () => undefined },
  });
  const turn = await host.start('order', {});
  const answers = [{ stepId: 'sure', result: { action: 'accept', content: {} } }];
  await host.resume(turn.status === 'suspended' ? turn.token : '', answers);
  return turns.at(-1) as TurnFacts;
}

describe.each([undefined, 'ok'] as const)('a machine with reuse: %s', (reuse) => {
  it('a machine fails with the error of its effect, caused by the thrown error', async () => {
    const { error, uncompensated } = await ended(reuse, () => undefined);
    expect(error).toBeInstanceOf(StepError);
    expect((error as StepError).cause).toBeInstanceOf(RangeError);
    expect(((error as StepError).cause as Error).stack).toContain('chargeCard');
    expect(uncompensated).toBeUndefined();
  });

  it('[E3] a failed undo reports its error', async () => {
    const { uncompensated } = await ended(reuse, chargeCard);
    expect(uncompensated).toMatchObject([{ stepId: 'hold' }]);
    expect(uncompensated?.[0]?.error).toBeInstanceOf(RangeError);
  });
});

it('[R2] a question ends with a StepError if its schema throws at the answer', async () => {
  const fails = z.object({ n: z.int().refine(() => chargeCard()) });
  const machine = setup({
    types: { output: {} as string, context: {} as { error: unknown } },
    actors: { ask: elicit({ message: 'How many?', schema: fails }) },
  }).createMachine({
    context: { error: undefined },
    initial: 'asking',
    states: {
      asking: {
        invoke: {
          id: 'ask',
          src: 'ask',
          onDone: 'done',
          onError: {
            target: 'done',
            actions: ({ context, event }) => void (context.error = event.error),
          },
        },
      },
      done: { type: 'final' },
    },
    output: ({ context }) => String((context.error as Error | undefined)?.message),
  });
  const errors: unknown[] = [];
  const host = createSagaHost({
    sagas: [machineSaga({ name: 'order', version: '1' }, machine)],
    keys: 'ephemeral',
    name: 'shop',
    hooks: {
      onError: (error) => void errors.push(error),
      onWarning: () => undefined,
      onTurn: () => undefined,
    },
  });
  const first = await host.start('order', {});
  const answers = [{ stepId: 'ask', result: { action: 'accept', content: { n: 1 } } }];
  const last = await host.resume(first.status === 'suspended' ? first.token : '', answers);
  expect(last).toMatchObject({ status: 'completed', result: 'no card' });
  expect(errors).toEqual([new RangeError('no card')]);
});
