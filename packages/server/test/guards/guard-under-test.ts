import type { GuardUnderTest } from '../../../testing/src/guard.ts';

export type { GuardUnderTest };

/** Makes a guard that knows nothing yet. */
export type MakeGuard = () => Promise<GuardUnderTest>;
