import type { ClientCall } from '../model/call-types.ts';
import type { Dialect } from './parts/dialect.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { isResumed } from './parts/begin-call.ts';
import { atOnce } from './at-once.ts';
import { multiRoundTrip } from './multi-round-trip.ts';
import { push } from './push.ts';
import { resumeToken } from './resume-token.ts';
import { isRefused, tasks } from './tasks.ts';

/**
 * Dialects of MCP's own requests, in the order of precedence. The last dialect serves every client.
 */
const dialects: readonly Dialect[] = [tasks, push, multiRoundTrip, atOnce, resumeToken];

/**
 * Returns the dialect of a request: the issuer of its token, or the first dialect for its client.
 */
export function dialectOf(call: ClientCall, host: SagaHostCore): Dialect {
  if (isRefused(call)) return tasks;
  const carrying = dialects.find((dialect) => dialect.carries(call));
  if (carrying !== undefined) return carrying;
  // A call that ended with a resume token does not become a task.
  const candidates = isResumed(call) ? dialects.filter((dialect) => dialect !== tasks) : dialects;
  return candidates.find((dialect) => dialect.serves(call, host)) ?? resumeToken;
}
