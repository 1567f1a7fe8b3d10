import { elicit, memoryStore, saga, step, type Program } from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test } from 'vitest';
import { testClock, type TestClock } from './fixtures/clock.ts';
import { accept, hostOf, suspended, type TestHost } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

const sure = accept('sure', {});
const undo = (did: string[], id: string) => ({ compensate: () => void did.push(`undo ${id}`) });

/** Asks, then does `a`, `b`, and `c`. */
function order(
  did: string[],
  of: { readonly bytes?: number; readonly bodies?: { count: number } } = {},
): Program {
  return saga({ name: 'order', version: '1', commitEach: true }, function* () {
    if (of.bodies !== undefined) of.bodies.count += 1;
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    for (const id of ['a', 'b', 'c']) {
      const does = (): string => {
        did.push(id);
        return 'x'.repeat(of.bytes ?? 0);
      };
      yield* step(id, does, undo(did, id));
    }
    return 'done';
  });
}

interface Served {
  readonly did: string[];
  readonly clock: TestClock;
  readonly host: TestHost['host'];
  readonly token: string;
}

/** A host whose guard is changed, and the token with which `sure` is answered. */
async function served(
  change: (guard: SagaGuard) => Partial<SagaGuard>,
  options: Partial<Parameters<typeof hostOf>[1]> = {},
  of: Parameters<typeof order>[1] = {},
): Promise<Served> {
  const did: string[] = [];
  const clock = testClock();
  const { host } = hostOf(order(did, of), {
    store: storeWithGuard(change, memoryStore({ clock })),
    testing: { clock },
    ...options,
  });
  const { token } = suspended(await host.start('order', {}));
  return { did, clock, host, token };
}

describe('a turn that is committed in place', () => {
  test('[E1] runs the body of 400 steps once, in one request', async () => {
    const clock = testClock();
    let bodies = 0;
    let yields = 0;
    const long = saga({ name: 'long', version: '1', commitEach: true }, function* () {
      bodies += 1;
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      for (let index = 0; index < 400; index += 1) {
        yields += 1;
        yield* step('one', () => index, { key: `${index}` });
      }
      return 'done';
    });
    const { host, told } = hostOf(long, { store: memoryStore({ clock }), testing: { clock } });
    const { token } = suspended(await host.start('long', {}));
    bodies = 0;
    expect(await host.resume(token, [sure])).toMatchObject({ result: 'done', turn: 401 });
    expect({ bodies, yields, turns: told.turns.length }).toEqual({
      bodies: 1,
      yields: 400,
      turns: 401,
    });
  });

  test('[T13] [E9] stops if another process took over its lease, and undoes nothing', async () => {
    let isLost = true;
    const { did, clock, host, token } = await served((guard) => ({
      finish: (fence, response) => !isLost && guard.finish(fence, response),
    }));
    await expect(host.resume(token, [sure])).rejects.toMatchObject({ code: 'busy' });
    expect(did).toEqual(['a']);
    isLost = false;
    clock.now += 120_000;
    expect(await host.resume(token, [sure])).toMatchObject({ result: 'done' });
    // It is not known whether `a` was done: it is done again, with the same key.
    expect(did).toEqual(['a', 'a', 'b', 'c']);
  });

  test('[T13] leaves the rest to a repeated request that began the next turn', async () => {
    let other: Promise<unknown> | undefined;
    const { did, host, token } = await served((guard) => ({
      begin: async (claim) => {
        if (claim.turn === 2 && other === undefined) {
          other = Promise.resolve();
          other = host.resume(token, [sure]);
          await other;
        }
        return await guard.begin(claim);
      },
    }));
    expect(await host.resume(token, [sure])).toMatchObject({ result: 'done', turn: 4 });
    expect(await other).toMatchObject({ result: 'done', turn: 4 });
    expect(did).toEqual(['a', 'b', 'c']);
  });

  test('[T13] runs nothing more if the guard is down at a commit', async () => {
    let isDown = true;
    const dies = (): never => {
      throw new Error('down');
    };
    for (const down of ['finish', 'begin'] as const) {
      isDown = true;
      const { did, clock, host, token } = await served((guard) => ({
        finish: (fence, response) =>
          isDown && down === 'finish' ? dies() : guard.finish(fence, response),
        begin: (claim) =>
          isDown && down === 'begin' && claim.turn === 2 ? dies() : guard.begin(claim),
      }));
      await expect(host.resume(token, [sure])).rejects.toMatchObject({ code: 'guard_down' });
      expect(did.splice(0)).toEqual(['a']);
      isDown = false;
      clock.now += 120_000;
      expect(await host.resume(token, [sure])).toMatchObject({ result: 'done' });
      expect(did).toEqual(down === 'finish' ? ['a', 'b', 'c'] : ['b', 'c']);
    }
  });

  test('[T11] [E3] undoes a saga whose token exceeds its size limit', async () => {
    const { did, host, token } = await served(
      () => ({}),
      { limits: { maxTokenBytes: 16_384 } },
      { bytes: 7_000 },
    );
    expect(await host.resume(token, [sure])).toMatchObject({
      status: 'failed',
      error: { code: 'token_too_large' },
      compensated: [{ stepId: 'b' }, { stepId: 'a' }],
    });
    expect(did).toEqual(['a', 'b', 'undo b', 'undo a']);
  });

  test('[E9] [U4] stores what was committed if its request is aborted', async () => {
    const aborting = new AbortController();
    const bodies = { count: 0 };
    const { did, host, token } = await served(
      (guard) => ({
        finish: async (fence, response) => {
          const isKept = await guard.finish(fence, response);
          if (fence.turn === 2) aborting.abort();
          return isKept;
        },
      }),
      {},
      { bodies },
    );
    await expect(host.resume(token, [sure], { signal: aborting.signal })).rejects.toThrow(
      'aborted',
    );
    expect(did).toEqual(['a', 'b']);
    expect(await host.resume(token, [sure])).toMatchObject({ result: 'done' });
    expect(did).toEqual(['a', 'b', 'c']);
  });
});
