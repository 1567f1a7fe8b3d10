import type { Awaitable } from '@mcp-saga/core';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { principalOf } from '../requests/open-saga.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { WireError } from '../wire/wire-error.ts';
import { beginCall, resumeTokenMethod } from './parts/begin-call.ts';
import { canBeAsked, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/client-call.ts';
import { stepsForClient } from './parts/end-with-token.ts';
import { maxWaitAfter, multiRoundTrip, roundTraits, takeRound, toAnswer } from './multi-round-trip.ts';
import { resumeToken, resumeTokenTraits, toTokenResult } from './resume-token.ts';
import { createTask } from './tasks/create-task.ts';
import { declaresTasks, requiredCapabilities } from './tasks/task-status.ts';
import type { TaskSettings } from '../settings/task-settings.ts';
import { mayHaveTasks } from './tasks/task-id.ts';

const missingCapability = -32021;

/**
 * Tasks (extension `io.modelcontextprotocol/tasks`): after the first questions, the call is answered with a task to poll. A
 * client that cannot be asked, and whose call is no task, is served as if it did not know tasks.
 */
export const tasks: Dialect = {
  name: 'tasks',
  refused: multiRoundTrip.refused,
  carries: (call) => call.requestState !== undefined && knowsTasks(call),
  serves: (call, host) => isRefused(call) || (knowsTasks(call) && host.offers.tasks !== undefined),
  answer: async (host, call) => {
    if (isRefused(call)) return refuse(call);
    const offered = await tasksFor(host, call);
    if (offered === undefined) {
      if (call.saga.task === 'require') throw notOffered(call);
      return await (goesByTokens(call) ? resumeToken : multiRoundTrip).answer(host, call);
    }
    const way = wayOf(host, call);
    const traits = traitsOf(call, offered, way);
    const turn = await way.take(traits);
    if (turn.status !== 'suspended' || (turn.steps.length > 0 && !isDueBeside(host, call, turn, traits)))
      return await way.encode(turn);
    if (isTask(host, call, turn)) {
      const task = await createTask(host, offered, call, turn);
      if (task !== undefined) return task;
      adviseOnStore(host, call, offered);
    }
    // The client was to have this token, unless it was made only to find out what is left to do.
    if ((traits.defersEffects !== true && turn.retryAfterMs === 0) || turn.hasPage === true)
      return await way.encode(turn);
    const { caller, saga, args } = call;
    const request = { methods: [way.method], entry: { target: saga.name, args }, traits: way.traits };
    return await way.encode(await host.resume(turn.token, [], caller, request));
  },
};

/** How a call goes on as long as it is no task. */
interface Way {
  /** By which it is sealed. */
  readonly method: string;
  readonly traits: DialectTraits;
  take(traits: DialectTraits): Promise<SagaTurn>;
  encode(turn: SagaTurn): Awaitable<object>;
}

function wayOf(host: SagaHostCore, call: ClientCall): Way {
  const { method } = call;
  if (goesByTokens(call)) {
    return {
      method: resumeTokenMethod,
      traits: resumeTokenTraits,
      take: (traits) => beginCall(host, call, resumeTokenMethod, traits),
      encode: (turn) => toTokenResult(host, call, turn),
    };
  }
  return {
    method,
    traits: roundTraits(host, call),
    take: (traits) => takeRound(host, call, traits),
    encode: (turn) => toAnswer(host, call, turn),
  };
}

/** Whether a call is one that resume tokens would serve. What began in rounds goes on in them. */
function goesByTokens(call: ClientCall): boolean {
  return call.requestState === undefined && !canBeAsked(call);
}

/** Whether a client is refused for want of tasks, before anything runs. */
export function isRefused({ saga, method, client }: Pick<ClientCall, 'saga' | 'method' | 'client'>): boolean {
  if (saga.task !== 'require' || method !== 'tools/call') return false;
  return client.era === 'legacy' || !declaresTasks(client.capabilities);
}

function knowsTasks({ method, client }: Pick<ClientCall, 'method' | 'client'>): boolean {
  return method === 'tools/call' && client.era === 'modern' && declaresTasks(client.capabilities);
}

function refuse({ saga, client }: ClientCall): object {
  const text = `'${saga.name}' runs as a task, and the client of this call does not know tasks.`;
  if (client.era === 'legacy') return { isError: true, content: [{ type: 'text', text }] };
  throw new WireError(missingCapability, text, { requiredCapabilities });
}

function notOffered({ saga }: ClientCall): SagaHostError {
  return new SagaHostError(
    'forbidden',
    `'${saga.name}' runs as a task, which this server does not offer to this client.`,
  );
}

async function tasksFor(host: SagaHostCore, { caller }: ClientCall): Promise<TaskSettings | undefined> {
  const { tasks: offered } = host.offers;
  const { principal } = host.gate;
  if (offered === undefined) return undefined;
  return mayHaveTasks(offered, await principalOf(caller, principal)) ? offered : undefined;
}

function traitsOf({ saga }: ClientCall, { store }: TaskSettings, { traits }: Way): DialectTraits {
  const { asks = [], asksModel = false } = traits;
  // What there is to run, runs in the task.
  if (saga.task !== undefined && store !== undefined)
    return { asks, asksModel, maxHold: 0, defersEffects: true };
  // What there is to wait for shall not be waited for before it is known whether it makes a task.
  return { asks, asksModel, ...(saga.task === undefined ? {} : { maxHold: 0 }) };
}

/** Whether something is to be run beside a question: it does not wait for the answer, so that the task asks. */
function isDueBeside(
  host: SagaHostCore,
  call: ClientCall,
  turn: SuspendedTurn,
  { defersEffects }: DialectTraits,
): boolean {
  // A task asks the client, and never the model that called.
  const isForModel = goesByTokens(call) || stepsForClient(host, call, turn).length < turn.steps.length;
  if (defersEffects !== true || isForModel) return false;
  return turn.due !== undefined && turn.due <= host.timing.clock();
}

/** Whether a saga that has nothing to ask is a task from here. */
function isTask(host: SagaHostCore, call: ClientCall, turn: SuspendedTurn): boolean {
  const maxWait = goesByTokens(call) ? 0 : maxWaitAfter(host, turn);
  return call.saga.task !== undefined || (turn.retryAfterMs ?? 0) > maxWait;
}

const advised = new WeakSet<ClientCall['saga']>();

/** Said once of a saga. */
function adviseOnStore(host: SagaHostCore, { saga }: ClientCall, { store }: TaskSettings): void {
  if (store !== undefined || saga.task === undefined || advised.has(saga)) return;
  advised.add(saga);
  host.observer.hooks.onWarning(
    `Calls of saga '${saga.name}' are answered without a task. Without a store, a task can only wait, and its ID holds ` +
      'its entire state, which tasks.maxIdLength limits. Give the host tasks: { store }.',
  );
}
