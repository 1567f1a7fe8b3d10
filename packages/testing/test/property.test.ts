import { Provider, SagaTestError } from '@mcp-saga/testing';
import { formArbitrary, sagaProperty } from '@mcp-saga/testing/fast-check';
import { abort, approval, elicit, saga, step } from '@mcp-saga/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { forgetsUndo, overflows } from './broken/sagas.ts';
import { orderMachine } from './sagas/order-machine.ts';
import { order } from './sagas/order.ts';

interface Charge {
  readonly id: string;
}

/** A world of fakes, with stand-ins for the steps that act on it. */
class World {
  readonly bank = new Provider<Charge>();
  readonly truck = new Provider<string>();

  stands() {
    return {
      charge: ({ idempotencyKey }: { idempotencyKey: string }) =>
        this.bank.do(idempotencyKey, { id: idempotencyKey }),
      '~charge': ({ stepKey }: { stepKey?: string }) => this.bank.undo(stepKey as string),
      ship: ({ idempotencyKey }: { idempotencyKey: string }) =>
        this.truck.do(idempotencyKey, 'a parcel'),
      '~ship': ({ stepKey }: { stepKey?: string }) => this.truck.undo(stepKey as string),
    };
  }
}

const input = fc.record({ cents: fc.integer({ min: 1, max: 100_000 }) });

