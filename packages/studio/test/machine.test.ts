import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runMachine } from '../src/chart/engine/run-machine.ts';
import type { MachineStep, MachineView, RunningMachine } from '../src/chart/model/machine-view.ts';
import { compile } from '../src/engine/compile.ts';

const examples = new URL('../examples/machines/', import.meta.url);
const checkout = readFileSync(new URL('checkout.ts', examples), 'utf8');

const order = readFileSync(new URL('order.ts', examples), 'utf8');

const play = (text: string, steps: readonly MachineStep[] = [], input?: unknown): Promise<MachineView> =>
  runMachine({ files: compile([{ name: 'machine.ts', text }]), input, steps });

/** Plays steps, and returns the machine of the page with the rest of the view. */
const playMain = async (...given: Parameters<typeof play>): Promise<MachineView & RunningMachine> => {
  const view = await play(...given);
  const [machine] = view.machines;
  if (machine === undefined) throw new Error('There is no machine');
  return { ...view, ...machine };
};

const send = (type: string, data: object = {}, to: string = '0'): MachineStep => ({
  type: 'send',
  to,
  event: { ...data, type },
});

describe('a machine in the page', () => {
  it('takes events with data, waits for its actors, and follows the clock', async () => {
    const paying = await playMain(checkout, [send('ADD', { count: 3 }), send('CHECKOUT')]);
    expect(paying.active).toContain('checkout.paying');
    expect(JSON.parse(paying.context)).toEqual({ items: 3 });
    const [charge] = paying.actors;
    expect(charge?.name).toBe('charge');
    const steps: readonly MachineStep[] = [
      send('ADD'),
      send('CHECKOUT'),
      { type: 'resolve', actor: charge?.id ?? '', value: { receipt: 'R' } },
      { type: 'skip', byMs: 4_999 },
    ];
    const preparing = await playMain(checkout, steps);
    expect(preparing.active).toContain('checkout.preparing.invoice.writing');
    expect(preparing.timers).toEqual([
      {
        machine: '0',
        type: expect.any(String),
        name: 'after 5 s in checkout.preparing.invoice.writing',
        dueMs: 5_000,
      },
    ]);
    const over = await playMain(checkout, [...steps, { type: 'skip', byMs: 1 }, send('PACKED')]);
    expect(over.status).toBe('done');
    expect(over.history.map(({ what }) => what)).toEqual([
      'start',
      'ADD',
      'CHECKOUT',
      'resolve charge',
      'clock +4.999 s',
      'clock +0.001 s',
      'PACKED',
    ]);
  });

  it('rejects an actor, and runs delays one after another', async () => {
    const { actors } = await playMain(checkout, [send('ADD'), send('CHECKOUT')]);
    const reject: MachineStep = { type: 'reject', actor: actors[0]?.id ?? '', value: 'no money' };
    expect((await playMain(checkout, [send('ADD'), send('CHECKOUT'), reject])).active).toContain(
      'checkout.cart',
    );
    const light = `import { createMachine } from 'xstate';
      const light = createMachine({ initial: 'red', states: {
        red: { after: { 1000: 'green' } }, green: { after: { 1000: 'yellow' } }, yellow: { after: { 1000: 'red' } } } });`;
    expect((await playMain(light, [{ type: 'skip', byMs: 2_500 }])).history.at(-1)?.value).toBe('yellow');
  });

  it('runs steps and questions of machine sagas by hand, with an input', async () => {
    const code = `import { setup } from 'xstate';
      import { elicit, step, isDeclined } from '@mcp-saga/xstate';
      import { z } from 'zod';
      export default setup({ actors: {
        ask: elicit({ message: 'Sure?', schema: z.object({}) }),
        pay: step(() => { throw new Error('runs'); }),
      } }).createMachine({ context: ({ input }) => input, initial: 'asking', states: {
        asking: { invoke: { src: 'ask', id: 'ask', onDone: 'paying', onError: 'over' } },
        paying: { invoke: { src: 'pay', onDone: { target: 'over' } } },
        over: { type: 'final' } } });`;
    const asking = await playMain(code, [], { order: 7 });
    expect(JSON.parse(asking.context)).toEqual({ order: 7 });
    expect(asking.chart.root.states[0]?.activities).toEqual(['elicit ask']);
    const answer: MachineStep = { type: 'resolve', actor: asking.actors[0]?.id ?? '', value: {} };
    const paying = await playMain(code, [answer]);
    const paid: MachineStep = { type: 'resolve', actor: paying.actors[0]?.id ?? '', value: undefined };
    expect((await playMain(code, [answer, paid])).status).toBe('done');
  });

  it('shows invoked and spawned machines, nested, and sends events to each of them', async () => {
    const namesOf = ({ machines }: MachineView): readonly string[] => machines.map(({ name }) => name);
    const first = await play(order);
    expect(namesOf(first)).toEqual(['order', 'parcel (parcel-1)']);
    const steps = [send('PAY'), send('ENTER', {}, '2')];
    const paying = await play(order, steps);
    expect(namesOf(paying)).toEqual(['order', 'parcel (parcel-1)', 'payment', 'bank']);
    const [, , payment, bank] = paying.machines;
    expect(payment?.active).toContain('payment.checking');
    expect(paying.timers).toMatchObject([{ machine: bank?.key, name: 'after 3 s in bank.busy' }]);
    const paid = await play(order, [...steps, { type: 'skip', byMs: 3_000 }]);
    expect(paid.machines[0]?.active).toContain('order.paid');
    expect(namesOf(paid)).toEqual(['order']);
  });

  it.each(readdirSync(examples))('runs the example %s', async (file) => {
    const { status, active } = await playMain(readFileSync(new URL(file, examples), 'utf8'));
    expect(status).toBe('active');
    expect(active.length).toBeGreaterThan(1);
  });

  it('names what is wrong', async () => {
    await expect(playMain('export const x = 1;')).rejects.toThrow('makes no machine');
    await expect(playMain("import 'react';")).rejects.toThrow("imports 'react'");
    const broken = await playMain(
      `import { createMachine } from 'xstate';
      export const machine = createMachine({ on: { GO: { actions: () => { throw new Error('no'); } } } });`,
      [send('GO')],
    );
    expect(broken).toMatchObject({ status: 'error', result: 'no' });
  });
});
