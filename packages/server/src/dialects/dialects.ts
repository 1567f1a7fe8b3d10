/**
 * Dialects: the ways in which clients of MCP can take part in a call of several steps. A dialect
 * decodes a request to a call of the host (start, resume, cancel, status), and encodes the turn.
 * It decides nothing about a saga.
 *
 * A request that carries a token goes to the dialect that issued it. Otherwise the first of
 * `dialects` that serves the client wins; the last one serves all. The saga methods,
 * `requests/resume`, and the methods of tasks are dialects, too, with requests of their own.
 *
 * - A token opens only for the methods that a dialect names: the method is one of its claims.
 * - Every refused token gets the fixed response of its dialect.
 */
import type { ClientCall } from '../model/call-types.ts';
import type { Dialect } from './parts/dialect.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { isResumed } from './parts/begin-call.ts';
import { atOnce } from './at-once.ts';
import { multiRoundTrip } from './multi-round-trip.ts';
import { push } from './push.ts';
import { resumeToken } from './resume-token.ts';
import { isRefused, tasks } from './tasks.ts';
import { mayEndUnfinished } from '../wire/result-schema.ts';

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
  // A saga with `suspends: false` never needs its client. But the call may belong to an older
  // version, which asks or waits.
  const isAtOnce = call.saga.suspends === false && !mayEndUnfinished(call.saga);
  if (isAtOnce && !isResumed(call)) return atOnce;
  // A call that ended with a resume token does not become a task.
  const candidates = isResumed(call) ? dialects.filter((dialect) => dialect !== tasks) : dialects;
  return candidates.find((dialect) => dialect.serves(call, host)) ?? resumeToken;
}
