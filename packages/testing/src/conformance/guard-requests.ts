import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { show } from '../values/show.ts';
import { hour } from './conformance-case.ts';

/** A guard under test, and its clock. */
export interface GuardUnderTest {
  readonly guard: SagaGuard;
  /** Same store, as another process sees it. */
  readonly elsewhere: SagaGuard;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Advances the clock of the store. */
  readonly pass: (ms: number) => Promise<void>;
}

/** @throws SagaTestError `violated` if the turn does not run */
export function fenceOf(verdict: GuardVerdict): Fence {
  if (typeof verdict === 'object' && 'run' in verdict) return verdict.run;
  throw new SagaTestError(
    'violated',
    `Expected the turn to run, but the guard returned ${show(verdict)}.`,
  );
}

/** Request stored with a turn. */
export const begunOf = (verdict: GuardVerdict): unknown =>
  (verdict as { readonly interrupted?: unknown }).interrupted;
/** Response of an ended turn. */
export const responseOf = (verdict: GuardVerdict): unknown =>
  (verdict as { readonly response?: unknown }).response;

/** A new guard with its requests. */
export interface AskedGuard extends GuardUnderTest {
  /** Makes a request for turn 1, with changes. */
  readonly claim: (change?: Partial<GuardClaim>) => GuardClaim;
  /** Begins a turn. */
  readonly begin: (change?: Partial<GuardClaim>) => Promise<GuardVerdict>;
}

/** Makes a guard with its requests. */
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
