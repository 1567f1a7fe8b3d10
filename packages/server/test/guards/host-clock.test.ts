import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { storeGuard } from '@mcp-saga/server/internal';
import { afterEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { testClock } from '../fixtures/clock.ts';

const Ok = z.object({ ok: z.boolean() });
const minute = 60_000;

afterEach(() => void vi.restoreAllMocks());

/** Lets the clock of the process run years ahead of the host, by a minute at each look. */
function processAhead(of: number): void {
  let looks = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => of + 1_000_000 * minute + (looks += 1) * minute);
}

test('[T13] a store in memory uses the clock of its host while a turn runs', async () => {
  const clock = testClock();
  processAhead(clock());
  let paid = 0;
  const paying = saga({ name: 'paying', version: '1' }, function* () {
    yield* elicit('one', { message: 'One?', schema: Ok });
    yield* step('pay', () => (paid += 1), { once: true });
    return 'paid';
  });
  const store = memoryStore();
  const host = createSagaHost({
    sagas: [paying],
    keys: generateKey(),
    name: 'paying',
    store,
    testing: { clock },
  });
  const { token, steps } = (await host.start('paying', {})) as SuspendedTurn;
  const answers = steps.map(({ stepId }) => ({
    stepId,
    result: { action: 'accept', content: { ok: true } },
  }));
  const first = await host.resume(token, answers);
  expect(first).toMatchObject({ status: 'completed', result: 'paid' });
  expect(await host.resume(token, answers)).toEqual(first);
  expect(paid).toBe(1);
  // The token and the claim of the step.
  expect(store.size).toBe(2);
});

test('[T13] a store in memory keeps a running turn and a claimed step until they expire by the host clock', async () => {
  processAhead(0);
  const guard = storeGuard(memoryStore());
  const claim = {
    sagaId: 's',
    turn: 1,
    jti: 'token',
    action: 'resume',
    digest: 'yes',
    leaseMs: minute,
  } as const;
  const verdict = await guard.begin({ ...claim, expiresAt: 10 * minute, now: 0 });
  const { run } = verdict as Extract<typeof verdict, { run: unknown }>;
  expect(await guard.claim('s:pay', 10 * minute, 0)).toBe(true);
  expect(await guard.claim('s:pay', 10 * minute, 9 * minute)).toBe(false);
  expect(await guard.finish(run, 'sealed')).toBe(true);
  const again = { ...claim, expiresAt: 10 * minute };
  expect(await guard.begin({ ...again, now: 9 * minute })).toEqual({
    response: 'sealed',
    wentOn: false,
  });
  const later = { ...again, sagaId: 't', expiresAt: 30 * minute, now: 20 * minute };
  expect(await guard.begin(later)).toHaveProperty('run');
  expect(await guard.claim('s:pay', 30 * minute, 20 * minute)).toBe(true);
});

test('[T13] a store in memory keeps the used tokens of a host with a slow clock', async () => {
  const store = memoryStore();
  const guard = storeGuard(store);
  const claim = {
    turn: 1,
    jti: 'token',
    action: 'resume',
    digest: 'yes',
    leaseMs: minute,
  } as const;
  const used = { ...claim, sagaId: 's', expiresAt: 10 * minute, now: 0 };
  expect(await guard.begin(used)).toHaveProperty('run');
  expect(await guard.claim('s:pay', 10 * minute, 0)).toBe(true);
  // Another host, or the same one before its clock was set back.
  expect(
    await guard.begin({ ...claim, sagaId: 't', expiresAt: 30 * minute, now: 20 * minute }),
  ).toHaveProperty('run');
  expect(store.size).toBe(1);
  await expect(async () => guard.begin({ ...used, digest: 'no', now: minute })).rejects.toThrow(
    'ahead',
  );
  await expect(async () => guard.claim('s:pay', 10 * minute, minute)).rejects.toThrow('ahead');
  // A turn may outlast its token by a lease, so a later request of it claims a longer life.
  await expect(async () =>
    guard.begin({ ...used, digest: 'no', expiresAt: 20.5 * minute, now: minute }),
  ).rejects.toThrow('ahead');
  // The store still knows the tokens that expire later.
  expect(
    await guard.begin({ ...claim, sagaId: 'u', expiresAt: 25 * minute, now: 2 * minute }),
  ).toHaveProperty('run');
  expect(await guard.claim('u:pay', 25 * minute, 2 * minute)).toBe(true);
});
