import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { runMachine } from '../src/chart/engine/run-machine.ts';
import type { MachineStep, MachineView, RunningMachine } from '../src/chart/model/machine-view.ts';
import { compile } from '../src/engine/compile.ts';

const examples = new URL('../examples/machines/', import.meta.url);
const checkout = readFileSync(new URL('checkout.ts', examples), 'utf8');

const order = readFileSync(new URL('order.ts', examples), 'utf8');

const play = (
  text: string,
  steps: readonly MachineStep[] = [],
  input?: unknown,
): Promise<MachineView> =>
  runMachine({ files: compile([{ name: 'machine.ts', text }]), input, steps });

/** Plays steps, and returns the machine of the page with the rest of the view. */
const playMain = async (
  ...given: Parameters<typeof play>
): Promise<MachineView & RunningMachine> => {
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

// A run replaces the random numbers of its worker.
const { random } = Math;
afterAll(() => {
  Math.random = random;
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
      { type: 'skip', toMs: 4_999 },
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
    const over = await playMain(checkout, [
      ...steps,
      { type: 'skip', toMs: 5_000 },
      send('PACKED'),
    ]);
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
    expect((await playMain(light, [{ type: 'skip', toMs: 2_500 }])).history.at(-1)?.value).toBe(
      'yellow',
    );
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
    const paid: MachineStep = {
      type: 'resolve',
      actor: paying.actors[0]?.id ?? '',
      value: undefined,
    };
    expect((await playMain(code, [answer, paid])).status).toBe('done');
  });

  it('shows invoked and spawned machines, nested, and sends events to each of them', async () => {
    const namesOf = ({ machines }: MachineView): readonly string[] =>
      machines.map(({ name }) => name);
    const first = await play(order);
    expect(namesOf(first)).toEqual(['order', 'parcel (parcel-1)']);
    const steps = [send('PAY'), send('ENTER', {}, '2')];
    const paying = await play(order, steps);
    expect(namesOf(paying)).toEqual(['order', 'parcel (parcel-1)', 'payment', 'bank']);
    const [, , payment, bank] = paying.machines;
    expect(payment?.active).toContain('payment.checking');
    expect(paying.timers).toMatchObject([{ machine: bank?.key, name: 'after 3 s in bank.busy' }]);
    const paid = await play(order, [...steps, { type: 'skip', toMs: 3_000 }]);
    expect(paid.machines[0]?.active).toContain('order.paid');
    expect(namesOf(paid)).toEqual(['order']);
  });

  it.each(readdirSync(examples))('runs the example %s', async (file) => {
    const { status, active } = await playMain(readFileSync(new URL(file, examples), 'utf8'));
    expect(status).toBe('active');
    expect(active.length).toBeGreaterThan(1);
  });

  it('stops at the first step that does not fit, and says so', async () => {
    const steps: readonly MachineStep[] = [
      send('ADD'),
      { type: 'resolve', actor: '7', value: 1 },
      send('CHECKOUT'),
    ];
    const { active, history, problem } = await playMain(checkout, steps);
    expect(active).toContain('checkout.cart');
    expect(history.map(({ what }) => what)).toEqual(['start', 'ADD']);
    expect(problem).toBe('The history stops: step 2 no longer fits. No such actor waits.');
    expect((await playMain(checkout, [send('ADD')])).problem).toBeUndefined();
  });

  it('waits for actors that the code only names, also inside of child machines', async () => {
    const code = `import { createMachine } from 'xstate';
      const child = createMachine({ id: 'child', invoke: { src: 'verify', onDone: '.checked' },
        initial: 'waiting', states: { waiting: {}, checked: {} } });
      export const login = createMachine({ id: 'login', initial: 'asking', states: {
        asking: { invoke: { src: 'authenticate', onDone: 'child', onError: 'denied' } },
        child: { invoke: { src: child } }, denied: {} } });`;
    const asking = await playMain(code);
    expect(asking.actors.map(({ name }) => name)).toEqual(['invoke of login.asking']);
    expect(asking.chart.root.states[0]?.activities).toEqual(['promise authenticate']);
    const answer: MachineStep = { type: 'resolve', actor: asking.actors[0]?.id ?? '', value: 1 };
    const inner = await play(code, [answer]);
    expect(inner.machines[1]?.active).toContain('child.waiting');
    const verify: MachineStep = { type: 'resolve', actor: inner.actors[0]?.id ?? '', value: 1 };
    expect((await play(code, [answer, verify])).machines[1]?.active).toContain('child.checked');
    expect((await playMain(code, [{ ...answer, type: 'reject' }])).active).toContain(
      'login.denied',
    );
  });

  it.each([
    [undefined, 'Rejected at the page.'],
    ['no money', 'no money'],
    [402, '402'],
    [{ message: 'as it is' }, 'as it is'],
  ])('rejects with an error for %j', async (value, message) => {
    const code = `import { assign, createMachine, fromPromise } from 'xstate';
      export const machine = createMachine({ context: {}, invoke: { src: fromPromise(async () => 1),
        onError: { actions: assign({ why: ({ event }) => event.error.message }) } } });`;
    const { actors } = await playMain(code);
    const { context } = await playMain(code, [
      { type: 'reject', actor: actors[0]?.id ?? '', value },
    ]);
    expect(JSON.parse(context)).toEqual({ why: message });
  });

  it.each([
    "spawnChild('verify', { id: 'check' })",
    "enqueueActions(({ enqueue }) => enqueue.spawnChild('verify', { id: 'check' }))",
  ])('waits for actors that the code only names and spawns: %s', async (action) => {
    const text = `import { createMachine, enqueueActions, spawnChild } from 'xstate';
        export const machine = createMachine({ id: 'login', entry: ${action}, initial: 'open',
          on: { 'xstate.done.actor.check': '.checked' }, states: { open: {}, checked: {} } }).provide({ guards: {} });`;
    const open = await playMain(text);
    expect(open.actors.map(({ name }) => name)).toEqual(['check']);
    const checked = await playMain(text, [
      { type: 'resolve', actor: open.actors[0]?.id ?? '', value: 1 },
    ]);
    expect(checked.active).toContain('login.checked');
  });

  it('lists only the actors of the page if the code starts an actor, too', async () => {
    const code = `import { createActor, createMachine, fromPromise } from 'xstate';
      const machine = createMachine({ initial: 'asking', states: {
        asking: { invoke: { id: 'ask', src: fromPromise(async () => 1), onDone: 'over' } }, over: {} } });
      createActor(machine).start();`;
    const { actors } = await playMain(code);
    expect(actors.map(({ name }) => name)).toEqual(['ask']);
    const answer: MachineStep = { type: 'resolve', actor: actors[0]?.id ?? '', value: 1 };
    expect((await playMain(code, [answer])).history.at(-1)?.value).toBe('over');
  });

  it.each([
    "export const outer = setup({ actors: { inner } }).createMachine({ id: 'outer', invoke: { src: 'inner' } });",
    "export const outer = createMachine({ id: 'outer', initial: 'a', states: { a: { invoke: [{ src: inner }] } } });",
  ])('runs the exported machine that no other one invokes: %#', async (outer) => {
    const { name } = await playMain(`import { createMachine, setup } from 'xstate';
      export const inner = createMachine({ id: 'inner' });
      ${outer}`);
    expect(name).toBe('outer');
  });

  it('finds a machine that an extended setup makes', async () => {
    const { name } = await playMain(`import { setup } from 'xstate';
      setup({}).extend({ guards: { isOpen: () => true } }).extend({}).createMachine({ id: 'extended' });`);
    expect(name).toBe('extended');
  });

  it('shows values of the context that JSON does not have', async () => {
    const { context } = await playMain(`import { createMachine } from 'xstate';
      export const machine = createMachine({ context: { names: new Map([['a', 1n]]), tags: new Set(['x']),
        none: NaN, most: -Infinity } });`);
    expect(JSON.parse(context)).toEqual({
      names: [['a', '1n']],
      tags: ['x'],
      none: 'NaN',
      most: '-Infinity',
    });
  });

  it('repeats random numbers, as each step runs the code again', async () => {
    const code = `import { assign, createMachine } from 'xstate';
      export const machine = createMachine({ context: { seen: [] }, on: { ROLL: {
        actions: assign({ seen: ({ context }) => [...context.seen, Math.random()] }) } } });`;
    const seenIn = async (count: number): Promise<number[]> => {
      const { context } = await playMain(code, Array<MachineStep>(count).fill(send('ROLL')));
      return (JSON.parse(context) as { seen: number[] }).seen;
    };
    const longer = await seenIn(3);
    expect(await seenIn(2)).toEqual(longer.slice(0, 2));
    expect(new Set(longer).size).toBe(3);
    for (const each of longer) expect(each >= 0 && each < 1).toBe(true);
  });

  it('names an import that a module does not have', async () => {
    const code = "import { Machine } from 'xstate'; export const machine = Machine({});";
    await expect(playMain(code)).rejects.toThrow(
      "The page has no export 'Machine' of 'xstate'. Check the import in machine.ts.",
    );
    const { name } = await playMain(`import * as all from 'xstate';
      import zod from 'zod';
      export { assign } from 'xstate';
      export const machine = all.createMachine({ id: String(zod.string().parse('all')) });`);
    expect(name).toBe('all');
  });

  it('names what is wrong', async () => {
    await expect(playMain('export const x = 1;')).rejects.toThrow('makes no machine');
    await expect(playMain("import 'react';")).rejects.toThrow(
      "imports 'react'. This page provides only",
    );
    const broken = await playMain(
      `import { createMachine } from 'xstate';
      export const machine = createMachine({ on: { GO: { actions: () => { throw new Error('no'); } } } });`,
      [send('GO')],
    );
    expect(broken).toMatchObject({ status: 'error', result: 'no' });
  });
});
