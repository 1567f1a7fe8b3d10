import type { SagaStore } from '@mcp-saga/server';
import type { GuardClaim, GuardVerdict } from '@mcp-saga/server/stores';
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
 * response per turn, one holder per claim, and one answer per slot, whatever the faults drop.
 */
export async function expectSoundUnderFaults(
  { store, direct, proxy, pass }: FaultyStore,
  rounds: number,
): Promise<void> {
  const random = seeded(1);
  const seen = { failed: 0, finished: 0 };
  /**
   * Makes a call under a fault. Returns undefined if the call failed, with or without an effect.
   */
  const under = async <T>(call: () => T | PromiseLike<T>): Promise<T | undefined> => {
    // Connects before the fault, so that the fault affects the call itself.
    await vi.waitFor(async () => await store.tasks.read('warm'), {
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
    const first = leased(await under(() => store.guard.begin(claim)));
    // The client repeats its request, at another process.
    const second = await direct.guard.begin(claim);
    if (first !== undefined) expect(second).toBe('busy');
    else if (second === 'busy') await pass(70_000);
    const late = first ?? leased(second);
    const held = late ?? leased(await direct.guard.begin(claim));
    if (held === undefined) throw new Error('The turn does not run.');
    // If the reply of a lease was dropped, the guard returns the request.
    if (late === undefined) expect(held.interrupted).toBe(`request ${turn}`);
    const response = `response ${turn}`;
    const finished = await under(() => store.guard.finish(held.run, response));
    if (finished === undefined) expect(await direct.guard.finish(held.run, response)).toBe(true);
    else expect(finished).toBe(true);
    expect(await direct.guard.finish(held.run, 'another')).toBe(false);
    expect(await direct.guard.begin(claim)).toEqual({ response, wentOn: false });
    expect(await direct.guard.begin({ ...claim, digest: 'no' })).toBe('conflict');
    seen.finished += 1;

    const claims = [await under(() => store.guard.claim(`saga:${turn}`, expiresAt))];
    claims.push(
      await direct.guard.claim(`saga:${turn}`, expiresAt),
      await direct.guard.claim(`saga:${turn}`, expiresAt),
    );
    expect(claims.filter((isFirst) => isFirst === true).length).toBeLessThanOrEqual(1);
    expect(claims.filter((isFirst) => isFirst !== false).length).toBeGreaterThanOrEqual(1);
    expect(claims.at(-1)).toBe(false);

    const bounds = { expiresAt, maxAnswers: 2 };
    await under(() => store.mailbox.put(`box ${turn}`, 'ada', 'yes', bounds));
    expect(await direct.mailbox.put(`box ${turn}`, 'ada', 'yes', bounds)).toBe('stored');
    await under(() => store.mailbox.put(`box ${turn}`, 'ada', 'no', bounds));
    await under(() => store.mailbox.close(`box ${turn}`, expiresAt));
    await direct.mailbox.close(`box ${turn}`, expiresAt);
    expect(await direct.mailbox.put(`box ${turn}`, 'eve', 'late', bounds)).toBe('closed');
    const answers = [{ slot: 'ada', sealed: 'yes' }];
    expect(await direct.mailbox.list(`box ${turn}`)).toEqual({ answers, isClosed: true });

    const { version = 0 } = (await direct.tasks.read('task')) ?? {};
    const sealed = `version ${turn}`;
    const written = await under(() => store.tasks.write('task', sealed, version, expiresAt));
    if (written !== 'written')
      expect(await direct.tasks.write('task', sealed, version, expiresAt)).toBe('written');
    expect(await direct.tasks.read('task')).toMatchObject({ sealed });
  }
  expect(seen.finished).toBe(rounds);
  // Most calls under a fault must fail, otherwise the proxy does not work.
  expect(seen.failed).toBeGreaterThan(2 * rounds);
}
