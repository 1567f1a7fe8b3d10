import { memoryStore, type SagaTurn } from '@mcp-saga/server';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { testClock } from '../../server/test/fixtures/clock.ts';
import { accept, hostOf } from '../../server/test/fixtures/host.ts';
import { noise } from '../../server/test/fixtures/lengths.ts';
import { base } from '../../server/test/outside/case.ts';
import { approval, elicit, machineSaga, step, waitFor } from '../src/index.ts';
import { day } from './support/outside-machines.ts';

const Paid = z.looseObject({ type: z.literal('paid') });
const Text = z.object({ text: z.string() });

/** Waits for a question and two events at the same time, and keeps all of them in its context. */
function keeping(urls: string[]): ReturnType<typeof machineSaga> {
  const event = waitFor({
    schema: Paid,
    register: ({ url }) => void urls.push(url),
    link: 'accept',
    timeout: day,
  });
  const one = elicit({ message: 'One?', schema: Text });
  const sure = elicit({ message: 'Sure?', schema: Text });
  const region = (src: 'event' | 'one', id: string) =>
    ({
      initial: 'open',
      states: {
        open: {
          invoke: { id, src, onDone: { target: 'done', actions: { type: 'keep' } } },
        },
        done: { type: 'final' },
      },
    }) as const;
  const machine = setup({
    types: { context: {} as { kept: readonly unknown[] } },
    actors: { event, one, sure },
    actions: {
      keep: assign({
        kept: ({ context, event: done }) => [...context.kept, Object(done).output as unknown],
      }),
    },
  }).createMachine({
    context: { kept: [] },
    initial: 'waiting',
    states: {
      waiting: {
        type: 'parallel',
        states: { a: region('event', 'a'), b: region('event', 'b'), c: region('one', 'c') },
        onDone: 'asking',
      },
      asking: { invoke: { id: 'sure', src: 'sure', onDone: 'over' } },
      over: { type: 'final' },
    },
    output: 'done',
  });
  return machineSaga({ name: 'keeping', version: '1', reuse: 'ok' }, machine);
}

const size = fc.oneof(fc.nat(3_000), fc.nat(60_000));

it('a machine holds each event and answer that was accepted, with its next question', async () => {
  const accepted: number[] = [];
  await fc.assert(
    fc.asyncProperty(size, size, size, async (first, second, answer) => {
      const urls: string[] = [];
      const clock = testClock();
      const outside = { url: base, store: memoryStore({ clock }) };
      const { host } = hostOf(keeping(urls), { clock, ...outside, limits: { maxHold: 0 } });
      let turn: SagaTurn = await host.start('keeping', {});
      for (const [index, bytes] of [first, second].entries()) {
        const body = JSON.stringify({ type: 'paid', text: noise(bytes) });
        const request = new Request(urls[index] ?? '', { method: 'POST', body });
        const { status } = await host.answer(request);
        expect([202, 413]).toContain(status);
        if (status === 202) accepted.push(bytes);
      }
      for (const text of [noise(answer), 'no']) {
        if (turn.status !== 'suspended') break;
        const asked = turn.steps.find(({ stepId }) => stepId.endsWith('c'));
        turn = await host.resume(
          turn.token,
          asked === undefined ? [] : [accept(asked.stepId, { text })],
        );
      }
      expect(turn.status).toBe('suspended');
    }),
    { numRuns: 30, examples: [[3_000, 3_000, 3_000]] },
  );
  expect(Math.max(...accepted)).toBeGreaterThanOrEqual(3_000);
});

it('a machine reserves room for its reminders once, so that an approval with hundreds of them opens', async () => {
  const told: string[] = [];
  const machine = setup({
    types: { output: {} as string },
    actors: {
      manager: approval({
        message: 'Refund 40 EUR?',
        link: 'accept',
        to: ['ann', 'bob', 'dora'],
        deliver: ({ to }) => void told.push(String(to)),
        remindEvery: 60_000,
        timeout: day,
      }),
    },
  }).createMachine({
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'manager', src: 'manager', onDone: 'over' } },
      over: { type: 'final' },
    },
    output: 'over',
  });
  const clock = testClock();
  const asks = machineSaga({ name: 'asks', version: '1', reuse: 'ok' }, machine);
  const outside = { url: base, store: memoryStore({ clock }) };
  const { host } = hostOf(asks, { clock, ...outside, limits: { maxHold: 0 } });
  const turn = await host.start('asks', {});
  expect(turn).toMatchObject({ status: 'suspended' });
  expect(told).toEqual(['ann', 'bob', 'dora']);
});

it('a machine gives its room once to waits of which one starts while the other is delivered', async () => {
  const urls: string[] = [];
  let goOn = (): void => {};
  const isRegistered = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const wait = (register: (given: { url: string }) => unknown) =>
    waitFor({ schema: Paid, register, link: 'accept', timeout: day });
  const machine = setup({
    types: { output: {} as string },
    actors: {
      slow: wait(async ({ url }) => {
        urls.push(url);
        await isRegistered;
      }),
      quick: wait(({ url }) => {
        urls.push(url);
        goOn();
      }),
      soon: step(() => 'soon'),
    },
  }).createMachine({
    type: 'parallel',
    states: {
      a: { invoke: { id: 'slow', src: 'slow' } },
      b: {
        initial: 'first',
        states: {
          first: { invoke: { id: 'soon', src: 'soon', onDone: 'second' } },
          second: { invoke: { id: 'quick', src: 'quick' } },
        },
      },
    },
    output: 'over',
  });
  const clock = testClock();
  const waits = machineSaga({ name: 'waits', version: '1', reuse: 'ok' }, machine);
  const outside = { url: base, store: memoryStore({ clock }) };
  const { host } = hostOf(waits, { clock, ...outside, limits: { maxHold: 0 } });
  let turn: SagaTurn = await host.start('waits', {});
  const statuses: number[] = [];
  for (const url of urls) {
    const sizes = [44_000, 30_000, 20_000, 10_000, 4_000, 1_000];
    for (const bytes of sizes) {
      const body = JSON.stringify({ type: 'paid', text: noise(bytes) });
      const { status } = await host.answer(new Request(url, { method: 'POST', body }));
      statuses.push(status);
      if (status === 202) break;
    }
  }
  expect(statuses.filter((status) => status === 202)).toHaveLength(2);
  if (turn.status === 'suspended') turn = await host.resume(turn.token);
  expect(turn).not.toMatchObject({ error: { code: 'limit_exceeded' } });
});
