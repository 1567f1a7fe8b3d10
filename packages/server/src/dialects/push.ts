import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { resumeTokenRefused } from './parts/begin-call.ts';
import { canBeAsked, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/call-types.ts';
import { inOneRequest } from './parts/in-one-request.ts';
import { endsBeforeSaga, endWithToken, stepsForClient } from './parts/interim-result.ts';
import { OpenQuestions } from './parts/open-questions.ts';

/**
 * Push (MCP 2025-11-25 and older): the server asks the client during the call, in a session or over
 * stdio. The token stays in the request, unless the call ends before its saga. An error of the
 * client is thrown at its step.
 *
 * Also serves version 2 of the SDK, whose own multi round-trip requests end after eight rounds.
 */
export const push: Dialect = {
  name: 'push',
  // Resume tokens are the only tokens that return.
  refused: resumeTokenRefused,
  carries: () => false,
  serves: (call) => call.client.isSession && canBeAsked(call),
  answer: async (host, call) => {
    const questions = new OpenQuestions(call, host);
    const until = host.timing.clock() + longestCallMs;
    const longestWait = (): number => Math.max(0, until - host.timing.clock());
    try {
      return await inOneRequest(host, call, () => pushCapabilities(host, call, longestWait), {
        answersTo: (turn) => questions.answersTo({ ...turn, steps: stepsForClient(call, turn) }),
        endWith: (turn) =>
          endsBeforeSaga(call, turn, longestWait()) ? endWithToken(host, call, turn) : undefined,
      });
    } finally {
      questions.withdraw();
    }
  },
};

// Clients of the SDK time out after 60 s by default.
const longestCallMs = 55_000;

function pushCapabilities(
  host: SagaHostCore,
  call: ClientCall,
  maxWait: () => number,
): DialectCapabilities {
  const dialect = {
    asks: call.client.asks,
    maxHold: Math.min(host.limits.maxHold, maxWait()),
  };
  return call.method === 'tools/call'
    ? { ...dialect, asksModel: true, holdsParts: true }
    : { ...dialect, maxWait };
}
