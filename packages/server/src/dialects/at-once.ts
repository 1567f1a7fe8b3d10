import type { DialectTraits } from '../host/dialect-traits.ts';
import { unaskedOf, type Dialect } from './dialect.ts';

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
    const { saga, args, method, caller, client } = call;
    const { maxHold, clock } = host.settings;
    const until = clock() + maxHold;
    // However many short waits there are, a request is held no longer than one long one would be.
    const maxWait = (): number => Math.max(0, until - clock());
    const traits: DialectTraits = { asks: [], maxWait, ...unaskedOf(client) };
    const signal = caller.signal ?? new AbortController().signal;
    let turn = await host.start(saga.name, args, caller, { method, traits });
    while (turn.status === 'suspended') {
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      await host.settings.sleep(turn.retryAfterMs ?? 0, signal);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      turn = await host.resume(turn.token, [], caller, { methods: [method], traits });
    }
    return call.toResult(turn);
  },
};
