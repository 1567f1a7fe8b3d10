import type { DialectTraits } from '../model/dialect-traits.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { resumeTokenRefused } from './parts/begin-call.ts';
import { canBeAsked, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/client-call.ts';
import { inOneRequest } from './parts/in-one-request.ts';
import { asksOfCall, endsBeforeSaga, endWithToken, stepsForClient } from './parts/end-with-token.ts';
import { OpenQuestions } from './parts/open-questions.ts';

/**
 * Push (MCP 2025-11-25 and older): the server asks while it answers, in a session or over stdio. The token stays in the request,
 * unless the call ends before its saga. An error of the client is thrown at its step.
 *
 * Serves version 2 of the SDK too, whose own multi round-trip requests end after eight rounds.
 */
export const push: Dialect = {
  name: 'push',
  // The only token that comes back.
  refused: resumeTokenRefused,
  carries: () => false,
  serves: (call) => call.client.isSession && canBeAsked(call),
  answer: async (host, call) => {
    const questions = new OpenQuestions(call, host);
    const until = host.timing.clock() + longestCallMs;
    const longestWait = (): number => Math.max(0, until - host.timing.clock());
    try {
      return await inOneRequest(host, call, () => traitsOf(host, call, longestWait), {
        answersTo: (turn) => questions.answersTo({ ...turn, steps: stepsForClient(host, call, turn) }),
        endWith: (turn) =>
          endsBeforeSaga(host, call, turn, longestWait()) ? endWithToken(host, call, turn) : undefined,
      });
    } finally {
      questions.withdraw();
    }
  },
};

// Clients of the SDK give a request up after 60 s by default.
const longestCallMs = 55_000;

function traitsOf(host: SagaHostCore, call: ClientCall, maxWait: () => number): DialectTraits {
  const traits = { asks: asksOfCall(host, call), maxHold: Math.min(host.limits.maxHoldMs, maxWait()) };
  return call.method === 'tools/call'
    ? { ...traits, asksModel: true, holdsParts: true }
    : { ...traits, maxWait };
}
