import type { SagaStore } from '@mcp-saga/server';
import { storeGuard, type GuardClaim, type GuardVerdict } from '@mcp-saga/server/internal';
import { expect, vi } from 'vitest';
import { seeded } from '../../packages/testing/src/values/seeded-random.ts';
import type { Fault, FaultProxy } from './fault-proxy.ts';
import { longestWait } from './patience.ts';

/** A store behind a proxy. */
export interface FaultyStore {
  /** Store that reaches the database through the proxy. */
  readonly store: SagaStore;
  /** Store that reaches the database directly. */
  readonly direct: SagaStore;
  readonly proxy: FaultProxy;
  /** Advances the clock of the store. */
  readonly pass: (ms: number) => Promise<void>;
}

const hour = 3_600_000;
const faults: readonly Fault[] = ['none', 'cutRequest', 'cutReply', 'hold'];

/**
 * Runs turns under each fault, and retries failed calls like a host and its client. Expects one
 * response per turn, one holder per claim, and one value per name of a list, whatever the faults
 * drop.
 */
export async function expectSoundUnderFaults(
  { store, direct, proxy, pass }: FaultyStore,
  rounds: number,
): Promise<void> {
  const guard = storeGuard(store);
  const directGuard = storeGuard(direct);
  const random = seeded(1);
  const seen = { failed: 0, finished: 0 };
  /**
   * Makes a call under a fault. Returns undefined if the call failed, with or without an effect.
   */
  const under = async <T>(call: () => T | PromiseLike<T>): Promise<T | undefined> => {
    // Connects before the fault, so that the fault affects the call itself.
    await vi.waitFor(async () => await store.read({ group: 'warm', name: 'warm' }), {
      timeout: longestWait,
      interval: 1,
    });
    proxy.set(faults[Math.floor(random() * faults.length)] ?? 'none');
    try {
      return await call();
    } catch {
      seen.failed += 1;
      return undefined;
    } finally {
      proxy.set('none');
    }
  };
  const expiresAt = Date.now() + 10 * hour;
  const leased = (verdict: GuardVerdict | undefined) =>
    typeof verdict === 'object' && 'run' in verdict ? verdict : undefined;
  for (let turn = 1; turn <= rounds; turn += 1) {
    const claim: GuardClaim = {
      sagaId: 'saga',
      turn,
      jti: 'token',
      action: 'resume',
      digest: 'yes',
      leaseMs: 60_000,
      expiresAt,
      request: `request ${turn}`,
    };
    const first = leased(await under(() => guard.begin(claim)));
    // The client repeats its request, at another process.
    const second = await directGuard.begin(claim);
    if (first !== undefined) expect(second).toBe('busy');
    else if (second === 'busy') await pass(70_000);
    const late = first ?? leased(second);
    const held = late ?? leased(await directGuard.begin(claim));
    if (held === undefined) throw new Error('The turn does not run.');
    // If the reply of a lease was dropped, the guard returns the request.
    if (late === undefined) expect(held.interrupted).toBe(`request ${turn}`);
    const response = `response ${turn}`;
    const finished = await under(() => guard.finish(held.run, response));
    if (finished === undefined) expect(await directGuard.finish(held.run, response)).toBe(true);
    else expect(finished).toBe(true);
    expect(await directGuard.finish(held.run, 'another')).toBe(false);
    expect(await directGuard.begin(claim)).toEqual({ response, wentOn: false });
    expect(await directGuard.begin({ ...claim, digest: 'no' })).toBe('conflict');
    seen.finished += 1;

    const claims = [await under(() => guard.claim(`saga:${turn}`, expiresAt))];
    claims.push(
      await directGuard.claim(`saga:${turn}`, expiresAt),
      await directGuard.claim(`saga:${turn}`, expiresAt),
    );
    expect(claims.filter((isFirst) => isFirst === true).length).toBeLessThanOrEqual(1);
    expect(claims.filter((isFirst) => isFirst !== false).length).toBeGreaterThanOrEqual(1);
    expect(claims.at(-1)).toBe(false);

    const key = { group: `list ${turn}`, name: 'ada' };
    const bounds = { expiresAtMs: expiresAt, maxValues: 2 };
    await under(() => store.append(key, 'yes', bounds));
    expect(await direct.append(key, 'yes', bounds)).toBe('added');
    await under(() => store.append(key, 'no', bounds));
    await under(() => store.close(key.group, expiresAt));
    await direct.close(key.group, expiresAt);
    expect(await direct.append({ ...key, name: 'eve' }, 'late', bounds)).toBe('closed');
    const values = [{ name: 'ada', value: 'yes' }];
    expect(await direct.list(key.group)).toEqual({ values, isClosed: true });

    const task = { group: 'task', name: 'task' };
    const life = { expiresAtMs: expiresAt };
    const { version = 0 } = (await direct.read(task)) ?? {};
    const value = { head: 'task', body: `version ${turn}` };
    const written = await under(() => store.write(task, value, version, life));
    if (written?.status !== 'written')
      expect(await direct.write(task, value, version, life)).toMatchObject({ status: 'written' });
    expect(await direct.read(task)).toMatchObject(value);
  }
  expect(seen.finished).toBe(rounds);
  // Most calls under a fault must fail, otherwise the proxy does not work.
  expect(seen.failed).toBeGreaterThan(2 * rounds);
}
