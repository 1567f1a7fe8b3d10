import nodeCrypto from 'node:crypto';
import zlib from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { elicit, memoryStore, saga, step, type Program } from '@mcp-saga/server';
import { visitsIn } from '../../../test/support/count-visits.ts';
import { accept, completed, hostOf, suspended } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

const Note = z.object({ note: z.string() });

// Work of four times as many parts: linear work takes four times as much, and a part that does not
// grow.
const few = 25;
const many = 100;
const linear = 5;

/** A store whose guard counts its calls, and the bytes that it is given. */
function countedGuard() {
  const counted = { calls: 0, bytes: 0 };
  const memory = memoryStore();
  const store = storeWithGuard(
    (guard) => ({
      begin: (claim) => {
        counted.calls += 1;
        counted.bytes += claim.request?.length ?? 0;
        return guard.begin(claim);
      },
      finish: (fence, response) => {
        counted.calls += 1;
        counted.bytes += response.length;
        return guard.finish(fence, response);
      },
    }),
    memory,
  );
  return { memory, store, counted };
}

const asking = (name: string, reuse?: 'ok'): Program =>
  saga({ name, version: '1', reuse }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    return 'done';
  });

describe('committed steps', () => {
  const committing = (steps: number, runs: { bodies: number; steps: number }): Program =>
    saga({ name: 'committing', version: '1', commitEach: true }, function* () {
      runs.bodies += 1;
      yield* elicit('go', { message: 'Go?', schema: Empty });
      for (let index = 0; index < steps; index += 1) yield* step('work', () => (runs.steps += 1));
      return 'done';
    });

  /** Steps that are committed after a long answer. */
  const asked = (steps: number): Program =>
    saga({ name: 'committing', version: '1', commitEach: true }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Note });
      for (let index = 0; index < steps; index += 1)
        yield* step(`work-at-table-${index}`, () => index);
      return 'done';
    });

  const costOf = async (steps: number) => {
    const { store, counted } = countedGuard();
    const runs = { bodies: 0, steps: 0 };
    const { host } = hostOf(committing(steps, runs), { store });
    const { token } = suspended(await host.start('committing', {}));
    Object.assign(runs, { bodies: 0, steps: 0 });
    const visits = await visitsIn(async () =>
      completed(await host.resume(token, [accept('go', {})])),
    );
    return { ...counted, ...runs, visits };
  };

  test('[T13] take two guard calls each, and one run of the body for all', async () => {
    expect(await costOf(few)).toMatchObject({ bodies: 1, steps: few, calls: 2 * few });
    expect(await costOf(many)).toMatchObject({ bodies: 1, steps: many, calls: 2 * many });
  });

  test('[T13] are stored with work that grows linearly with their number', async () => {
    expect((await costOf(many)).visits).toBeLessThan(linear * (await costOf(few)).visits);
  });

  test('[T13] add one token each to the guard, which grows by one entry', async () => {
    const [short, long] = [await costOf(few), await costOf(many)];
    // The sum of tokens that each hold the steps so far: 32 bytes of an entry, in base64url.
    const entry = (32 * 4) / 3;
    const grown = (entry * (many * many - few * few)) / 2;
    expect(long.bytes - (many / few) * short.bytes).toBeLessThan(grown);
  });

  test('[T13] compress each journal entry once, and earlier answers once', async () => {
    const deflate = vi.spyOn(zlib, 'deflateRawSync');
    const { host } = hostOf(asked(many), { store: memoryStore() });
    const { token } = suspended(await host.start('committing', {}));
    deflate.mockClear();
    const note = 'x'.repeat(8_000);
    completed(await host.resume(token, [accept('go', { note })]));
    const compressed = deflate.mock.calls.reduce(
      (sum, [bytes]) => sum + (bytes as Uint8Array).length,
      0,
    );
    deflate.mockRestore();
    // An entry has less than 64 bytes.
    expect(compressed).toBeGreaterThan(note.length);
    expect(compressed).toBeLessThan(note.length + 64 * many);
  });
});

