import {
  all,
  checkpoint,
  continueAs,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  patched,
  saga,
  sleep,
  step,
  TokenRefused,
  type RateLimitFacts,
  type SagaHost,
  type SagaHostOptions,
  type SagaStore,
  type StepAnswer,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { floodingClient } from './flooding-client.ts';
import { answer, gone, hour, Ok } from './guarded-hosts.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { coreOf } from '../../src/saga-host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

/** A store in memory, and the lengths of the responses that its guard was given to keep. */
function counted(clock: () => number = Date.now): {
  readonly store: SagaStore;
  readonly kept: number[];
} {
  const kept: number[] = [];
  const store = storeWithGuard(
    (guard) => ({
      finish: (fence, sealed) => {
        kept.push(sealed.length);
        return guard.finish(fence, sealed);
      },
    }),
    memoryStore({ clock }),
  );
  return { store, kept };
}

const sum = (lengths: readonly number[]): number =>
  lengths.reduce((total, length) => total + length, 0);

/** An accepted form that its schema does not allow. */
const invalid = (stepId: string, ok: string = 'perhaps'): StepAnswer[] => [
  { stepId, result: { action: 'accept', content: { ok } } },
];

function hostOf(sagas: SagaHostOptions['sagas'], changes: HostChanges = {}): SagaHost {
  return createSagaHost(
    changed(
      {
        sagas,
        keys: generateKey(),
        name: 'shop',
        testing: { environment: 'production' },
        hooks: { onTurn: () => undefined, onError: () => undefined, onReject: () => undefined },
      },
      changes,
    ),
  );
}

const large = 'x'.repeat(50_000);

describe('large questions', () => {
  test('[T11] [T13] are not stored by the guard', async () => {
    const { store, kept } = counted();
    const client = await floodingClient(store);
    await client.answer(20);
    expect(kept).toHaveLength(20);
    expect(sum(kept)).toBeLessThan(client.sent());
    expect(Math.max(...kept)).toBeLessThan(10_000);
  });

  const asking = saga({ name: 'asking', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Ok });
    yield* step('pay', () => undefined);
    yield* all({
      one: elicit('one', { message: `${large} One?`, schema: Ok }),
      two: elicit('two', { message: `${large} Two?`, schema: Ok }),
    });
    yield* checkpoint(large);
    yield* sleep(hour);
    return 'done';
  });
  const continued = saga({ name: 'continued', version: '1' }, function* () {
    return yield* continueAs(asking, {});
  });

  test('[T13] are the same in a repeated request, with the reason why they are asked again', async () => {
    const { store, kept } = counted();
    const host = hostOf([continued, asking], { store });
    const start = suspended(await host.start('continued', {}));
    const both = suspended(await host.resume(start.token, answer('go@1')));
    expect(both.steps).toHaveLength(2);
    expect(await host.resume(start.token, answer('go@1'))).toEqual(both);
    const half = [...answer('one@1'), ...invalid('two@1')];
    const again = suspended(await host.resume(both.token, half));
    expect(again.steps).toMatchObject([{ stepId: 'two@1', reason: expect.any(String) }]);
    expect(await host.resume(both.token, half)).toEqual(again);
    const shown = suspended(await host.resume(again.token, answer('two@1')));
    expect(shown.content).toEqual([large]);
    expect(await host.resume(again.token, answer('two@1'))).toEqual(shown);
    expect(Math.max(...kept)).toBeLessThan(5_000);
  });

  test('[T13] [R5] make a repeated request retryable if their version is gone', async () => {
    const store = memoryStore();
    const options = { store, keys: generateKey() };
    const host = hostOf([asking], options);
    const newer = hostOf(
      [
        saga({ name: 'asking', version: '2' }, function* () {
          yield* checkpoint();
        }),
      ],
      options,
    );
    const { token } = suspended(await host.start('asking', {}));
    const both = await host.resume(token, answer('go'));
    const refused = await newer.resume(token, answer('go')).catch((error: unknown) => ({ error }));
    expect(refused).toMatchObject({ error: { code: 'version_gone' } });
    expect(await host.resume(token, answer('go'))).toEqual(both);
  });

  test('[T13] [R3] are the same in a request repeated to code with a new `patched` before them', async () => {
    const release = (isNew: boolean) =>
      saga({ name: 'asking', version: '1' }, function* () {
        yield* elicit('go', { message: 'Go?', schema: Ok });
        if (isNew && (yield* patched('ends'))) return 'patched';
        yield* elicit('one', { message: `${large} One?`, schema: Ok });
        return 'answered';
      });
    const options = { store: memoryStore(), keys: generateKey() };
    const [host, newer] = [hostOf([release(false)], options), hostOf([release(true)], options)];
    const { token } = suspended(await host.start('asking', {}));
    const first = suspended(await host.resume(token, answer('go')));
    const again = suspended(await newer.resume(token, answer('go')));
    expect(again).toEqual(first);
    expect(await newer.resume(again.token, answer('one'))).toMatchObject({ result: 'answered' });
  });
});

