import { describe, expect, test } from 'vitest';
import { elicit, saga, step, type SagaHost } from '@mcp-saga/server';
import * as z from 'zod';
import { accept, completed, hostOf, newKey, oldKey, say, suspended } from '../fixtures/host.ts';
import { asking, complexTool, noting } from '../fixtures/sagas.ts';
import { start, testClock } from '../fixtures/clock.ts';

describe('a saga, turn by turn', () => {
  test('[R1, E1] asks the user and the model, runs the step once, and completes', async () => {
    const deployments: string[] = [];
    const { host, told } = hostOf(complexTool((key) => deployments.push(key)));

    const first = suspended(await host.start('complex_tool', { initial_arg: 'value' }));
    expect(first).toMatchObject({ saga: 'complex_tool', turn: 1, expiresAt: start + 3_600_000 });
    expect(first.steps).toStrictEqual([
      {
        type: 'elicitation',
        stepId: 'step-elicitation-A',
        params: {
          message: 'Please provide the deployment target:',
          requestedSchema: {
            type: 'object',
            properties: { target: { type: 'string' } },
            required: ['target'],
          },
        },
      },
    ]);

    const answer = accept('step-elicitation-A', { target: 'production' });
    const second = suspended(await host.resume(first.token, [answer]));
    expect(second.steps).toStrictEqual([
      {
        type: 'sampling',
        stepId: 'step-sampling-B',
        params: {
          messages: [
            {
              role: 'user',
              content: { type: 'text', text: "Is deploying to 'production' safe right now?" },
            },
          ],
          maxTokens: 100,
        },
      },
    ]);
    expect(deployments).toEqual([]);

    const third = completed(
      await host.resume(second.token, [answer, say('step-sampling-B', 'Yes.')]),
    );
    expect(third).toMatchObject({
      result: 'Deployment to production initiated successfully based on confirmation.',
      sagaId: first.sagaId,
      turn: 3,
    });
    expect(deployments).toHaveLength(1);
    expect(told.turns.map(({ turn, status, tokenBytes }) => [turn, status, tokenBytes])).toEqual([
      [1, 'suspended', first.token.length],
      [2, 'suspended', second.token.length],
      [3, 'completed', 0],
    ]);
    expect(told.errors).toEqual([]);
  });

  test('[P2] is served in turns by hosts that share only the key', async () => {
    const [one, two, three] = [
      hostOf(complexTool()).host,
      hostOf(complexTool()).host,
      hostOf(complexTool()).host,
    ];
    const first = suspended(await one.start('complex_tool', { initial_arg: 'value' }));
    const second = suspended(
      await two.resume(first.token, [accept('step-elicitation-A', { target: 'eu' })]),
    );
    const third = completed(await three.resume(second.token, [say('step-sampling-B', 'Yes.')]));
    expect(third.result).toContain('Deployment to eu');
  });

  test('[P2] continues between the fast and the portable implementation in any order', async () => {
    const fast = hostOf(complexTool(), { testing: { sealing: 'fast' } }).host;
    const portable = hostOf(complexTool(), { testing: { sealing: 'portable' } }).host;
    for (const [one, two, three] of [
      [fast, portable, fast],
      [portable, fast, portable],
      [portable, portable, portable],
    ] as const) {
      const first = suspended(await one.start('complex_tool', { initial_arg: 'value' }));
      const second = suspended(
        await two.resume(first.token, [accept('step-elicitation-A', { target: 'eu' })]),
      );
      expect((await three.resume(second.token, [say('step-sampling-B', 'Yes.')])).status).toBe(
        'completed',
      );
    }
  });

  test('[W4] asks again if the answer is missing, and accepts only the new answer', async () => {
    const { host } = hostOf(asking());
    const first = suspended(await host.start('asking', undefined));
    const again = suspended(await host.resume(first.token));
    expect(again.steps).toStrictEqual(first.steps);
    expect(again.turn).toBe(2);
    expect(
      completed(await host.resume(again.token, [accept('target', { target: 'x' })])).result,
    ).toBe('x');
  });

  test('[E10] rejects a token of an unserved version, keeps the token valid, and reports it to the hook', async () => {
    const { host: old } = hostOf(asking());
    const first = suspended(await old.start('asking', {}));
    const { host, told } = hostOf(asking('asking', '2'));
    await expect(host.resume(first.token)).rejects.toMatchObject({
      code: 'version_gone',
      public: true,
    });
    expect(told.turns).toEqual([]);
    expect(told.errors).toMatchObject([{ code: 'version_gone', cause: { code: 'version_gone' } }]);
    expect(
      completed(await old.resume(first.token, [accept('target', { target: 'x' })])).result,
    ).toBe('x');
  });

  test('[U4] returns a token between two steps when the budget of a turn is used up', async () => {
    const runs: string[] = [];
    const clock = testClock();
    const long = saga({ name: 'long', version: '1' }, function* () {
      for (const key of ['a', 'b', 'c']) {
        yield* step('work', () => (runs.push(key), (clock.now += 20_000)), { key });
      }
      return 'done';
    });
    const { host } = hostOf(long, { clock, limits: { turnBudget: 25_000 } });
    const first = suspended(await host.start('long', {}));
    expect(first).toMatchObject({ steps: [], retryAfterMs: 0 });
    expect(runs).toEqual(['a', 'b']);
    expect(completed(await host.resume(first.token)).result).toBe('done');
    expect(runs).toEqual(['a', 'b', 'c']);
  });

  test('[E1] returns a token before the first step with an undo, if the host says so', async () => {
    const keys: string[] = [];
    const careful = saga({ name: 'careful', version: '1', reuse: 'ok' }, function* () {
      yield* step('charge', ({ idempotencyKey }) => keys.push(idempotencyKey), {
        compensate: () => undefined,
      });
      return 'charged';
    });
    expect((await hostOf(careful).host.start('careful', {})).status).toBe('completed');
    keys.length = 0;
    const { host } = hostOf(careful, { starts: { unkeyed: 'handshake' } });
    const { token, steps } = suspended(await host.start('careful', {}));
    expect([steps, keys]).toEqual([[], []]);
    await host.resume(token);
    await host.resume(token);
    expect(keys[0]).toBe(keys[1]);
  });

  test('[T6, W4] asks again if the question of an answer has changed', async () => {
    let message = 'Pay 1?';
    const paying = saga({ name: 'paying', version: '1' }, function* () {
      yield* elicit('sure', { message, schema: z.object({}) });
      return 'paid';
    });
    const { host, told } = hostOf(paying);
    const first = suspended(await host.start('paying', {}));
    message = 'Pay 1000?';
    const again = suspended(await host.resume(first.token, [accept('sure', {})]));
    expect(again.steps).toMatchObject([{ stepId: 'sure', params: { message: 'Pay 1000?' } }]);
    expect(told.ignored).toEqual([{ stepId: 'sure', why: 'asked otherwise' }]);
    expect((await host.resume(again.token, [accept('sure', {})])).status).toBe('completed');
  });

  test('offers no cancellation', async () => {
    const { host } = hostOf(asking());
    const { token } = suspended(await host.start('asking', {}));
    await expect(host.cancel(token)).rejects.toMatchObject({ code: 'cancel_not_offered' });
  });

  test('[U4] keeps the previous token valid after an aborted turn, and undoes nothing', async () => {
    const runs: string[] = [];
    const aborting = new AbortController();
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: z.object({}) });
      yield* step('work', ({ signal }) => {
        runs.push('begun');
        aborting.abort(new Error('gone'));
        runs.push(signal.aborted ? 'aborted' : 'not aborted');
        return 1;
      });
      yield* step('more', () => runs.push('more'));
      return 'done';
    });
    const { host } = hostOf(slow);
    const { token } = suspended(await host.start('slow', {}));
    const resumed = host.resume(token, [accept('go', {})], { signal: aborting.signal });
    await expect(resumed).rejects.toMatchObject({ code: 'turn_aborted' });
    expect(runs).toEqual(['begun', 'aborted']);
    expect(completed(await host.resume(token, [accept('go', {})])).result).toBe('done');
  });
});

