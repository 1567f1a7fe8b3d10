import type { ClientCall } from '../model/client-call.ts';
import type { Dialect } from './parts/dialect.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { isResumed } from './parts/begin-call.ts';
import { atOnce } from './at-once.ts';
import { multiRoundTrip } from './multi-round-trip.ts';
import { push } from './push.ts';
import { resumeToken } from './resume-token.ts';
import { isRefused, tasks } from './tasks.ts';

/** The dialects of MCP's own requests, in the order they are tried. The last one serves everybody. */
const dialects: readonly Dialect[] = [tasks, push, multiRoundTrip, atOnce, resumeToken];

/** The dialect of one request: the one whose token it brings, else the first that serves such a client. (W2) */
export function dialectOf(call: ClientCall, host: SagaHostCore): Dialect {
  if (isRefused(call)) return tasks;
  const carrying = dialects.find((dialect) => dialect.carries(call));
  if (carrying !== undefined) return carrying;
  // A saga does not become a task once a call has ended with its token.
  const candidates = isResumed(call) ? dialects.filter((dialect) => dialect !== tasks) : dialects;
  return candidates.find((dialect) => dialect.serves(call, host)) ?? resumeToken;
}
