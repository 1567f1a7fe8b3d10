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
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { answer, gone, hour, Ok } from './guarded-hosts.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

/** A host that dies before it stores a turn, and a host that takes over. */
function hostsOf(parcel: Program) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const facts: SuspendedSagaFacts[] = [];
  const common = {
    sagas: [parcel],
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production', clock },
    hooks: {
      onTurn: () => undefined,
      onError: () => undefined,
      onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
    },
  };
  const dying = createSagaHost({
    ...common,
    store: storeWithGuard(() => ({ finish: gone }), store),
  });
  return { clock, facts, dying, host: createSagaHost({ ...common, store }) };
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
  const { clock, facts, dying, host } = hostsOf(parcel);
  const { token } = suspended(await dying.start('parcel', {}));
  await expect(dying.cancel(token)).rejects.toMatchObject({ code: 'guard_down' });
  expect(did).toEqual(['pack', 'unpack']);
  clock.now += 3 * hour;
  const cancelToken = facts[0]?.cancelToken ?? '';
  const undone = { status: 'failed', compensated: [{ stepId: 'pack' }] };
  expect(await host.cancel(cancelToken)).toMatchObject(undone);
  expect(await host.cancel(cancelToken)).toMatchObject(undone);
  expect(did).toEqual(['pack', 'unpack', 'unpack']);
});

test('[E3] [E8] an interrupted turn that waits before any pivot is undone at once', async () => {
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
  const { clock, facts, dying, host } = hostsOf(parcel);
  const { token } = suspended(await dying.start('parcel', {}));
  await expect(dying.resume(token, answer('ship'))).rejects.toMatchObject({ code: 'guard_down' });
  clock.now += 3 * hour;
  const undone = { status: 'failed', compensated: [{ stepId: 'charge' }] };
  expect(await host.cancel(facts[0]?.cancelToken ?? '')).toMatchObject(undone);
  expect(did).toEqual(['charge', 'charge', 'refund']);
});
