import { TurnAborted } from '@mcp-saga/core';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { unaskedOf, type Dialect } from './parts/dialect.ts';
import { inOneRequest } from './parts/in-one-request.ts';
import { neverAborted } from '../settings/clock.ts';

/**
 * Serves a saga in one request: prompts and resources of clients without questions, and tools with
 * `suspends: false`, for all clients. A question throws `ClientCannot`, or, in such a tool,
 * AuthoringError.
 */
export const atOnce: Dialect = {
  name: 'at once',
  // Its tokens never leave the server.
  refused: { message: 'Invalid or expired token', reason: 'invalid_token' },
  carries: () => false,
  serves: ({ method }) => method !== 'tools/call',
  answer: async (host, call) => {
    const { maxHold } = host.limits;
    const { clock } = host.timing;
    const until = clock() + maxHold;
    // Several short waits hold the request no longer than one long wait.
    const maxWait = (): number => Math.max(0, until - clock());
    const dialect = (): DialectCapabilities => ({
      asks: [],
      maxWait,
      maxHold: Math.min(maxHold, maxWait()),
      ...unaskedOf(call.client),
    });
    const signal = call.caller.signal ?? neverAborted();
    return await inOneRequest(host, call, dialect, {
      answersTo: async ({ retryAfterMs = 0 }) => {
        await host.timing.sleep(retryAfterMs, signal);
        if (signal.aborted) throw new TurnAborted(signal.reason);
        return [];
      },
    });
  },
};
