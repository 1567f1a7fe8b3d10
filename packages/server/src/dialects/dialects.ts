import type { ClientCall, Dialect } from './dialect.ts';
import type { SagaHostCore } from '../host/host.ts';
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
  // What a model brings along is never ignored beside something else: from a client that asks its user it is refused. (T14)
  if (resumeToken.carries(call)) return resumeToken;
  return dialects.find((dialect) => dialect.carries(call)) ?? servingDialect(call, host);
}

/** The dialect that a call of this client would be answered in. */
export function servingDialect(
  call: Pick<ClientCall, 'method' | 'saga' | 'client'>,
  host: SagaHostCore,
): Dialect {
  return dialects.find((dialect) => dialect.serves(call, host)) ?? resumeToken;
}