describe('a turn without progress', () => {
  const did: string[] = [];
  const paying = saga({ name: 'paying', version: '1' }, function* () {
    const { ok } = yield* elicit('pay', { message: 'Pay?', schema: Ok });
    yield* step('pay', () => void did.push(`pay ${ok}`));
    yield* elicit('more', { message: 'More?', schema: Ok });
    return 'paid';
  });

  test('[T11] [T13] stores nothing for answers that are asked for again', async () => {
    const { store, kept } = counted();
    const client = await floodingClient(store);
    await client.answerWrongly(20);
    expect(kept).toEqual([]);
    await client.answer(1);
    expect(kept).toHaveLength(1);
  });

  test('[T13] [W4] keeps its token valid for one other answer, with the reason for asking again', async () => {
    did.length = 0;
    const host = hostOf([paying], { store: memoryStore() });
    const { token, turn } = suspended(await host.start('paying', {}));
    const again = suspended(await host.resume(token, invalid('pay')));
    expect(again).toMatchObject({ turn, steps: [{ stepId: 'pay', reason: expect.any(String) }] });
    expect(suspended(await host.resume(token, invalid('pay'))).steps).toEqual(again.steps);
    const next = await host.resume(token, answer('pay'));
    // Both tokens belong to one turn, and only one of them can be used.
    expect(await host.resume(again.token, answer('pay'))).toEqual(next);
    await expect(host.resume(again.token, answer('pay', false))).rejects.toThrow(TokenRefused);
    await expect(host.resume(token, invalid('pay'))).rejects.toThrow(TokenRefused);
    expect(did).toEqual(['pay true']);
  });

  test('[T13] [E9] uses up its token if it was interrupted', async () => {
    did.length = 0;
    const clock = testClock();
    const store = memoryStore({ clock });
    const options = { testing: { clock }, keys: generateKey() };
    const dying = hostOf([paying], {
      ...options,
      store: storeWithGuard(() => ({ forget: gone, release: gone }), store),
    });
    const host = hostOf([paying], { ...options, store });
    const { token, turn } = suspended(await host.start('paying', {}));
    await expect(dying.resume(token, invalid('pay'))).rejects.toMatchObject({ code: 'guard_down' });
    clock.now += 61_000;
    const again = suspended(await host.resume(token, invalid('pay')));
    expect(again).toMatchObject({ turn: turn + 1, steps: [{ stepId: 'pay' }] });
    expect(await host.resume(again.token, answer('pay'))).toMatchObject({
      steps: [{ stepId: 'more' }],
    });
    expect(did).toEqual(['pay true']);
  });

  test('[T13] [W6] stores nothing during a wait, and counts the rounds of its client', async () => {
    const clock = testClock();
    const { store, kept } = counted(clock);
    const rounds = new Set<number>();
    const sleeping = saga({ name: 'sleeping', version: '1' }, function* () {
      yield* sleep(hour);
      yield* sleep(hour);
      return 'rested';
    });
    const host = hostOf([sleeping], { store, testing: { clock } });
    const dialect = {
      maxHold: 0,
      maxWait: (round: number) => (rounds.add(round), Number.POSITIVE_INFINITY),
    };
    let { token } = suspended(await coreOf(host).start('sleeping', {}, {}, { dialect }));
    for (let round = 0; round < 3; round += 1) {
      ({ token } = suspended(await coreOf(host).resume(token, [], {}, { dialect })));
    }
    expect(kept).toEqual([]);
    expect([...rounds]).toEqual([1, 2, 3, 4]);
    clock.now += hour;
    ({ token } = suspended(await coreOf(host).resume(token, [], {}, { dialect })));
    expect(kept).toHaveLength(1);
    expect([...rounds].at(-1)).toBe(5);
    clock.now += hour;
    expect(await host.resume(token, [])).toMatchObject({ result: 'rested' });
  });
});

