import { createKeyRing, createSealer } from '@mcp-saga/seal';
import { continueAs, elicit, memoryStore, saga, step, type Program } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { start, testClock } from '../fixtures/clock.ts';
import { accept, completed, failed, hostOf, oldKey, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { rareMembersOf } from '../fixtures/own-stream.ts';
import { asksInTask } from '../fixtures/task-sagas.ts';
import { recordingTelemetry } from '../fixtures/telemetry.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';

/** Rare members in the part of a sealed token that belongs to the host. */
async function ownOf(token: string): Promise<{ readonly [member: string]: unknown }> {
  const sealer = createSealer({
    ring: createKeyRing(oldKey),
    audience: 'deployer',
    clock: () => start,
  });
  const { streams } = await sealer.open(token, { purpose: 'token' });
  return rareMembersOf(streams[0]);
}

const asks = (message: string) => ({ message, schema: Empty });

const three = saga({ name: 'three', version: '1' }, function* () {
  yield* elicit('one', asks('One?'));
  yield* elicit('two', asks('Two?'));
  return 'done';
});

describe('the trace parent in a token', () => {
  test('[R4] is absent without telemetry', async () => {
    const { token } = suspended(await hostOf(three).host.start('three', {}));
    expect(await ownOf(token)).toEqual({});
  });

  test('[R4] [P2] is kept by a host without telemetry', async () => {
    const first = recordingTelemetry();
    const last = recordingTelemetry();
    const one = suspended(await hostOf(three, { telemetry: first }).host.start('three', {}));
    const two = suspended(await hostOf(three).host.resume(one.token, [accept('one', {})]));
    completed(await hostOf(three, { telemetry: last }).host.resume(two.token, [accept('two', {})]));
    expect(first.turns[0]?.begun).toMatchObject({ turn: 1, action: 'start', parent: undefined });
    expect(last.turns[0]?.begun).toMatchObject({ turn: 3, action: 'resume', parent: 'trace-of-1' });
  });

  test('begins in a later turn if the first turn was not traced', async () => {
    const telemetry = recordingTelemetry();
    const one = suspended(await hostOf(three).host.start('three', {}));
    const { host } = hostOf(three, { telemetry });
    const two = suspended(await host.resume(one.token, [accept('one', {})]));
    completed(await host.resume(two.token, [accept('two', {})]));
    expect(telemetry.turns.map(({ begun }) => begun.parent)).toEqual([undefined, 'trace-of-2']);
  });

  test('[T2] is encrypted, and a token with a changed byte does not open', async () => {
    const { host } = hostOf(three, { telemetry: recordingTelemetry() });
    const { token } = suspended(await host.start('three', {}));
    expect((await ownOf(token))['t']).toBe('trace-of-1');
    for (const part of token.split('.')) {
      expect(Buffer.from(part, 'base64url').toString('latin1')).not.toContain('trace-of-1');
    }
    const at = Math.floor(token.length / 2);
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    await expect(host.resume(changed)).rejects.toMatchObject({ code: 'refused' });
  });

  test('adds at most 86 characters to a token for a traceparent', async () => {
    const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const grown = new Set<number>();
    // Names of all lengths: tokens are padded to the next 64 bytes.
    for (let length = 1; length <= 64; length += 1) {
      const named = saga({ name: 'n'.repeat(length), version: '1' }, function* () {
        yield* elicit('one', asks('One?'));
        return 'done';
      });
      const traced = hostOf(named, { telemetry: recordingTelemetry(() => parent) });
      const [without, withParent] = await Promise.all([
        hostOf(named).host.start(named.name, {}),
        traced.host.start(named.name, {}),
      ]);
      grown.add(suspended(withParent).token.length - suspended(without).token.length);
    }
    expect(Math.max(...grown)).toBe(86);
  });

  test.each([
    ['a parent that is too long', 'x'.repeat(601)],
    ['an empty parent', ''],
    ['a line break', 'one\ntwo'],
    ['a parent outside of ASCII', 'é'],
    ['a number', 7 as never],
  ])('is absent, with an error to the hook, for %s', async (_, parent) => {
    const { host, told } = hostOf(three, { telemetry: recordingTelemetry(() => parent) });
    const { token } = suspended(await host.start('three', {}));
    expect(await ownOf(token)).not.toHaveProperty('t');
    expect(told.errors).toEqual([expect.any(TypeError)]);
  });

  test('may have 600 characters', async () => {
    const { host, told } = hostOf(three, { telemetry: recordingTelemetry(() => 'x'.repeat(600)) });
    const { token } = suspended(await host.start('three', {}));
    expect((await ownOf(token))['t']).toHaveLength(600);
    expect(await host.inspect(token)).toMatchObject({ trace: 'x'.repeat(600) });
    expect(told.errors).toEqual([]);
  });

  test('is kept across continueAs', async () => {
    const telemetry = recordingTelemetry();
    const over: Program = saga({ name: 'over', version: '1' }, function* () {
      yield* step('work', () => 1);
      yield* elicit('again', asks('Again?'));
      return yield* continueAs(three, {});
    });
    const { host } = hostOf([over, three], { telemetry });
    const one = suspended(await host.start('over', {}));
    const two = suspended(await host.resume(one.token, [accept('again', {})]));
    expect(two.saga).toBe('three');
    const { token } = suspended(await host.resume(two.token, [accept('one@1', {})]));
    expect(telemetry.turns.map(({ begun }) => [begun.saga, begun.parent])).toEqual([
      ['over', undefined],
      ['over', 'trace-of-1'],
      ['three', 'trace-of-1'],
    ]);
    // Ids as they are on the wire.
    expect(telemetry.turns[1]?.ends[0]?.asked).toEqual([{ stepId: 'one@1', type: 'elicitation' }]);
    expect(telemetry.turns[2]?.events).toEqual([
      { type: 'answered', kind: 'elicit', stepId: 'one@1' },
    ]);
    expect((await host.inspect(token)).trace).toBe('trace-of-1');
  });

  test('[E8] is in the message of a queue', async () => {
    expectLogs(restartLog);
    const telemetry = recordingTelemetry();
    const queue = recordingQueue();
    const clock = testClock();
    const paid = saga({ name: 'paid', version: '1' }, function* () {
      yield* step('charge', () => 1, { compensate: () => undefined });
      yield* elicit('sure', asks('Sure?'));
      return 'done';
    });
    const { host } = hostOf(paid, {
      telemetry,
      clock,
      store: memoryStore({ clock }),
      queue,
      hooks: { onTurn: () => undefined },
    });
    const { turn, sagaId } = suspended(await host.start('paid', {}));
    const { message, at } = queue.sent.at(-1) as Sent;
    clock.now = at;
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    const cancelled = telemetry.turns.at(-1);
    expect(cancelled?.begun).toMatchObject({
      turn: turn + 1,
      action: 'cancel',
      parent: 'trace-of-1',
    });
    expect(cancelled?.steps).toEqual([
      { begun: { stepId: 'charge', kind: 'undo', attempt: 1 }, ends: [undefined] },
    ]);
    expect(cancelled?.ends).toEqual([
      {
        status: 'failed',
        errorType: 'saga_cancelled',
        isFault: false,
        uncompensated: [],
        asked: [],
        tokenBytes: 0,
      },
    ]);
  });

  test('[E1] is the same in the undo turn that follows a guarded turn', async () => {
    const telemetry = recordingTelemetry();
    const clock = testClock();
    const paid = saga({ name: 'paid', version: '1' }, function* () {
      yield* elicit('go', asks('Go?'));
      yield* step('charge', () => 1, { compensate: () => undefined });
      throw new Error('no');
    });
    const { host } = hostOf(paid, { telemetry, clock, store: memoryStore({ clock }) });
    const { token } = suspended(await host.start('paid', {}));
    failed(await host.resume(token, [accept('go', {})]));
    expect(
      telemetry.turns.map(({ begun, steps, ends }) => [
        begun.turn,
        begun.parent,
        steps.length,
        ends[0]?.status,
      ]),
    ).toEqual([
      [1, undefined, 0, 'suspended'],
      [2, 'trace-of-1', 1, 'suspended'],
      [3, 'trace-of-1', 1, 'failed'],
    ]);
  });

  test('[W1] is the same in all turns of a task', async () => {
    const telemetry = recordingTelemetry();
    const clock = testClock();
    const store = memoryStore({ clock });
    const anonymous = { tasks: 'accept' } as const;
    const { host } = hostOf(asksInTask(), { telemetry, clock, anonymous, store });
    const client = taskClient(host);
    const taskId = await client.start('asks');
    await client.idle();
    await client.update(taskId, { target: { action: 'accept', content: { target: 'prod' } } });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
    expect(telemetry.turns.length).toBeGreaterThan(2);
    expect(telemetry.turns[0]?.begun.parent).toBeUndefined();
    for (const { begun } of telemetry.turns.slice(1)) expect(begun.parent).toBe('trace-of-1');
    expect(telemetry.turns.flatMap(({ steps }) => steps.map(({ begun }) => begun.stepId))).toEqual([
      'before',
      'after',
    ]);
  });
});
