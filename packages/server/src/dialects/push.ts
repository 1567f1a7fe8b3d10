import type { DialectTraits } from '../host/dialect-traits.ts';
import type { SagaHostCore } from '../host/host.ts';
import { canBeAsked, type ClientCall, type Dialect } from './dialect.ts';
import { inOneRequest } from './in-one-request.ts';
import { OpenQuestions } from './open-questions.ts';

/**
 * Push (spec 2025-11-25 and older): the server asks while it answers, in a session or over stdio. The token stays in
 * the request; what a step of a client fails with is thrown at that step.
 *
 * It does so with either version of the SDK. Version 2 could do it by itself, from the result of a multi round-trip
 * request, but ends after eight rounds, and fails the call where a client fails a step.
 */
export const push: Dialect = {
  name: 'push',
  // Its tokens go nowhere, so that none comes back.
  refused: { message: 'Invalid or expired token', reason: 'invalid_token' },
  carries: () => false,
  serves: (call) => call.client.isSession && canBeAsked(call),
  answer: async (host, call) => {
    const questions = new OpenQuestions(call, host.settings);
    try {
      return await inOneRequest(host, call, traitsOf(host, call), (turn) => questions.answersTo(turn));
    } finally {
      questions.withdraw();
    }
  },
};

// Default request timeout of the SDK's client.
const clientTimeoutMs = 60_000;

function traitsOf({ settings }: SagaHostCore, { client }: ClientCall): DialectTraits {
  const { clock } = settings;
  const until = clock() + clientTimeoutMs;
  return { asks: client.asks, maxWait: () => Math.max(0, until - clock()) };
}