describe('a long saga', () => {
  const did: string[] = [];
  const touring = saga({ name: 'touring', version: '1' }, function* () {
    for (let stop = 0; stop < 60; stop += 1) {
      yield* elicit('next', { message: 'Next?', schema: Ok });
      yield* step('visit', () => void did.push(`${stop}`));
    }
    return 'home';
  });
  const idAt = (index: number): string => (index === 0 ? 'next' : `next#${index + 1}`);

  test('[T11] has two responses stored, and an older request gets the newest when it is repeated', async () => {
    did.length = 0;
    const memory = memoryStore();
    let stored = 0;
    const bodies = new Map<string, number>();
    const store: SagaStore = {
      ...memory,
      write: async (key, value, expected, options) => {
        const written = await memory.write(key, value, expected, options);
        bodies.set(key.name, value.body?.length ?? 0);
        for (const name of bodies.keys())
          bodies.set(name, (await memory.read({ ...key, name }))?.body?.length ?? 0);
        stored = Math.max(stored, sum([...bodies.values()]));
        return written;
      },
    };
    const host = hostOf([touring], { store });
    let turn = suspended(await host.start('touring', {}));
    const requests: [string, StepAnswer[]][] = [];
    for (let index = 0; index < 59; index += 1) {
      requests.push([turn.token, answer(idAt(index))]);
      turn = suspended(await host.resume(turn.token, answer(idAt(index))));
    }
    const longest = Math.max(...bodies.values());
    expect([...bodies.values()].filter((length) => length > 0)).toHaveLength(2);
    // The request of a turn that runs is small.
    expect(stored).toBeLessThan(3 * longest);
    const before = requests.splice(-2, 1);
    for (const request of requests) expect(await host.resume(...request)).toEqual(turn);
    for (const request of before)
      expect(await host.resume(...request)).toMatchObject({ turn: turn.turn - 1 });
    // Other answers to a used token stay refused, also when its response is gone.
    const [[token] = ['']] = requests;
    await expect(host.resume(token, answer(idAt(0), false))).rejects.toThrow(TokenRefused);
    await expect(host.resume(token, [])).rejects.toThrow(TokenRefused);
    expect(did).toHaveLength(59);
    expect(await host.resume(turn.token, answer(idAt(59)))).toMatchObject({ result: 'home' });
    expect(await host.resume(token, answer(idAt(0)))).toMatchObject({ result: 'home' });
  });

  test('[T13] [W4] returns each of its pages again', async () => {
    const reading = saga({ name: 'reading', version: '1' }, function* () {
      for (let page = 1; page < 6; page += 1) yield* checkpoint(`page ${page}`);
      return 'the end';
    });
    const host = hostOf([reading], { store: memoryStore() });
    const pages = [suspended(await host.start('reading', {}))];
    for (let count = 1; count < 5; count += 1)
      pages.push(suspended(await host.resume(pages.at(-1)?.token ?? '')));
    expect(await host.resume(pages.at(-1)?.token ?? '')).toMatchObject({ result: 'the end' });
    for (const [index, { token }] of pages.entries())
      if (index < 4) expect(await host.resume(token)).toEqual(pages[index + 1]);
  });

  test('[T13] tells its store nothing by which an answer could be guessed', async () => {
    const memory = memoryStore();
    const host = hostOf([touring], { store: memory });
    const decisions = await Promise.all(
      [1, 2].map(async () => {
        const { token, sagaId } = suspended(await host.start('touring', {}));
        await host.resume(token, answer('next'));
        const { head = '{}' } = (await memory.read({ group: sagaId, name: 'turn:1' })) ?? {};
        return (JSON.parse(head) as { readonly decisions: readonly string[] }).decisions;
      }),
    );
    expect(decisions.flat()).toHaveLength(2);
    expect(new Set(decisions.flatMap(([one = '']) => [one.slice(0, 8), one.slice(8)])).size).toBe(
      4,
    );
  });

  test('[T13] gives no response of another saga or turn for a forgotten one', async () => {
    const memory = memoryStore();
    let swapped: string | undefined;
    const store: SagaStore = {
      ...memory,
      read: async (key) => {
        const entry = await memory.read(key);
        return entry === undefined || swapped === undefined || entry.body === undefined
          ? entry
          : { ...entry, body: swapped };
      },
    };
    const host = hostOf([touring], { store });
    const first = suspended(await host.start('touring', {}));
    let turn = first;
    const responses: (string | undefined)[] = [];
    for (let index = 0; index < 4; index += 1) {
      const { sagaId: group, token } = turn;
      const name = `turn:${turn.turn}`;
      turn = suspended(await host.resume(token, answer(idAt(index))));
      responses.push((await memory.read({ group, name }))?.body);
    }
    // The newest turn is the fourth.
    for (const at of [0, 1, 2]) {
      swapped = responses[at];
      await expect(host.resume(first.token, answer(idAt(0)))).rejects.toThrow(TokenRefused);
    }
    swapped = undefined;
    expect(await host.resume(first.token, answer(idAt(0)))).toEqual(turn);
  });
});