describe('two concurrent requests with one token', () => {
  test('[E1] get equal results and equal idempotency keys', async () => {
    const keys = new Map<string, string[]>();
    const { host } = hostOf(noting(keys));
    const first = suspended(await host.start('noting', {}));
    const answers = [accept('first', { target: 'x' })];
    const [one, two] = await Promise.all([
      host.resume(first.token, answers),
      host.resume(first.token, answers),
    ]);
    expect(suspended(one).steps).toStrictEqual(suspended(two).steps);
    const [key, other] = keys.get('between') ?? [];
    expect(key).toBe(other);
    const ends = await Promise.all(
      [one, two].map((turn) =>
        host.resume(suspended(turn).token, [accept('second', { target: 'y' })]),
      ),
    );
    expect(ends.map((turn) => completed(turn).result)).toEqual(['noted', 'noted']);
  });
});

/** All idempotency keys of one saga. */
async function keysOfOne(): Promise<readonly string[]> {
  const keys = new Map<string, string[]>();
  const { host } = hostOf(noting(keys));
  const first = suspended(await host.start('noting', {}));
  const second = suspended(await host.resume(first.token, [accept('first', { target: 'x' })]));
  await host.resume(second.token, [accept('second', { target: 'y' })]);
  return [...keys.values()].flat();
}

