import type { Fence, GuardClaim, GuardVerdict } from '@mcp-saga/server/internal';

export const hour = 3_600_000;

/** Creates a claim for an unused token. */
export function claim(change: Partial<GuardClaim> = {}): GuardClaim {
  return {
    sagaId: 'saga',
    turn: 1,
    jti: 'token',
    action: 'resume',
    digest: 'yes',
    leaseMs: 60_000,
    expiresAt: Date.now() + hour,
    ...change,
  };
}

/** The fence of a turn that may run, or fails. */
export function fenceOf(verdict: GuardVerdict): Fence {
  if (typeof verdict !== 'object' || !('run' in verdict))
    throw new Error(`not run: ${JSON.stringify(verdict)}`);
  return verdict.run;
}