describe('registered sagas', () => {
  const visitsOf = async (sagas: number): Promise<number> => {
    const { host } = hostOf(
      Array.from({ length: sagas }, (_, index) => asking(`saga${index}`)),
      { store: memoryStore() },
    );
    const run = async (): Promise<void> => {
      const first = suspended(await host.start('saga0', {}));
      const second = suspended(await host.resume(first.token, [accept('go', {})]));
      completed(await host.resume(second.token, [accept('sure', {})]));
    };
    await run();
    return await visitsIn(run);
  };

  test('[W1] cost a request nothing, however many are registered', async () => {
    expect(await visitsOf(1_000)).toBe(await visitsOf(1));
  });
});

test('[T13] a guard stores one entry for each used token, and none before the first answer', async () => {
  const { memory, store, counted } = countedGuard();
  const { host } = hostOf(asking('asking'), { store });
  const begun = await Promise.all(Array.from({ length: many }, () => host.start('asking', {})));
  expect([memory.size, counted.calls]).toEqual([0, 0]);
  const resumed = await Promise.all(
    begun.map((turn) => host.resume(suspended(turn).token, [accept('go', {})])),
  );
  expect([memory.size, counted.calls]).toEqual([many, 2 * many]);
  await Promise.all(
    resumed.map((turn) => host.resume(suspended(turn).token, [accept('sure', {})])),
  );
  expect([memory.size, counted.calls]).toEqual([2 * many, 4 * many]);
});

describe('a hostile token', () => {
  /** Counts what a call does that an attacker could make expensive. */
  const workOf = async (call: () => Promise<unknown>) => {
    const spies = {
      parsed: vi.spyOn(JSON, 'parse'),
      decoded: vi.spyOn(Buffer, 'from'),
      inflated: vi.spyOn(zlib, 'inflateRawSync'),
      decrypted: vi.spyOn(nodeCrypto, 'createDecipheriv'),
      derived: vi.spyOn(nodeCrypto, 'createHmac'),
    };
    try {
      await expect(call()).rejects.toMatchObject({ code: 'refused' });
      return Object.fromEntries(
        Object.entries(spies).map(([name, { mock }]) => [name, mock.calls.length]),
      );
    } finally {
      for (const spy of Object.values(spies)) spy.mockRestore();
    }
  };

  const tokenOf = async () => {
    const { host, told, clock } = hostOf(
      saga({ name: 'asking', version: '1', reuse: 'ok' }, function* () {
        // A structure of this size is compressed in the token.
        for (let index = 0; index < 40; index += 1) yield* step('work', () => undefined);
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return 'done';
      }),
      { store: memoryStore() },
    );
    const { token } = suspended(await host.start('asking', {}));
    return { host, told, clock, token };
  };

  const calls = ['resume', 'cancel'] as const;

  test('[T4] [T11] over its size limit is refused before it is decoded', async () => {
    const { host, told, token } = await tokenOf();
    const large = token.replace(/(?=\.[^.]*$)/, 'A'.repeat(1_048_576));
    const work = await workOf(() => host.resume(large));
    expect(work).toEqual({ parsed: 0, decoded: 0, inflated: 0, decrypted: 0, derived: 0 });
    expect(told.rejections).toMatchObject([{ reason: 'too_large' }]);
  });

  test('[T4] [T11] over the size limit of a turn is refused by cancel before it is inflated or parsed', async () => {
    const { host, told, token } = await tokenOf();
    const large = token.replace(/(?=\.[^.]*$)/, 'A'.repeat(1_048_576));
    expect(await workOf(() => host.cancel(large))).toMatchObject({ parsed: 0, inflated: 0 });
    expect(told.rejections).toMatchObject([{ reason: 'too_large' }]);
  });

  test.each(calls)(
    '[T4] with changed bytes is refused by %s before it is inflated or parsed',
    async (name) => {
      const { host, told, token } = await tokenOf();
      const at = Math.floor(token.length / 2);
      const tampered = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(await workOf(() => host[name](tampered))).toMatchObject({ parsed: 0, inflated: 0 });
      expect(told.rejections).toMatchObject([{ reason: 'undecryptable' }]);
    },
  );

  test.each(calls)(
    '[T6] that has expired is refused by %s before its streams are inflated',
    async (name) => {
      const { host, told, token, clock } = await tokenOf();
      clock.now += 31 * 24 * 60 * 60 * 1_000;
      expect(await workOf(() => host[name](token))).toMatchObject({ inflated: 0 });
      expect(told.rejections).toMatchObject([{ reason: 'expired' }]);
    },
  );
});
