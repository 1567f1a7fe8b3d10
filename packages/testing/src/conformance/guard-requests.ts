import type { GuardClaim, GuardVerdict, SagaGuard } from '@mcp-saga/server';
import type { Fence } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { show } from '../values/show.ts';

/** A guard, and the time by which it forgets. */
export interface GuardUnderTest {
  readonly guard: SagaGuard;
  /** The same store, as another process reaches it. */
  readonly elsewhere: SagaGuard;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Lets `ms` milliseconds pass for all that the guard has stored. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Milliseconds. */
export const hour = 3_600_000;

/** @throws SagaTestError `violated` if the turn does not run */
export function fenceOf(verdict: GuardVerdict): Fence {
  if (typeof verdict === 'object' && 'run' in verdict) return verdict.run;
  throw new SagaTestError('violated', `Expected that the turn runs, and got ${show(verdict)}.`);
}

/** The request that is handed out with a turn. */
export const begunOf = (verdict: GuardVerdict): unknown => (verdict as { readonly begun?: unknown }).begun;
/** The response of a turn that has ended. */
export const responseOf = (verdict: GuardVerdict): unknown =>
  (verdict as { readonly response?: unknown }).response;

/** A fresh guard, and requests that ask it. */
export interface AskedGuard extends GuardUnderTest {
  /** A request for turn 1, but for what is changed. */
  readonly claim: (change?: Partial<GuardClaim>) => GuardClaim;
  /** Asks the guard to begin with it. */
  readonly begin: (change?: Partial<GuardClaim>) => Promise<GuardVerdict>;
}

/** Makes a guard, and requests that ask it. */
export async function setUpGuard(make: () => Promise<GuardUnderTest>): Promise<AskedGuard> {
  const { guard, elsewhere, now, pass } = await make();
  const claim = (change: Partial<GuardClaim> = {}): GuardClaim => ({
    sagaId: 's',
    turn: 1,
    jti: 'token',
    action: 'resume',
    digest: 'yes',
    leaseMs: 60_000,
    expiresAt: now() + 2 * hour,
    respondsUntil: now() + hour,
    ...change,
  });
  const begin = async (change?: Partial<GuardClaim>) => await guard.begin(claim(change));
  return { guard, elsewhere, now, pass, claim, begin };
}