describe('sagaProperty', () => {
  it.each([
    ['whatever fails', ['steps', 'refusals'], 150],
    ['wherever its process dies', ['crashes', 'refusals'], 100],
    ['both at once', ['steps', 'crashes', 'refusals'], 200],
  ] as const)(
    '[E1] [E3] [E4] passes for a sound saga, whatever the answers and %s',
    async (_, faults, numRuns) => {
      const ends = new Set<string>();
      const options = {
        input,
        world: () => new World(),
        steps: (world: World) => world.stands(),
        harmless: ['thank'],
        faults,
      };
      const property = sagaProperty(order, options, (run, { bank, truck }) => {
        ends.add(run.status);
        if (run.status === 'completed') {
          expect([bank.standing.length, truck.standing.length]).toEqual([1, 1]);
        } else if (!run.trace.some(({ type }) => type === 'passed')) {
          if (!run.uncompensated.includes('charge')) expect(bank.standing).toEqual([]);
          if (!run.uncompensated.includes('ship')) expect(truck.standing).toEqual([]);
        }
      });
      await fc.assert(property, { seed: 7, numRuns });
      expect(ends).toEqual(new Set(['completed', 'failed']));
    },
  );

  it('[E1] [E3] [E4] passes for a sound machine with any failure and any crash', async () => {
    const ends = new Set<string>();
    const options = {
      world: () => new World(),
      steps: (world: World) => world.stands(),
      faults: ['steps', 'crashes', 'refusals'],
    } as const;
    const property = sagaProperty(orderMachine, options, (run, { bank, truck }) => {
      ends.add(run.status);
      const stands = run.status === 'completed' ? 1 : 0;
      for (const [id, { standing }] of Object.entries({ charge: bank, ship: truck })) {
        if (!run.uncompensated.includes(id)) expect(standing).toHaveLength(stands);
      }
    });
    await fc.assert(property, { seed: 7, numRuns: 200 });
    expect(ends).toEqual(new Set(['completed', 'failed']));
  });

  it('[E3] finds a missing undo, and prints a script to paste', async () => {
    const error: unknown = await fc.assert(sagaProperty(forgetsUndo, {}), { seed: 7 }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const { cause } = error as { readonly cause: SagaTestError };
    expect(cause).toBeInstanceOf(SagaTestError);
    expect(cause.message).toContain("    const run = await testSaga(yourSaga /* 'forgetsUndo' */)");
    expect(cause.message).toMatch(
      /'charge' happened, the saga failed|the outcome of '\w+' is unknown/,
    );
  });

  it('prints the approval that no rule of the script answers', async () => {
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      yield* approval('boss', {
        message: 'Sure?',
        deliver: () => 'sent',
        link: 'accept',
        timeout: 60_000,
      });
      return 'done';
    });
    const options = { faults: [], harmless: ['*'] };
    const property = sagaProperty(asks, options, ({ status }) => status !== 'completed');
    await expect(fc.assert(property, { seed: 7 })).rejects.toMatchObject({
      cause: {
        message: expect.stringMatching(
          /\n +\.on\.approval\('boss', true\)\n +\.run\(\);/,
        ) as string,
      },
    });
  });

  it('finds an answer that violates an invariant', async () => {
    const property = sagaProperty(
      overflows,
      { faults: [] },
      ({ status }) => status === 'completed',
    );
    await expect(fc.assert(property, { seed: 7 })).rejects.toThrow(/Property failed/);
  });

  it('skips answers that the schema rejects', async () => {
    const Odd = z.object({
      n: z
        .number()
        .int()
        .refine((n) => n % 2 === 1),
    });
    const odd = saga({ name: 'odd', version: '1' }, function* () {
      const { n } = yield* elicit('n', { message: 'An odd number?', schema: Odd });
      return String(n % 2);
    });
    await fc.assert(
      sagaProperty(odd, { faults: [] }, ({ result }) => Math.abs(Number(result)) === 1),
      { seed: 7 },
    );
  });

  it('[R3] reports a nondeterministic saga by its first case, without shrinking', async () => {
    const When = z.object({ date: z.iso.date(), note: z.string().max(40).optional() });
    let runs = 0;
    const varies = saga({ name: 'varies', version: '1' }, function* () {
      const { date } = yield* elicit('date', {
        message: `No. ${(runs += 1)}: when?`,
        schema: When,
      });
      return date;
    });
    const details = await fc.check(sagaProperty(varies, { faults: [] }), { seed: 7 });
    expect(details).toMatchObject({ failed: true, numRuns: 1, numShrinks: 0 });
    expect(String(details.errorInstance)).toContain("changes the question 'date' in each turn");
  });

  const declines = saga({ name: 'declines', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
    yield* step('charge', ({ idempotencyKey }) =>
      Promise.reject(new Error(`no ${idempotencyKey}`)),
    );
    return 'charged';
  });

  it('reports a saga that never completes without a fault, without shrinking', async () => {
    const details = await fc.check(sagaProperty(declines), { seed: 7 });
    expect(details).toMatchObject({ failed: true, numRuns: 1, numShrinks: 0 });
    const { errorInstance: error } = details;
    expect(error).toMatchObject({ code: 'violated' });
    expect(String(error)).toMatch(/never ends as expected, .* the saga completes/);
    expect(String(error)).toContain("testSaga(yourSaga /* 'declines' */)");
  });

  it('passes for a saga that always fails as expected, and not for another failure', async () => {
    const options = { expectFailure: 'no do:charge', faults: ['refusals'] } as const;
    await fc.assert(sagaProperty(declines, options), { seed: 7 });
    const other = sagaProperty(declines, { expectFailure: 'elicitation_refused' });
    expect((await fc.check(other, { seed: 7 })).failed).toBe(true);
    expect(() => sagaProperty(declines, { expectFailure: '' })).toThrow(
      expect.objectContaining({ code: 'script' }),
    );
  });

  it('passes for a saga that completes only with some drawn arguments and answers', async () => {
    const picky = saga(
      { name: 'picky', version: '1', input: z.object({ size: z.number() }) },
      function* ({ size }) {
        const { sure } = yield* elicit('sure', {
          message: 'Sure?',
          schema: z.object({ sure: z.boolean() }),
        });
        if (size < 3 || !sure) yield* abort('not now');
        return 'done';
      },
    );
    const sizes = fc.record({ size: fc.integer({ min: 0, max: 3 }) });
    await fc.assert(sagaProperty(picky, { input: sizes }), { seed: 7, numRuns: 20 });
  });

  it('lets timers of the test runner fire between runs', async () => {
    const heard: string[] = [];
    const plain = saga({ name: 'plain', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
      return 'done';
    });
    setImmediate(() => heard.push('timer'));
    const property = sagaProperty(plain, { faults: [] }, () => void heard.push('run'));
    await fc.assert(property, { seed: 7, numRuns: 2 });
    expect(heard).toEqual(['timer', 'run', 'run']);
  });

  it('lets timers fire between the runs that look for one that completes', async () => {
    let runs = 0;
    let runsAtTimer = 0;
    const fails = saga({ name: 'fails', version: '1' }, function* () {
      yield* step('charge', () => {
        runs += 1;
        if (runs === 1) setImmediate(() => (runsAtTimer = runs));
        return Promise.reject(new Error('no money'));
      });
      return 'charged';
    });
    const details = await fc.check(sagaProperty(fails), { seed: 7 });
    expect(details.failed).toBe(true);
    expect(runs).toBe(100);
    // The timer fires before the second run, and not after all of them.
    expect(runsAtTimer).toBe(1);
  });

  it('draws contents of forms within their bounds', () => {
    const form = {
      properties: {
        text: { type: 'string', minLength: 2, maxLength: 4 },
        email: { type: 'string', format: 'email' },
        day: { type: 'string', format: 'date' },
        at: { type: 'string', format: 'date-time' },
        link: { type: 'string', format: 'uri' },
        size: { type: 'string', enum: ['s', 'm'] },
        count: { type: 'integer', minimum: 0, maximum: 3 },
        price: { type: 'number', minimum: 0 },
        sure: { type: 'boolean' },
        tags: {
          type: 'array',
          items: { type: 'string', enum: ['a', 'b', 'c'] },
          minItems: 1,
          maxItems: 2,
        },
      },
      required: ['text', 'email', 'day', 'at', 'link', 'size', 'count', 'price', 'sure'],
    } as const;
    const Content = z.object({
      text: z.string().min(2).max(4),
      email: z.email(),
      day: z.iso.date(),
      at: z.iso.datetime(),
      link: z.url(),
      size: z.enum(['s', 'm']),
      count: z.number().int().min(0).max(3),
      price: z.number().min(0),
      sure: z.boolean(),
      tags: z
        .array(z.enum(['a', 'b', 'c']))
        .min(1)
        .max(2)
        .optional(),
    });
    fc.assert(
      fc.property(formArbitrary(form), (content) => {
        expect(Content.safeParse(content).error).toBeUndefined();
      }),
    );
  });
});