describe('limits of the bytes that a guard stores', () => {
  const undone: string[] = [];
  const looping = saga({ name: 'looping', version: '1' }, function* () {
    yield* step('pay', () => undefined, { compensate: () => void undone.push('pay') });
    for (;;) yield* elicit('more', { message: 'More?', schema: Ok });
  });

  const idAt = (index: number): string => (index === 0 ? 'more' : `more#${index + 1}`);

  test('[T11] refuse a turn of a saga at its limit until entries expire', async () => {
    undone.length = 0;
    const clock = testClock();
    const { store, kept } = counted(clock);
    const rejections: string[] = [];
    const told: RateLimitFacts[] = [];
    const limits = { maxKeptBytes: 10_000 };
    const host = hostOf([looping], {
      store,
      testing: { clock },
      limits: { ...limits, tokenTtl: 10 * hour },
      auth: { rateLimit: (facts) => told.push(facts) > 0 },
      hooks: { onTurn: () => undefined, onReject: ({ reason }) => void rejections.push(reason) },
    });
    let turn = suspended(await host.start('looping', {}));
    let request: [string, StepAnswer[]] = [turn.token, answer(idAt(0))];
    let refusal: unknown;
    for (let index = 0; refusal === undefined && index < 100; index += 1) {
      const asked: [string, StepAnswer[]] = [turn.token, answer(idAt(index))];
      try {
        turn = suspended(await host.resume(...asked));
        request = asked;
      } catch (error) {
        refusal = error;
      }
    }
    expect(refusal).toMatchObject({ code: 'guard_full', public: true });
    expect(rejections).toEqual(['guard_full']);
    // The last two responses, and the heads of the others.
    const stored = sum(kept.slice(-2)) + 250 * (kept.length - 2);
    expect(sum(kept)).toBeGreaterThan(2 * stored);
    // The estimate of the hook is close to the stored bytes.
    const { keptBytes = 0 } = told.at(-1) ?? {};
    expect(keptBytes / stored).toBeGreaterThan(0.7);
    expect(keptBytes / stored).toBeLessThan(1.3);
    // A stored response is returned, and the token is valid again later.
    expect(await host.resume(...request)).toEqual(turn);
    clock.now += 5 * hour;
    expect(await host.resume(turn.token, answer(idAt(kept.length)))).toMatchObject({
      status: 'suspended',
    });
    expect(undone).toEqual([]);
  });

  test('[T11] [E8] never refuse a cancellation', async () => {
    undone.length = 0;
    const limits = { maxKeptBytes: 1 };
    const host = hostOf([looping], { store: memoryStore(), shortTokens: false, limits });
    const caller = { principal: { subject: 'ada', client: 'app' } };
    const { token } = suspended(await host.start('looping', {}, { caller }));
    const next = suspended(await host.resume(token, answer('more'), { caller }));
    await expect(host.resume(next.token, answer('more#2'), { caller })).rejects.toMatchObject({
      code: 'guard_full',
    });
    expect(await host.cancel(next.token, { caller })).toMatchObject({
      compensated: [{ stepId: 'pay' }],
    });
    expect(undone).toEqual(['pay']);
  });

  test('[T11] refuse a turn of a principal at its limit, over all sagas', async () => {
    const { store, kept } = counted();
    const host = hostOf([looping], { store, limits: { maxKeptBytes: 10_000 } });
    const began = async (subject: string): Promise<unknown> => {
      const caller = { principal: { subject, client: 'app' } };
      const { token } = suspended(await host.start('looping', {}, { caller }));
      return await host.resume(token, answer('more'), { caller }).catch((error: unknown) => error);
    };
    const turns: unknown[] = [];
    for (let index = 0; index < 20; index += 1) {
      turns.push(await began('eve'));
    }
    expect(turns.at(-1)).toMatchObject({ code: 'guard_full' });
    expect(sum(kept)).toBeLessThan(14_000);
    expect(await began('ada')).toMatchObject({ status: 'suspended' });
  });
});
