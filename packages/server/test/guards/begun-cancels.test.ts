import {
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  pivot,
  saga,
  sleep,
  step,
  type Program,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { minute } from '../queue/queued.ts';
import { answer, drivenQueue, gone, hour, Ok, recordedEnds } from './guarded-hosts.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

/** A host that dies before it stores a turn, a host that takes over, and their queue. */
function hostsOf(parcel: Program) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const queue = drivenQueue(clock, async (ms) => void (clock.now += ms));
  const ended = recordedEnds();
  const common = {
    sagas: [parcel],
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production', clock },
    queue: queue.queue,
    hooks: { ...ended.hooks, onError: () => undefined },
  };
  const dying = createSagaHost({
    ...common,
    store: storeWithGuard(() => ({ finish: gone }), store),
  });
  return { ...queue, ended, dying, host: createSagaHost({ ...common, store }) };
}

test('[E5] [E8] the queue finishes an interrupted cancellation past a pivot', async () => {
  const did: string[] = [];
  const parcel = saga({ name: 'parcel', version: '1' }, function* () {
    yield* pivot('paid');
    yield* step('pack', () => void did.push('pack'), { compensate: () => void did.push('unpack') });
    yield* checkpoint();
    yield* step('ship', () => void did.push('ship'));
    return 'on its way';
  });
  const { ended, newest, deliver, dying, host } = hostsOf(parcel);
  const { token, expiresAt } = suspended(await host.start('parcel', {}));
  await expect(dying.cancel(token)).rejects.toMatchObject({ code: 'guard_down' });
  expect(did).toEqual(['pack', 'unpack']);
  // Without the cancellation, this message would ship. The client may still repeat its request.
  const at = expiresAt + minute;
  expect(await deliver(host)).toMatchObject({ status: 'waiting', at });
  expect(did).toEqual(['pack', 'unpack']);
  const last = newest();
  expect(last.at).toBe(at);
  expect(await deliver(host)).toMatchObject({ status: 'ended' });
  expect(ended.last()).toEqual({ status: 'failed', uncompensated: [] });
  expect(await host.deliver(last.message)).toMatchObject({ status: 'ended' });
  expect(did).toEqual(['pack', 'unpack', 'unpack']);
});

describe('an interrupted turn that waits before any pivot', () => {
  async function interrupted() {
    const did: string[] = [];
    const parcel = saga({ name: 'parcel', version: '1' }, function* () {
      yield* elicit('ship', { message: 'Ship?', schema: Ok });
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      yield* sleep(24 * hour);
      yield* pivot('paid');
      return 'on its way';
    });
    const world = hostsOf(parcel);
    const { token } = suspended(await world.host.start('parcel', {}));
    const asked = world.newest();
    await expect(world.dying.resume(token, answer('ship'))).rejects.toMatchObject({
      code: 'guard_down',
    });
    return { ...world, did, asked };
  }

  test('[E3] [E8] is undone at once by the message of its question, if the queue has no later one', async () => {
    const { ended, host, deliver, did, asked } = await interrupted();
    expect(await deliver(host, asked)).toMatchObject({ status: 'ended' });
    expect(ended.last()).toEqual({ status: 'failed', uncompensated: [] });
    expect(did).toEqual(['charge', 'charge', 'refund']);
  });

  test('[E8] goes on after its wait by its own message, since the client has answered', async () => {
    const { ended, host, newest, deliver, did } = await interrupted();
    const { at } = newest();
    expect(await deliver(host)).toMatchObject({ status: 'waiting', at: at + 24 * hour });
    expect(did).toEqual(['charge', 'charge']);
    expect(await deliver(host)).toMatchObject({ status: 'ended' });
    expect(ended.last()).toEqual({ status: 'completed', uncompensated: [] });
    expect(did).toEqual(['charge', 'charge']);
  });
});
