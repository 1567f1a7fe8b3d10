import { AuthoringError } from '@mcp-saga/core/program';
import {
  elicit,
  idempotencyKeyOf,
  machineSaga,
  step,
  type PromiseStepOptions,
} from '@mcp-saga/xstate';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  assign,
  createActor,
  fromPromise,
  setup,
  type AnyActorRef,
  type AnyStateMachine,
} from 'xstate';
import { z } from 'zod';
import { deferred } from '../../server/test/fixtures/deferred.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

const ask = elicit({ message: 'Sure?', schema: z.object({}) });

/** What the code of the promises did, with the keys that it was given. */
const did: string[] = [];
beforeEach(() => void (did.length = 0));

const charge = fromPromise(
  async ({ input, self }: { input: { cents: number }; self: AnyActorRef }) => {
    did.push(`charge ${input.cents} ${idempotencyKeyOf(self)}`);
    return { id: 'c1', at: new Date(7) };
  },
);

/** A machine that was written with promises only: it charges, asks, and tells what it knows. */
const shop = setup({
  types: {
    context: {} as { charged: { id: string; at: Date } | null },
    output: {} as string,
  },
  actors: { ask, charge },
}).createMachine({
  context: { charged: null },
  initial: 'charging',
  states: {
    charging: {
      invoke: {
        id: 'pay',
        src: 'charge',
        input: { cents: 40 },
        onDone: { target: 'asking', actions: assign({ charged: ({ event }) => event.output }) },
      },
    },
    asking: { invoke: { id: 'sure', src: 'ask', onDone: 'done', onError: 'undone' } },
    done: { type: 'final' },
    undone: { type: 'final', tags: 'compensate' },
  },
  output: ({ context: { charged } }) => `${charged?.id} ${charged?.at.getTime()}`,
});

const options = { name: 'shop', version: '1', reuse: 'ok' } as const;
const drive = (machine: AnyStateMachine, steps: Record<string, PromiseStepOptions> = {}): Drive =>
  new Drive(machineSaga({ ...options, steps } as never, machine as never));

