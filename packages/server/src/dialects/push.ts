import { TurnAborted, type ClientStep } from '@mcp-saga/core';
import { toJson, type StepAnswer } from '../host/answers.ts';
import type { DialectTraits } from '../host/dialect-traits.ts';
import type { SagaHostCore } from '../host/host.ts';
import type { SuspendedTurn } from '../host/turn.ts';
import { canBeAsked, type ClientCall, type Dialect } from './dialect.ts';
import { toRequest } from './questions.ts';

// How often one question may be answered in a form that does not fit: a client that answers by rule never ends.
const maxTries = 10;

const requestTimedOut = -32_001;
const connectionClosed = -32_000;
const invalidParams = -32_602;

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
    const tries = new Map<string, number>();
    let turn = await host.start(saga.name, args, caller, { method, traits });
    while (turn.status === 'suspended') {
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      const answers = await answersTo(host, call, turn, tries);
      // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
      turn = await host.resume(turn.token, answers, caller, { methods: [method], traits });
    }
    return call.toResult(turn);
  },
};

function traitsOf({ settings }: SagaHostCore, { client }: ClientCall): DialectTraits {
  const { clientRounds, maxHold } = settings;
  // A client waits for its call about as long as for one it makes in rounds.
  return { asks: client.asks, maxWait: () => clientRounds * maxHold };
}

async function answersTo(
  { settings }: SagaHostCore,
  call: ClientCall,
  { steps, retryAfterMs = 0, sagaId, expiresAt }: SuspendedTurn,
  tries: Map<string, number>,
): Promise<readonly StepAnswer[]> {
  const signal = call.caller.signal ?? new AbortController().signal;
  if (steps.length === 0) {
    await settings.sleep(retryAfterMs, signal);
    return [];
  }
  const timeout = Math.max(1, expiresAt - settings.clock());
  const answers = await Promise.all(
    steps.map(async (step): Promise<StepAnswer> => {
      const { stepId } = step;
      const tried = (tries.get(stepId) ?? 0) + 1;
      tries.set(stepId, tried);
      if (tried > maxTries)
        return { stepId, error: { code: invalidParams, message: 'No usable answer came.' } };
      return await asked(call, step, sagaId, timeout);
    }),
  );
  if (signal.aborted) throw new TurnAborted(signal.reason);
  return answers;
}

async function asked(
  call: ClientCall,
  step: ClientStep,
  sagaId: string,
  timeout: number,
): Promise<StepAnswer> {
  const { stepId } = step;
  try {
    const result = await call.send(toRequest(step, sagaId), { timeout });
    return { stepId, result: toJson(result, `the result of '${stepId}'`) };
  } catch (error) {
    return { stepId, error: toStepFailure(error) };
  }
}

/** What a client failed a step with. A connection that is gone fails no step: nobody is there. */
function toStepFailure(error: unknown): { readonly code: number; readonly message: string } {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  if (code === 'REQUEST_TIMEOUT')
    return { code: requestTimedOut, message: 'The client did not answer in time.' };
  if (typeof code !== 'number' || code === connectionClosed) throw new TurnAborted(error);
  // Version 1 of the SDK puts the code into the message.
  const text = typeof message === 'string' ? message.replace(/^MCP error -?\d+: /, '') : '';
  return { code, message: text };
}
