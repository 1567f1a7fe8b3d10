import { TurnAborted } from '@mcp-saga/core';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { unaskedOf, type Dialect } from './parts/dialect.ts';
import { inOneRequest } from './parts/in-one-request.ts';

/** Serves a saga in one request, for prompts and resources of clients that can be asked nothing: a question is `ClientCannot`. */
export const atOnce: Dialect = {
  name: 'at once',
  // Its tokens go nowhere, so that none comes back.
  refused: { message: 'Invalid or expired token', reason: 'invalid_token' },
  carries: () => false,
  serves: ({ method }) => method !== 'tools/call',
  answer: async (host, call) => {
    const { maxHoldMs } = host.limits;
    const { clock } = host.timing;
    const until = clock() + maxHoldMs;
    // However many short waits there are, a request is held no longer than one long one would be.
    const maxWait = (): number => Math.max(0, until - clock());
    const traits = (): DialectTraits => ({
      asks: [],
      maxWait,
      maxHold: Math.min(maxHoldMs, maxWait()),
      ...unaskedOf(call.client),
    });
    const signal = call.caller.signal ?? new AbortController().signal;
    return await inOneRequest(host, call, traits, {
      answersTo: async ({ retryAfterMs = 0 }) => {
        await host.timing.sleep(retryAfterMs, signal);
        if (signal.aborted) throw new TurnAborted(signal.reason);
        return [];
      },
    });
  },
};
