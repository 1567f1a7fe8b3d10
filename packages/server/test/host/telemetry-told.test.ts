import { all, elicit, memoryStore, poll, saga, SagaError, sleep, step } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { errorTypeOf } from '../../src/turn/traced-turn.ts';
import { sent, served } from '../fixtures/calling.ts';
import { testClock } from '../fixtures/clock.ts';
import { accept, completed, failed, hostOf, suspended } from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';
import { recordingTelemetry } from '../fixtures/telemetry.ts';
import { coreOf } from '../../src/saga-host.ts';

const asks = (message: string) => ({ message, schema: Empty });

const three = saga({ name: 'three', version: '1' }, function* () {
  yield* elicit('one', asks('One?'));
  yield* elicit('two', asks('Two?'));
  return 'done';
});

test('every thrown value has an error type', () => {
  const odd = Object.defineProperty({}, 'code', {
    get: () => {
      throw new Error('secret');
    },
  });
  expect(errorTypeOf(odd)).toBe('_OTHER');
  expect(errorTypeOf(Object.assign(new Error('x'), { name: 'x'.repeat(64) }))).toHaveLength(64);
  expect(errorTypeOf(Object.assign(new Error('x'), { name: 'x'.repeat(65) }))).toBe('_OTHER');
});

describe('telemetry', () => {
  test('receives each attempt of a step, poll, and undo, and nothing replayed', async () => {
    const telemetry = recordingTelemetry();
    let builds = 0;
    const busy = saga({ name: 'busy', version: '1', reuse: 'ok' }, function* () {
      yield* all({
        a: step(
          'flaky',
          ({ attempt }) => {
            if (attempt === 1) throw Object.assign(new Error('secret'), { code: 'ECONNRESET' });
            return 1;
          },
          { retry: { attempts: 2, delay: 1 } },
        ),
        b: step('plain', () => 2, { compensate: () => undefined }),
      });
      yield* poll('build', () => (builds++ === 0 ? undefined : 'built'), {
        every: 1,
        timeout: 1000,
      });
      yield* elicit('go', asks('Go?'));
      yield* step('last', () => {
        throw new RangeError('secret');
      });
      return 'done';
    });
    const clock = testClock();
    const { host } = hostOf(busy, {
      telemetry,
      clock,
      testing: { sleep: async (ms) => void (clock.now += ms) },
    });
    const { token, expiresAt } = suspended(await host.start('busy', {}));
    failed(await host.resume(token, [accept('go', {})]));
    const [one, two] = telemetry.turns.map(({ steps }) =>
      steps.map(({ begun: { kind, stepId, attempt }, ends }) => [kind, stepId, attempt, ends]),
    );
    expect(one).toEqual([
      ['step', 'flaky', 1, ['ECONNRESET']],
      ['step', 'plain', 1, [undefined]],
      ['step', 'flaky', 2, [undefined]],
      ['poll', 'build', 1, [undefined]],
      ['poll', 'build', 2, [undefined]],
    ]);
    expect(two).toEqual([
      ['step', 'last', 1, ['RangeError']],
      ['undo', 'plain', 1, [undefined]],
    ]);
    expect(telemetry.turns.map(({ ends }) => ends)).toEqual([
      [
        {
          status: 'suspended',
          isFault: false,
          asked: [{ stepId: 'go', type: 'elicitation' }],
          tokenBytes: token.length,
          expiresAt,
        },
      ],
      [
        {
          status: 'failed',
          errorType: 'step_failed',
          isFault: true,
          uncompensated: [],
          asked: [],
          tokenBytes: 0,
        },
      ],
    ]);
  });

  test('ends an attempt that timed out, although its code still runs', async () => {
    const telemetry = recordingTelemetry();
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* step('hang', () => new Promise(() => undefined), { timeout: 5 });
      return 'done';
    });
    const { host } = hostOf(slow, { telemetry, testing: { sleep: async () => undefined } });
    failed(await host.start('slow', {}));
    expect(telemetry.turns[0]?.steps).toEqual([
      { begun: { stepId: 'hang', kind: 'step', attempt: 1 }, ends: ['timeout'] },
    ]);
  });

  test('receives a failed attempt if its result cannot be stored', async () => {
    const telemetry = recordingTelemetry();
    const odd = saga({ name: 'odd', version: '1' }, function* () {
      yield* step('odd', () => Symbol('secret') as never);
      return 'done';
    });
    failed(await hostOf(odd, { telemetry }).host.start('odd', {}));
    expect(telemetry.turns[0]?.steps[0]?.ends).toEqual([expect.stringMatching(/^\w+$/)]);
  });

  test('[T13] receives a repeated request as a turn without steps, if the guard has its response', async () => {
    const telemetry = recordingTelemetry();
    const clock = testClock();
    const guarded = saga({ name: 'guarded', version: '1' }, function* () {
      yield* elicit('go', asks('Go?'));
      yield* step('work', () => 1);
      return 'done';
    });
    const { host } = hostOf(guarded, { telemetry, clock, store: memoryStore({ clock }) });
    const { token } = suspended(await host.start('guarded', {}));
    completed(await host.resume(token, [accept('go', {})]));
    completed(await host.resume(token, [accept('go', {})]));
    await expect(host.resume(token, [accept('go', { x: 1 })])).rejects.toThrow(
      'Invalid or expired',
    );
    expect(
      telemetry.turns.map(({ begun, steps }) => [begun.action, begun.turn, steps.length]),
    ).toEqual([
      ['start', 1, 0],
      ['resume', 2, 1],
      ['repeat', 2, 0],
    ]);
    expect(telemetry.turns[2]?.begun.parent).toBe('trace-of-1');
    expect(telemetry.refusals).toEqual(['used']);
  });

  test('receives a poll that throws', async () => {
    const telemetry = recordingTelemetry();
    const polling = saga({ name: 'polling', version: '1' }, function* () {
      const broken = (): undefined => {
        throw new RangeError('secret');
      };
      yield* poll('parcel', broken, { every: 1, timeout: 1000 });
      return 'done';
    });
    failed(await hostOf(polling, { telemetry }).host.start('polling', {}));
    expect(telemetry.turns[0]?.steps).toEqual([
      { begun: { stepId: 'parcel', kind: 'poll', attempt: 1 }, ends: ['RangeError'] },
    ]);
  });

  test('receives the duration of a wait without questions', async () => {
    const telemetry = recordingTelemetry();
    const asleep = saga({ name: 'asleep', version: '1' }, function* () {
      yield* sleep(1_000_000);
      return 'done';
    });
    const { token, expiresAt } = suspended(
      await hostOf(asleep, { telemetry }).host.start('asleep', {}),
    );
    const waits = { asked: [], retryAfterMs: 1_000_000, tokenBytes: token.length, expiresAt };
    expect(telemetry.turns[0]?.ends).toEqual([{ status: 'suspended', isFault: false, ...waits }]);
  });

  test('[W7] receives no status request, inspection, or call that did not begin', async () => {
    const telemetry = recordingTelemetry();
    const { host } = hostOf(three, { telemetry });
    const { token } = suspended(await host.start('three', {}));
    await coreOf(host).status(token);
    await host.inspect(token);
    await expect(host.start('other', {})).rejects.toThrow('Unknown saga');
    await expect(host.start('three', 7)).rejects.toThrow('Invalid params');
    expect(telemetry.turns).toHaveLength(1);
  });

  test('receives a request whose saga version is gone', async () => {
    const telemetry = recordingTelemetry();
    const { token } = suspended(
      await hostOf(asking('gone', '1'), { telemetry }).host.start('gone', {}),
    );
    const { host } = hostOf(asking('gone', '2'), { telemetry });
    await expect(host.resume(token)).rejects.toMatchObject({ code: 'version_gone' });
    expect(telemetry.turns[1]).toMatchObject({
      begun: { saga: 'gone', version: '1', turn: 2, parent: 'trace-of-1' },
      ends: [{ status: 'rejected', errorType: 'version_gone', isFault: true }],
    });
  });

  test('receives a request that failed and left its token valid', async () => {
    const telemetry = recordingTelemetry();
    const { host } = hostOf(three, { telemetry });
    const one = suspended(await host.start('three', {}));
    const two = suspended(await host.resume(one.token, [accept('one', {})]));
    const aborted = AbortSignal.abort();
    await expect(host.resume(two.token, [], { signal: aborted })).rejects.toThrow('aborted');
    await expect(
      host.resume(two.token, [{ stepId: 'one', error: { code: 1, message: 'x' } }]),
    ).rejects.toMatchObject({ code: 'answer_conflict' });
    expect(telemetry.turns.slice(2).map(({ ends }) => ends[0])).toEqual([
      { status: 'rejected', errorType: 'turn_aborted', isFault: false, asked: [], tokenBytes: 0 },
      {
        status: 'rejected',
        errorType: 'answer_conflict',
        isFault: false,
        asked: [],
        tokenBytes: 0,
      },
    ]);
  });

  test.each([
    [
      { traceparent: 'a', tracestate: 'b' },
      { traceparent: 'a', tracestate: 'b' },
    ],
    [{ traceparent: 'a', tracestate: 7 }, { traceparent: 'a' }],
    [{ traceparent: 'a' }, { traceparent: 'a' }],
    [{ traceparent: ['a'], tracestate: 'b' }, undefined],
    [{}, undefined],
  ])(
    '[W1] receives the text fields of the trace context of a client: of _meta %j it is %j',
    async (meta, client) => {
      const telemetry = recordingTelemetry();
      const { server } = served([asking()], { telemetry });
      for (const era of ['modern', 'legacy'] as const) {
        await sent(server, era, { name: 'asking', _meta: meta });
      }
      expect(telemetry.turns.map(({ begun }) => begun.client)).toEqual([client, client]);
    },
  );

  test.each([
    ['its code', Object.assign(new Error('secret'), { code: 'card_declined' }), 'card_declined'],
    [
      'its name, if its code is not a word',
      Object.assign(new TypeError('x'), { code: 'a b' }),
      'TypeError',
    ],
    [
      'its name, if its code is a number',
      Object.assign(new TypeError('x'), { code: 7 }),
      'TypeError',
    ],
    ['the code that its author set', new SagaError('secret', { code: 'quota' }), 'quota'],
    [
      '_OTHER, if its name is not a word',
      Object.assign(new Error('x'), { name: 'the secret' }),
      '_OTHER',
    ],
    ['_OTHER, if it is a text', 'secret', '_OTHER'],
    ['_OTHER, if it is null', null, '_OTHER'],
  ])('receives of an error %s', async (_, thrown, errorType) => {
    const telemetry = recordingTelemetry();
    const failing = saga({ name: 'failing', version: '1' }, function* () {
      yield* step('fail', () => {
        throw thrown;
      });
      return 'done';
    });
    failed(await hostOf(failing, { telemetry }).host.start('failing', {}));
    expect(telemetry.turns[0]?.steps[0]?.ends).toEqual([errorType]);
  });

  test('receives nothing of an error that a client sent as an answer', async () => {
    const telemetry = recordingTelemetry();
    const { host } = hostOf(three, { telemetry });
    const { token } = suspended(await host.start('three', {}));
    failed(
      await host.resume(token, [
        { stepId: 'one', error: { code: 918_273, message: 'secret', data: 'secret' } },
      ]),
    );
    expect(telemetry.turns[1]?.ends[0]).toMatchObject({ errorType: 'step_failed', isFault: true });
    expect(JSON.stringify(telemetry.turns)).not.toMatch(/secret|918273/);
  });
});
