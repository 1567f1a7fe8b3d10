import { multiRoundTrip } from './multi-round-trip.ts';
import { push } from './push.ts';
import { resumableRequests } from './resumable-requests.ts';
import { resumeToken } from './resume-token.ts';
import { sagaMethods } from './saga-methods.ts';
import { tasks } from './tasks.ts';
import type { Way } from './way.ts';

/** All HTTP dialects with real clients, and the number of clients out of 200 that use each. */
export const ways: readonly (readonly [way: Way, share: number])[] = [
  [sagaMethods('v2 client, 2026-07-28'), 20],
  [sagaMethods('v2 client, 2025-11-25'), 15],
  [sagaMethods('v1 client'), 15],
  [multiRoundTrip('again'), 30],
  [multiRoundTrip('once'), 20],
  [push('v2 client, 2025-11-25', 2), 10],
  [push('v1 client', 1), 10],
  [resumeToken('v2 client, 2025-11-25'), 15],
  [resumeToken('v1 client'), 15],
  [resumableRequests, 25],
  [tasks, 25],
];
