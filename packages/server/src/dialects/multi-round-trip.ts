import { clientRounds, maxAnswers } from '../model/host-limits.ts';
import {
  present,
  questionHasChanged,
  troubleshootingLink,
  withoutKeys,
} from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import type { StepAnswer } from '../wire/step-answers.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { ClientHolder } from '../model/holder.ts';
import { invalidField } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { extensionKey } from '../wire/tool-result.ts';
import { frozenError } from '../wire/wire-error.ts';
import { beginCall, resumeTokenOf } from './parts/begin-call.ts';
import { canBeAsked, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/call-types.ts';
import { endsBeforeSaga, endWithToken, stepsForClient } from './parts/interim-result.ts';
import { toRequest } from '../wire/step-requests.ts';

/**
 * Multi round-trip requests (MCP 2026-07-28): `requestState` is the token, and the client repeats
 * its call with the answers.
 */
export const multiRoundTrip: Dialect = {
  name: 'multi round-trip',
  refused: { message: 'Invalid or expired requestState', reason: 'invalid_request_state' },
  carries: ({ requestState }) => requestState !== undefined,
  serves: (call) =>
    call.client.era === 'modern' && (canBeAsked(call) || call.method !== 'tools/call'),
  answer: async (host, call) => {
    const dialect = roundCapabilities(host, call);
    const begun = await beginRound(host, call, dialect);
    return await toAnswer(host, call, await useEarlyAnswers(host, call, dialect, begun));
  },
};

/** Encodes a turn for the wire. */
export async function toAnswer(
  host: SagaHostCore,
  call: ClientCall,
  turn: SagaTurn,
): Promise<object> {
  if (turn.status !== 'suspended') return call.toResult(turn);
  const roundsLeft = clientRounds - roundAfter(turn);
  const isLast = call.method === 'tools/call' && roundsLeft < 0;
  if (isLast || endsBeforeSaga(call, turn, maxWaitAfter(host, turn)))
    return await endWithToken(host, call, turn);
  adviseOnRounds(host, turn);
  return toInputRequired({ ...turn, steps: stepsForClient(call, turn) });
}

/** Returns the longest wait that the remaining rounds of a call can hold, in milliseconds. */
export function maxWaitAfter(host: SagaHostCore, turn: SuspendedTurn): number {
  return maxWaitFrom(host, roundAfter(turn));
}

function maxWaitFrom({ limits: { maxHold } }: SagaHostCore, round: number): number {
  return Math.max(0, clientRounds - round + 1) * maxHold;
}

function roundAfter({ turn, ownTurns = 0 }: SuspendedTurn): number {
  return turn - ownTurns;
}

/** Holder of the saga of a call that its client repeats by itself. */
export const heldByRounds: ClientHolder = { kind: 'client', returns: 'itself' };

/** Runs the turn of a round. */
export async function beginRound(
  host: SagaHostCore,
  call: ClientCall,
  dialect: DialectCapabilities,
  holder: ClientHolder = heldByRounds,
): Promise<SagaTurn> {
  const { method, caller, requestState } = call;
  // Each round repeats the whole request, with its resume token.
  resumeTokenOf(call);
  const sent = answersOf(call);
  if (requestState !== undefined) {
    if (typeof requestState !== 'string') throw frozenError(multiRoundTrip.refused);
    return await host.resume(requestState, sent, caller, { ...nextRound(call, dialect), holder });
  }
  return await beginCall(host, call, method, dialect, holder);
}

/**
 * Continues with the answers that a client has sent with its first call. Each answer is used once,
 * when the saga asks.
 */
export async function useEarlyAnswers(
  host: SagaHostCore,
  call: ClientCall,
  dialect: DialectCapabilities,
  begun: SagaTurn,
): Promise<SagaTurn> {
  const { caller, requestState } = call;
  if (requestState !== undefined) return begun;
  const left = new Map(answersOf(call).map((answer) => [answer.stepId, answer]));
  const request = nextRound(call, dialect);
  let turn = begun;
  while (turn.status === 'suspended' && turn.hasPage !== true) {
    const known = turn.steps.flatMap(({ stepId }) => left.get(stepId) ?? []);
    if (known.length === 0) break;
    for (const { stepId } of known) left.delete(stepId);
    turn = await host.resume(turn.token, known, caller, request);
  }
  const { sagaId } = turn;
  // The questions of a saga that has asked nothing yet are asked later.
  if (turn.status === 'suspended' && turn.steps.length === 0) return turn;
  // Questions whose answers were not used are asked again.
  for (const stepId of left.keys())
    host.observer.hooks.onIgnoredAnswer({ stepId, why: 'unknown', saga: turn.saga, sagaId });
  return turn;
}

function answersOf({ inputResponses }: ClientCall): readonly StepAnswer[] {
  return toStepAnswers(inputResponses);
}

function nextRound({ saga, args, method }: ClientCall, dialect: DialectCapabilities) {
  return {
    methods: [method],
    entry: { target: saga.name, args },
    answersField: 'inputResponses',
    dialect,
  };
}

/** Returns the abilities of clients with repeated calls. */
export function roundCapabilities(host: SagaHostCore, call: ClientCall): DialectCapabilities {
  // Clients repeat their call at once, so each round holds a part of the wait.
  const asks = call.client.asks;
  if (call.method === 'tools/call') return { asks, holdsParts: true, asksModel: true };
  return { asks, holdsParts: true, maxWait: (round) => maxWaitFrom(host, round) };
}

/** Reads `inputResponses` as answers. Checks only their number. */
function toStepAnswers(inputResponses: unknown): readonly StepAnswer[] {
  if (typeof inputResponses !== 'object' || inputResponses === null) return [];
  const entries = Object.entries(inputResponses as { readonly [stepId: string]: Json });
  if (entries.length > maxAnswers) {
    throw invalidField(`inputResponses: more than ${maxAnswers} step results`);
  }
  return entries.map(([stepId, result]) => ({ stepId, result }));
}

function toInputRequired({ token, steps, retryAfterMs, content, sagaId }: SuspendedTurn): object {
  const inputRequests = Object.fromEntries(
    steps.map((step) => [step.stepId, toRequest(step, sagaId)]),
  );
  const hints = present({ retryAfterMs, content });
  return {
    resultType: 'input_required',
    ...(steps.length === 0 ? {} : { inputRequests }),
    requestState: token,
    ...(Object.keys(hints).length === 0 ? {} : { _meta: { [extensionKey]: hints } }),
  };
}

/** Warns once per saga, two rounds before clients abandon the call. */
function adviseOnRounds(host: SagaHostCore, turn: SuspendedTurn): void {
  const round = roundAfter(turn);
  if (round !== Math.max(1, clientRounds - 2)) return;
  host.observer.hooks.onWarning(
    `Saga '${turn.saga}' has reached round ${round}. Clients abandon a call after ${clientRounds} rounds. ` +
      (whyAskedAgain(host, turn) ?? 'Ask several questions at once, with all({ … }).'),
  );
}

/** Reasons why a saga asks nothing but what it has asked. Undefined if it asks something new. */
function whyAskedAgain({ observer }: SagaHostCore, { steps }: SuspendedTurn): string | undefined {
  if (steps.length === 0 || steps.some(({ reason }) => reason === undefined)) return undefined;
  const named = (list: typeof steps): string =>
    list.map(({ stepId }) => `'${withoutKeys(stepId)}'`).join(' and ');
  const changed = steps.filter(({ reason }) => reason === questionHasChanged);
  const refused = steps.filter(({ reason }) => reason !== questionHasChanged);
  const whyChanged =
    `The question ${named(changed)} changed since it was asked, so the answer was not used. Read the time with now(), and ` +
    'randomness with random().';
  // A reason may quote the answer.
  const reasons = observer.develops
    ? refused.map(({ reason }) => reason).join(' ')
    : 'Set NODE_ENV=development to see the reasons.';
  const whyRefused = `The answers to ${named(refused)} were not accepted. ${reasons}`;
  return [
    ...(changed.length === 0 ? [] : [whyChanged]),
    ...(refused.length === 0 ? [] : [whyRefused]),
    `See ${troubleshootingLink('a-question-is-asked-again-and-again')}`,
  ].join(' ');
}
