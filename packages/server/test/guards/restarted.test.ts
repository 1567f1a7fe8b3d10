import { describe, expect, test } from 'vitest';
import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { accept, completed, failed, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';

const day = 24 * 3_600_000;

function asking(reuse?: 'ok', ran: string[] = []) {
  return saga({ name: 'asking', version: '1', reuse }, function* () {
    yield* step('reserve', () => void ran.push('reserve'), {
      compensate: () => void ran.push('release'),
    });
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', () => void ran.push('charge'), { once: true });
    return 'charged';
  });
}

/** A host in a process that starts now. */
function restarted(
  program: ReturnType<typeof asking>,
  clock: TestClock,
  olderTokens?: 'refuse' | 'accept',
): ReturnType<typeof hostOf> {
  const store = memoryStore(olderTokens === undefined ? { clock } : { clock, olderTokens });
  return hostOf(program, { clock, store });
}

describe('a store in memory that was restarted', () => {
  test('[T13] refuses a token from before the restart, with a reason of its own', async () => {
    const clock = testClock();
    const program = asking();
    const before = restarted(program, clock);
    const { token } = suspended(await before.host.start('asking', {}));
    await before.host.resume(token, [accept('sure', {})]);
    clock.now += 1;
    const { host, told } = restarted(program, clock);
    await expect(host.resume(token, [accept('sure', {})])).rejects.toMatchObject({
      code: 'refused',
      reason: 'guard_restarted',
    });
    await expect(host.cancel(token)).rejects.toMatchObject({ reason: 'guard_restarted' });
    expect(told.rejections.map(({ reason }) => reason)).toEqual([
      'guard_restarted',
      'guard_restarted',
    ]);
  });

  test('[T13] accepts every token that was issued since the first host with it was created', async () => {
    const clock = testClock();
    const program = asking();
    const store = memoryStore({ clock });
    const first = hostOf(program, { clock, store });
    const { token } = suspended(await first.host.start('asking', {}));
    clock.now += 1;
    const second = hostOf(program, { clock, store });
    expect(completed(await second.host.resume(token, [accept('sure', {})])).result).toBe('charged');
  });

  test('[T13] starts at the time of its host', async () => {
    const clock = testClock();
    const { host } = hostOf(asking(), { clock, store: memoryStore() });
    const { token } = suspended(await host.start('asking', {}));
    expect(completed(await host.resume(token, [accept('sure', {})])).status).toBe('completed');
  });

  test("[T13] accepts older tokens if `olderTokens` is 'accept', and gives no warning", async () => {
    const clock = testClock();
    const program = asking();
    const { token } = suspended(await restarted(program, clock).host.start('asking', {}));
    clock.now += 1;
    const { host, told } = restarted(program, clock, 'accept');
    expect(completed(await host.resume(token, [accept('sure', {})])).result).toBe('charged');
    expect(told.warnings).toEqual([]);
  });

  test('[T13] runs no `once` step of an older saga with `reuse`, because the step may have run', async () => {
    const clock = testClock();
    const ran: string[] = [];
    const program = asking('ok', ran);
    const { token } = suspended(await restarted(program, clock).host.start('asking', {}));
    clock.now += 1;
    const { host } = restarted(program, clock);
    const turn = failed(await host.resume(token, [accept('sure', {})]));
    expect(turn.error).toMatchObject({ code: 'outcome_unknown' });
    expect(ran).not.toContain('charge');
  });

  test('[E8] accepts messages from before the restart, so that a queue undoes these sagas', async () => {
    const clock = testClock();
    const ran: string[] = [];
    const program = asking(undefined, ran);
    const queue = recordingQueue();
    const before = hostOf(program, { clock, store: memoryStore({ clock }), queue });
    await before.host.start('asking', {});
    const { message, at } = queue.sent.at(-1) as Sent;
    clock.now = at + day;
    const { host } = hostOf(program, { clock, store: memoryStore({ clock }), queue });
    expect(await host.deliver(message)).toMatchObject({ status: 'ended' });
    expect(ran).toEqual(['reserve', 'release']);
  });

  test.each([
    ['production', 1],
    [undefined, 1],
    ['development', 0],
    ['test', 0],
  ])('[T13] warns at the start if NODE_ENV is %s: %i times', (environment, times) => {
    const store = memoryStore();
    const { told } = hostOf(asking(), { store, testing: { environment } });
    expect(told.warnings.filter((message) => message.includes('olderTokens'))).toHaveLength(times);
  });

  test('[T13] refuses an unknown option, and suggests the right name', () => {
    expect(() => memoryStore({ olderToken: 'accept' } as never)).toThrow(
      "Did you mean 'olderTokens'?",
    );
    expect(() => memoryStore({ olderTokens: 'keep' } as never)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
    expect(() => memoryStore((() => 1) as never)).toThrow(/^memoryStore: expected an object of/);
  });
});