describe('a promise of a machine', () => {
  it('is recorded as a step: a repeated turn repeats it with its key, and no other turn does', async () => {
    const run = drive(shop);
    await run.start();
    const key = did[0];
    expect(key).toMatch(/^charge 40 .+/);
    expect(await run.resume({ sure: accept({}) })).toMatchObject({ result: 'c1 7' });
    expect(did).toEqual([key]);
    // A start whose response was lost.
    await run.start();
    expect(did).toEqual([key, key]);
  });

  it('gets its actor, which a step does not', async () => {
    const given: unknown[] = [];
    const told = step((context) => void given.push('self' in context));
    const promise = fromPromise(async ({ self }) => void given.push(self.id));
    const machine = setup({
      types: { output: {} as string },
      actors: { told, promise },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'step', src: 'told', onDone: 'b' } },
        b: { invoke: { id: 'promise', src: 'promise', onDone: 'c' } },
        c: { type: 'final' },
      },
      output: 'over',
    });
    await drive(machine as never).start();
    expect(given).toEqual([false, 'promise']);
  });

  it('is undone as the option `steps` says', async () => {
    const undone: unknown[] = [];
    const run = drive(shop, {
      charge: { compensate: (given) => void undone.push(given) },
    });
    await run.start();
    const outcome = failureOf(await run.resume({ sure: { action: 'decline' } }));
    expect(outcome.compensated).toMatchObject([{ stepId: 'pay' }]);
    expect(undone).toMatchObject([{ result: { id: 'c1', at: new Date(7) }, input: { cents: 40 } }]);
    const [, , key] = (did[0] ?? '').split(' ');
    expect(undone).toMatchObject([{ stepKey: key }]);
  });

  it('has one attempt, unless the option `steps` gives it more', async () => {
    const fails = fromPromise(async () => {
      did.push('try');
      throw new Error('503');
    });
    const machine = setup({ types: { output: {} as string }, actors: { fails } }).createMachine({
      initial: 'a',
      states: { a: { invoke: { src: 'fails', onError: 'b' } }, b: { type: 'final' } },
      output: 'over',
    });
    await drive(machine).start();
    expect(did).toEqual(['try']);
    did.length = 0;
    const retried = drive(machine, { fails: { retry: { attempts: 3, delay: 1 } } });
    await retried.start();
    for (let attempt = 2; attempt <= 3; attempt += 1) {
      retried.world.time += 1_000;
      await retried.resume();
    }
    expect(retried.outcome).toMatchObject({ result: 'over' });
    expect(did).toEqual(['try', 'try', 'try']);
  });

  it('may have no name, in a child machine, too', async () => {
    const kid = setup({ types: { output: {} as string } }).createMachine({
      initial: 'a',
      states: {
        a: {
          invoke: [
            {
              id: 'inner',
              src: fromPromise(
                async ({ self }: { self: AnyActorRef }) => void did.push(idempotencyKeyOf(self)),
              ),
              onDone: 'b',
            },
          ],
        },
        b: { type: 'final' },
      },
    } as never);
    const machine = setup({ types: { output: {} as string }, actors: { kid, ask } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'kid', src: 'kid', onDone: 'b' } },
        b: { invoke: { id: 'sure', src: 'ask', onDone: 'c' } },
        c: {
          invoke: { id: 'last', src: fromPromise(async () => void did.push('last')), onDone: 'd' },
        },
        d: { type: 'final' },
      },
      output: 'over',
    } as never);
    const undone: string[] = [];
    const compensate = (): unknown => undone.push('inner');
    const run = drive(machine as never, { 'kid/inner': { compensate } });
    await run.start();
    expect(await run.resume({ sure: accept({}) })).toMatchObject({ result: 'over' });
    expect(did).toHaveLength(2);
    expect(did[1]).toBe('last');
  });

  it('that the machine has left is not awaited, and its outcome is unknown', async () => {
    const signals: AbortSignal[] = [];
    const never = fromPromise(({ signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise<never>(() => undefined);
    });
    const machine = setup({ types: { output: {} as string }, actors: { never } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'never', src: 'never' }, after: { 1_000: 'b' } },
        b: { type: 'final', tags: 'compensate' },
      },
      output: 'left',
    });
    const outcome = failureOf(
      await drive(machine, {
        never: { compensate: () => undefined, unknown: 'report' },
      }).start(),
    );
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(outcome.uncompensated).toMatchObject([{ stepId: 'never' }]);
  });

  it('whose result cannot be stored fails with an unknown outcome', async () => {
    const odd = fromPromise(async () => new AbortController());
    const machine = setup({
      types: { context: {} as { error: unknown }, output: {} as string },
      actors: { odd },
    }).createMachine({
      context: { error: null },
      initial: 'a',
      states: {
        a: {
          invoke: {
            src: 'odd',
            onError: { target: 'b', actions: assign({ error: ({ event }) => event.error }) },
          },
        },
        b: { type: 'final' },
      },
      output: ({ context: { error } }) => (error as Error).message,
    });
    const { result } = (await drive(machine).start()) as { readonly result?: unknown };
    expect(result).toContain('AbortController');
  });

  it('runs under a live actor as before, with a key of its own', async () => {
    const actor = createActor(shop);
    actor.start();
    await expect.poll(() => actor.getSnapshot().value).toBe('asking');
    expect(did).toEqual([expect.stringMatching(/^charge 40 pay:/)]);
    actor.stop();
  });

  it('that `steps` names and the machine lacks is refused', () => {
    expect(() => drive(shop, { chrage: {} })).toThrow(AuthoringError);
    expect(() => drive(shop, { chrage: {} })).toThrow("names the promise 'chrage'");
    expect(() => drive(shop, { charge: { retyr: 3 } as never })).toThrow("Did you mean 'retry'?");
  });

  it('is not undone while it may still act: it is uncompensated', async () => {
    const events: string[] = [];
    const lands = deferred<void>();
    const pay = fromPromise(async () => {
      await lands.promise;
      events.push('charge lands');
    });
    const quick = fromPromise(async () => {
      throw new Error('boom');
    });
    const machine = setup({
      types: { output: {} as string },
      actors: { pay, quick },
    }).createMachine({
      initial: 'a',
      states: {
        a: {
          invoke: [
            { id: 'pay', src: 'pay' },
            { id: 'quick', src: 'quick' },
          ],
        },
        b: { type: 'final' },
      },
      output: 'never',
    });
    const compensate = (): unknown => events.push('undo');
    const { compensated, uncompensated } = failureOf(
      await drive(machine, { pay: { unknown: 'compensate', compensate } }).start(),
    );
    lands.resolve();
    expect({ compensated, uncompensated }).toMatchObject({
      compensated: [],
      uncompensated: [{ stepId: 'pay' }],
    });
    expect(events).not.toContain('undo');
  });

  it('is told apart from one of the same name in a child machine', async () => {
    const undone: string[] = [];
    const save = (name: string) => fromPromise(async () => name);
    const kid = setup({ actors: { save: save('file') } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 's', src: 'save', onDone: 'b' } },
        b: { type: 'final' },
      },
    });
    const machine = setup({
      types: { output: {} as string },
      actors: { kid, save: save('row') },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'row', src: 'save', onDone: 'b' } },
        b: { invoke: { id: 'kid', src: 'kid', onDone: 'c' } },
        c: { type: 'final', tags: 'compensate' },
      },
      output: 'undone',
    });
    const undoOf = (what: string): PromiseStepOptions => ({
      compensate: ({ result }) => void undone.push(`${what} ${result}`),
    });
    await drive(machine, { save: undoOf('row'), 'kid/save': undoOf('file') }).start();
    expect(undone).toEqual(['file file', 'row row']);
  });

  it('is aborted when an event that it sends itself leaves its state', async () => {
    const signals: AbortSignal[] = [];
    const work = fromPromise(
      async ({ self, signal }: { self: AnyActorRef; signal: AbortSignal }) => {
        signals.push(signal);
        // As `sendParent` does, which is for actions only.
        (Reflect.get(self, '_parent') as AnyActorRef).send({ type: 'PROGRESS' });
        await new Promise(() => undefined);
      },
    );
    const machine = setup({ types: { output: {} as string }, actors: { work } }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'work', src: 'work' }, on: { PROGRESS: 'b' } },
        b: { type: 'final' },
      },
      output: 'over',
    });
    expect(await drive(machine).start()).toMatchObject({ result: 'over' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('whose input cannot be stored fails, and has not run', async () => {
    const work = fromPromise(async () => void did.push('ran'));
    const machine = setup({ types: { output: {} as string }, actors: { work } }).createMachine({
      initial: 'a',
      states: {
        a: {
          invoke: {
            id: 'work',
            src: 'work',
            input: () => ({ told: () => 1 }),
            onDone: 'b',
            onError: 'c',
          },
        },
        b: { type: 'final' },
        c: { type: 'final' },
      },
      output: 'over',
    } as never) as unknown as AnyStateMachine;
    expect(await drive(machine).start()).toMatchObject({ result: 'over' });
    expect(did).toEqual([]);
  });
});
