import type { DialectTraits } from '../host/dialect-traits.ts';
import type { SagaHostCore } from '../host/host.ts';
import { canBeAsked, type ClientCall, type Dialect } from './dialect.ts';
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
    const { saga, args, method, caller } = call;
    const traits = traitsOf(host, call);
    const questions = new OpenQuestions(call, host.settings);
    try {
      let turn = await host.start(saga.name, args, caller, { method, traits });
      while (turn.status === 'suspended') {
        // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
        const answers = await questions.answersTo(turn);
        // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
        turn = await host.resume(turn.token, answers, caller, { methods: [method], traits });
      }
      return call.toResult(turn);
    } finally {
      questions.withdraw();
    }
  },
};

function traitsOf({ settings }: SagaHostCore, { client }: ClientCall): DialectTraits {
  const { clientRounds, maxHold } = settings;
  // A client waits for its call about as long as for one it makes in rounds.
  return { asks: client.asks, maxWait: () => clientRounds * maxHold };
}
