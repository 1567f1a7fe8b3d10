import { step, approval, machineSaga, waitFor } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import type { StepContext } from '@mcp-saga/server';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  SagaTestError,
  testSaga,
} from '../src/index.ts';

const hour = 3_600_000;
const sent: string[] = [];
beforeEach(() => void sent.splice(0));

const Paid = z.object({ status: z.literal('paid') });

const machine = setup({
  types: { context: {} as { by: string }, output: {} as string },
  actors: {
    reserve: step(({ idempotencyKey }: StepContext<undefined>) => idempotencyKey, {
      compensate: ({ stepKey }) => void stepKey,
    }),
    manager: approval({
      message: 'Refund 5 EUR?',
      schema: z.object({ comment: z.string().optional() }),
      of: 2,
      to: ['ann', 'bob', 'cy'],
      deliver: ({ to, isReminder }) =>
        void sent.push(`${isReminder ? 'reminds' : 'asks'} ${String(to)}`),
      remindEvery: 4 * hour,
      timeout: 24 * hour,
    }),
  },
}).createMachine({
  context: { by: '' },
  initial: 'reserving',
  states: {
    reserving: { invoke: { id: 'reserve', src: 'reserve', onDone: 'asking' } },
    asking: {
      invoke: {
        id: 'manager',
        src: 'manager',
        onDone: [
          {
            guard: ({ event }) => event.output.approved,
            target: 'over',
            actions: assign({
              by: ({ event }) =>
                event.output.answers.map(({ by }) => (by === 'link' ? by : by.subject)).join(),
            }),
          },
          { target: 'refused' },
        ],
        onError: 'refused',
      },
    },
    refused: { type: 'final', tags: 'compensate' },
    over: { type: 'final' },
  },
  output: ({ context }) => context.by,
});
const refund = machineSaga({ name: 'refund', version: '1' }, machine);

const paying = setup({
  types: { output: {} as string },
  actors: {
    payment: waitFor({
      schema: Paid,
      register: ({ url }) => void sent.push(url),
      link: 'accept',
      timeout: 24 * hour,
    }),
  },
}).createMachine({
  initial: 'waiting',
  states: {
    waiting: { invoke: { id: 'payment', src: 'payment', onDone: 'over' } },
    over: { type: 'final' },
  },
  output: 'paid',
});
const order = machineSaga({ name: 'order', version: '1' }, paying);

describe('an approval of a machine in a script', () => {
  it('lets the machine continue after all approvals', async () => {
    const run = await testSaga(refund).on.approval('manager', true).run();
    expect([run.result, sent.length, run.warnings]).toEqual(['person-1,person-2', 3, []]);
  });

  it('undoes the steps of the machine after denials only', async () => {
    const run = await testSaga(refund).on.approval('manager', false).run();
    expect([run.status, run.compensated]).toEqual(['failed', ['reserve']]);
  });

  it('reminds the people who have not answered the machine, at the scheduled times', async () => {
    const run = await testSaga(refund)
      .on.approval('manager', [
        { by: 'ann', after: hour },
        { by: 'bob', after: 9 * hour, content: { comment: 'late' } },
      ])
      .run();
    expect(run.result).toBe('ann,bob');
    expect(sent.filter((line) => line.startsWith('reminds'))).toEqual([
      'reminds bob',
      'reminds cy',
      'reminds bob',
      'reminds cy',
    ]);
  });

  it('times out for the machine without answers, or with late answers only', async () => {
    const silent = await testSaga(refund).silent.approval('manager').run();
    const late = await testSaga(refund)
      .on.approval('manager', true)
      .late.approval('manager', 25 * hour)
      .run();
    expect([silent.status, late.status]).toEqual(['failed', 'failed']);
  });

  it('requires an answer to the machine in the script', async () => {
    await expect(testSaga(refund).run()).rejects.toThrow(SagaTestError);
    await expect(testSaga(order).run()).rejects.toMatchObject({ code: 'unanswered' });
  });
});

describe('an event of a machine in a script', () => {
  it('arrives, or is missing', async () => {
    const run = await testSaga(order)
      .on.event('payment', { status: 'paid' }, { after: hour })
      .run();
    expect(run.result).toBe('paid');
    expect((await testSaga(order).silent.event('payment').run()).status).toBe('failed');
  });
});

describe('explorers of machines with answers from outside', () => {
  const script = testSaga(refund).on.approval('manager', true);

  it.each([
    ['crashEverywhere', crashEverywhere],
    ['failEverywhere', failEverywhere],
    ['refuseEverywhere', refuseEverywhere],
    ['forkEverywhere', forkEverywhere],
  ] as const)('%s finds no violation in a sound machine', async (_, explore) => {
    expect((await explore(script)).cases).toBeGreaterThan(0);
  });

  it('assertDeterministic finds no difference if answers arrive late', async () => {
    const bob = { by: 'bob', after: 9 * hour };
    await assertDeterministic(
      testSaga(refund).on.approval('manager', [{ by: 'ann', after: hour }, bob]),
    );
    await assertDeterministic(
      testSaga(order).on.event('payment', { status: 'paid' }, { after: hour }),
    );
  });
});
