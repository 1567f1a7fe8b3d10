import { all, checkpoint, elicit, saga, step } from '@mcp-saga/server';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  testSaga,
  upgradeEverywhere,
} from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deploy } from './sagas/deploy.ts';
import { order } from './sagas/order.ts';
import { quotes } from './sagas/quotes.ts';
import { shop } from './sagas/shop.ts';

const bought = testSaga(order, { input: { cents: 900 }, before: shop.reset })
  .steps<{ sure: { sure: boolean }; charge: { id: string }; ship: void; thank: void }>()
  .on.elicit('sure', { sure: true });
const deployed = testSaga(deploy, { input: { service: 'web' } })
  .on.elicit('target', { target: 'staging' })
  .on.sample('safety', 'Yes');

describe('exploring sound sagas', () => {
  it('[E1] [R1] finds no violation if the process dies anywhere', async () => {
    const check = (): void => {
      expect([...shop.charges.values()]).toEqual([900]);
      expect(shop.shipped.size).toBe(1);
    };
    expect(await crashEverywhere(bought, { check, harmless: ['thank'] })).toEqual({ cases: 9 });
    expect(await crashEverywhere(deployed)).toEqual({ cases: 5 });
  });

  it('[E1] finds no violation if the process dies during compensation', async () => {
    const failed = bought.fail.step('ship', new Error('no truck')).expectFailure('no truck');
    await crashEverywhere(failed, { check: () => expect(shop.charges.size).toBe(0) });
  });

  it('[E3] [E4] finds no violation if any step fails', async () => {
    const { cases } = await failEverywhere(bought, {
      check: ({ status }) =>
        expect(shop.charges.size).toBe(status === 'completed' || shop.shipped.size === 1 ? 1 : 0),
    });
    // Three faults of each of three steps; and each of two undos fails once and for good.
    expect(cases).toBe(13);
    await failEverywhere(testSaga(quotes).on.elicit('carrier', { carrier: 'x' }), {
      harmless: ['fast', 'slow'],
    });
  });

  it('[E3] expects the undos of parallel steps in the order in which their last attempts ended', async () => {
    const save = (id: string) =>
      step(id, ({ idempotencyKey }) => idempotencyKey, {
        retry: 2,
        compensate: ({ stepKey, idempotencyKey }) => [stepKey, idempotencyKey],
        unknown: 'compensate',
      });
    const both = saga({ name: 'both', version: '1' }, function* () {
      yield* all({ a: save('a'), b: save('b') });
      yield* save('end');
      return 'saved';
    });
    const orders: string[] = [];
    await failEverywhere(testSaga(both), {
      check: ({ compensated }) => void orders.push(compensated.join(' ')),
      harmless: ['~*'],
    });
    expect(orders).toContain('a b');
    expect(orders).toContain('b a');
  });

  it('[E7] [T13] finds that a guard refuses every other answer, and repeats the response', async () => {
    const { forks } = await forkEverywhere(bought);
    expect(forks.map(({ id, answer, status }) => [id, answer, status])).toEqual([
      [undefined, undefined, 'completed'],
      ['sure', undefined, 'completed'],
      ['sure', 'decline', 'refused'],
      ['sure', { sure: false }, 'refused'],
    ]);
  });

  it('[E7] reports forks that take another branch on a host without a store', async () => {
    const unguarded = testSaga(deploy, { input: { service: 'web' }, store: false })
      .on.elicit('target', { target: 'staging' })
      .on.sample('safety', 'Yes');
    const { forks } = await forkEverywhere(unguarded);
    expect(forks.map(({ id, answer, status, again }) => [id, answer, status, again])).toEqual([
      ['target', undefined, 'completed', ['release']],
      ['target', 'decline', 'failed', []],
      ['target', { target: 'production' }, 'completed', ['release']],
      ['safety', undefined, 'completed', ['release']],
      ['safety', 'Something else', 'completed', []],
    ]);
  });

  it('[W4] finds no violation if questions are refused or answered at the edges', async () => {
    expect(await refuseEverywhere(bought)).toEqual({ cases: 4 });
    expect(await refuseEverywhere(deployed)).toEqual({ cases: 7 });
  });

  it('finds that they are the same on another machine', async () => {
    await assertDeterministic(bought);
    await assertDeterministic(deployed);
    await assertDeterministic(testSaga(quotes).on.elicit('carrier', { carrier: 'x' }));
  });

  it('repeats the result of a step whose first run fails by script', async () => {
    let runs = 0;
    const counts = saga({ name: 'counts', version: '1' }, function* () {
      return String(yield* step('count', () => (runs += 1), { retry: 3 }));
    });
    await assertDeterministic(testSaga(counts).fail.step('count', new Error('down'), { times: 1 }));
    expect(runs).toBe(1);
  });

  it('[R3] finds no problem if new code continues the sagas of the old code', async () => {
    expect(await upgradeEverywhere(bought, order)).toEqual({ cases: 2, problems: [] });
  });

  it('[R3] accepts a reworded open question, and reports a reworded answered question', async () => {
    const seats = (message: () => string) =>
      saga({ name: 'seats', version: '1' }, function* () {
        const { n } = yield* elicit('seats', {
          message: message(),
          schema: z.object({ n: z.number() }),
        });
        yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
        return `${n} seats`;
      });
    const script = testSaga(seats(() => 'How many?'))
      .on.elicit('seats', { n: 2 })
      .on.elicit('sure', {});
    const reworded = seats(() => 'How many seats?');
    const results: unknown[] = [];
    const { problems } = await upgradeEverywhere(script, reworded, {
      reportOnly: true,
      check: ({ result }) => results.push(result),
    });
    expect(results).toEqual(['2 seats']);
    expect(problems).toMatchObject([{ turn: 2, waitedFor: ['sure'], recorded: { path: 'seats' } }]);
    await expect(upgradeEverywhere(script, reworded)).rejects.toThrow(
      /after turn 2, waiting for sure/,
    );
    let asks = 0;
    const varying = seats(() => `How many, for the ${(asks += 1)}th time?`);
    await expect(upgradeEverywhere(script, varying)).rejects.toMatchObject({
      code: 'not_deterministic',
    });
    // Where nothing was upgraded, its first change is one too many.
    asks = 0;
    await expect(testSaga(varying).on.elicit('seats', { n: 2 }).run()).rejects.toMatchObject({
      code: 'not_deterministic',
      message: expect.stringContaining('for the 2th time?') as string,
    });
  });

  it('[E7] reports steps that a fork undoes after the end, for a check of the author', async () => {
    const keep = saga({ name: 'keep', version: '1', reuse: 'ok' }, function* () {
      yield* step('create', ({ idempotencyKey }) => idempotencyKey, {
        compensate: ({ stepKey }) => stepKey,
      });
      const { go } = yield* elicit('go', {
        message: 'Keep it?',
        schema: z.object({ go: z.boolean() }),
      });
      if (!go) throw new Error('not wanted');
      return 'kept';
    });
    const script = testSaga(keep).on.elicit('go', { go: true });
    const { forks } = await forkEverywhere(script);
    expect(forks.map(({ id, answer, status, undone }) => [id, answer, status, undone])).toEqual([
      [undefined, undefined, 'completed', []],
      ['go', undefined, 'completed', []],
      ['go', 'decline', 'failed', ['create']],
      ['go', { go: false }, 'failed', ['create']],
    ]);
    const judged = forkEverywhere(script, {
      check: (fork, first) => {
        if (first.status === 'completed' && fork.compensated.length > 0)
          throw new Error('kept and removed');
      },
    });
    await expect(judged).rejects.toThrow(
      /kept and removed[^]*await run\.at\('go'\)\.fork\('decline'\);/,
    );
  });

  it('[R5] continues with the old version in `previous`, or reports that the version is gone', async () => {
    const body = (id: string) =>
      function* () {
        yield* elicit('go', { message: 'On?', schema: z.object({ go: z.boolean() }) });
        return yield* step(id, () => id);
      };
    const old = saga({ name: 'change', version: '1' }, body('before'));
    const script = testSaga(old).on.elicit('go', { go: true });
    const beside = saga({ name: 'change', version: '2', previous: [{ saga: old }] }, body('after'));
    const check = ({ result }: { readonly result: unknown }): void => expect(result).toBe('before');
    expect(await upgradeEverywhere(script, beside, { check })).toEqual({ cases: 1, problems: [] });
    const alone = saga({ name: 'change', version: '2' }, body('after'));
    const { problems } = await upgradeEverywhere(script, alone, { reportOnly: true });
    expect(problems).toMatchObject([{ turn: 1, waitedFor: ['go'], recorded: undefined }]);
    await expect(upgradeEverywhere(script, alone)).rejects.toThrow(/previous: \[\{ saga: old \}\]/);
  });

  it.each([
    ['in one turn', () => false, 202],
    ['with a question now and then', (n: number) => n % 25 === 24, 206],
    ['each with a token behind it', () => true, 302],
  ] as const)(
    '[E1] crashes a saga of a hundred steps at every point, %s',
    async (_, asks, expected) => {
      const Go = z.object({ go: z.boolean() });
      const long = saga({ name: 'long', version: '1' }, function* () {
        let sum = 0;
        // The client gets a token before the first step.
        yield* checkpoint();
        for (let n = 0; n < 100; n += 1) {
          const add = ({ idempotencyKey }: { idempotencyKey: string }): number =>
            idempotencyKey === '' ? 0 : n;
          sum += yield* step('add', add, { key: String(n) });
          if (asks(n)) yield* elicit('go', { message: 'On?', schema: Go });
        }
        return String(sum);
      });
      const { cases } = await crashEverywhere(testSaga(long).on.elicit('go', { go: true }));
      expect(cases).toBe(expected);
    },
  );
});
