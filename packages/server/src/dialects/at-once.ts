import { SagaHostError } from '../host/errors.ts';
import type { DialectTraits } from '../host/dialect-traits.ts';
import type { SagaHostCore } from '../host/host.ts';
import { sleep } from '../host/sleep.ts';
import type { Dialect } from './dialect.ts';

/**
 * In one request, for prompts and resources of clients that can be asked nothing: what they answer has no place for a
 * token. A question is `ClientCannot` at its step, as is a wait that is longer than the request can be held.
 */
export const atOnce: Dialect = {
  name: 'at once',
  // Its tokens go nowhere, so that none comes back.
  refused: { message: 'Invalid or expired token', reason: 'invalid_token' },
  carries: () => false,
  serves: ({ method }) => method !== 'tools/call',
  answer: async (host, call) => {
    const { saga, args, method, caller } = call;
    const traits = traitsOf(host);
    const signal = caller.signal ?? new AbortController().signal;
    let turn = await host.start(saga.name, args, caller, { method, traits });
    while (turn.status === 'suspended') {
      const { steps, retryAfterMs = 0, token } = turn;
      if (steps.length > 0) throw cannotAsk(saga.name);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      await sleep(retryAfterMs, signal);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      turn = await host.resume(token, [], caller, { methods: [method], traits });
    }
    return call.toResult(turn);
  },
};

function traitsOf({ settings: { maxHold } }: SagaHostCore): DialectTraits {
  return { asks: [], maxWait: () => maxHold };
}

function cannotAsk(saga: string): SagaHostError {
  return new SagaHostError(
    'client_cannot',
    `'${saga}' has a question, which the client of this call cannot be asked.`,
  );
}