describe('idempotency keys', () => {
  test('[E1, T8] are the same when a request is repeated, and on every fork', async () => {
    const keys = new Map<string, string[]>();
    const { host } = hostOf(noting(keys));
    const first = suspended(await host.start('noting', {}));
    for (const target of ['x', 'x', 'y'])
      await host.resume(first.token, [accept('first', { target })]);
    expect(new Set(keys.get('between')).size).toBe(1);
    expect(keys.get('between')).toHaveLength(3);
  });

  test('[E1, T7, T8] are the same during a key rotation: old, old+new, new+old, new', async () => {
    const keys = new Map<string, string[]>();
    const before = hostOf(noting(keys), { keys: oldKey }).host;
    const opening = hostOf(noting(keys), { keys: `${oldKey},${newKey}` }).host;
    const sealing = hostOf(noting(keys), { keys: `${newKey},${oldKey}` }).host;
    const after = hostOf(noting(keys), { keys: newKey }).host;
    const first = suspended(await before.start('noting', {}));
    const second = async (host: SagaHost): Promise<string> =>
      suspended(await host.resume(first.token, [accept('first', { target: 'x' })])).token;
    const sealedOld = [await second(before), await second(opening)];
    const sealedNew = await second(sealing);
    expect(keys.get('between')).toHaveLength(3);
    expect(new Set(keys.get('between')).size).toBe(1);
    expect((await after.inspect(sealedNew)).keyId).toBe('new');

    const last = [accept('second', { target: 'y' })];
    for (const token of [...sealedOld, sealedNew]) await sealing.resume(token, last);
    await after.resume(sealedNew, last);
    expect(keys.get('item(a)')).toHaveLength(4);
    expect(new Set(keys.get('item(a)')).size).toBe(1);
    for (const token of sealedOld) {
      await expect(after.resume(token, last)).rejects.toMatchObject({ reason: 'unknown_key' });
    }
  });

  test('[T8] differ by saga, path and key', async () => {
    const all = [...(await keysOfOne()), ...(await keysOfOne())];
    expect(all).toHaveLength(8);
    expect(new Set(all).size).toBe(8);
    for (const key of all) expect(key).toMatch(/^[\w-]{43}$/);
  });
});

describe('inspect', () => {
  const secrets = ['kq-argument', 'kq-answer', 'kq-result'];
  const carrying = saga(
    { name: 'carrying', version: '1', input: z.object({ note: z.string() }) },
    function* () {
      yield* step('fetch', () => 'kq-result');
      yield* elicit('target', { message: 'Where?', schema: z.object({ target: z.string() }) });
      yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
      return 'done';
    },
  );

  test('returns claims, timeline, and sizes, without values', async () => {
    const { host } = hostOf(carrying);
    const first = suspended(
      await host.start(
        'carrying',
        { note: 'kq-argument' },
        { caller: { principal: { subject: 'ada', client: 'app' } } },
      ),
    );
    const second = suspended(
      await host.resume(first.token, [accept('target', { target: 'kq-answer' })], {
        caller: { principal: { subject: 'ada', client: 'app' } },
      }),
    );
    const seen = await host.inspect(second.token);
    expect(seen).toMatchObject({
      sagaId: first.sagaId,
      keyId: 'old',
      expired: false,
      tokenBytes: second.token.length,
      claims: {
        method: 'host',
        entry: { target: 'carrying' },
        saga: { name: 'carrying', version: '1' },
        turn: 2,
        born: start,
        iat: start,
        exp: start + 3_600_000,
      },
    });
    expect(seen.timeline?.map(({ kind, path, outcome }) => [kind, path, outcome])).toEqual([
      ['input', '', 'parsed'],
      ['step', 'fetch', 'done'],
      ['elicit', 'target', 'accepted'],
    ]);
    expect(seen.timeline?.map(({ bytes }) => bytes)).toEqual([
      JSON.stringify({ note: 'kq-argument' }).length,
      JSON.stringify('kq-result').length,
      JSON.stringify({ target: 'kq-answer' }).length,
    ]);
    for (const secret of secrets) expect(JSON.stringify(seen)).not.toContain(secret);
    expect(JSON.stringify(seen)).not.toContain(second.token.split('.')[3]);
  });

  test('opens expired tokens, and tokens of a saga that is no longer served', async () => {
    const { host, clock } = hostOf(carrying);
    const { token } = suspended(await host.start('carrying', { note: '' }));
    clock.now += 90 * 24 * 3_600_000;
    expect(await host.inspect(token)).toMatchObject({ expired: true });
    const other = hostOf(asking(), { clock }).host;
    expect(await other.inspect(token)).toMatchObject({ expired: true, timeline: undefined });
  });

  test('refuses a text that is not a token of this host', async () => {
    const { host } = hostOf(carrying);
    const { token } = suspended(await host.start('carrying', { note: '' }));
    await expect(hostOf(carrying, { audience: 'other' }).host.inspect(token)).rejects.toMatchObject(
      {
        code: 'refused',
      },
    );
    await expect(host.inspect('nonsense')).rejects.toMatchObject({ code: 'refused' });
  });
});
