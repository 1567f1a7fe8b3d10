import type { DialectTraits } from '../host/dialect-traits.ts';
import { principalOf } from '../host/caller.ts';
import { SagaHostError } from '../host/errors.ts';
import type { SagaHostCore } from '../host/host.ts';
import type { SuspendedTurn } from '../host/turn.ts';
import { WireError } from '../mcp/wire-error.ts';
import type { ClientCall, Dialect } from './dialect.ts';
import { multiRoundTrip, roundTraits, takeRound, toAnswer } from './multi-round-trip.ts';
import { createTask } from './tasks/create.ts';
import { declaresTasks, requiredCapabilities } from './tasks/declared.ts';
import type { TaskSettings } from './tasks/options.ts';
import { mayHaveTasks } from './tasks/task-id.ts';

const missingCapability = -32021;

/**
 * Tasks (extension `io.modelcontextprotocol/tasks`): the call is answered with a task as soon as there is nothing to ask
 * first, and the client polls it. What comes before is asked in the rounds of the call, as MCP recommends.
 */
export const tasks: Dialect = {
  name: 'tasks',
  refused: multiRoundTrip.refused,
  carries: (call) => call.requestState !== undefined && knowsTasks(call),
  serves: (call, host) => isRefused(call) || (knowsTasks(call) && host.settings.tasks !== undefined),
  answer: async (host, call) => {
    if (isRefused(call)) return refuse(call);
    const offered = await tasksFor(host, call);
    if (offered === undefined) {
      if (call.saga.task === 'require') throw notOffered(call);
      return await multiRoundTrip.answer(host, call);
    }
    const rounds = roundTraits(host, call);
    const traits = traitsOf(call, offered);
    const turn = await takeRound(host, call, traits);
    if (turn.status !== 'suspended' || (turn.steps.length > 0 && !isDueBeside(host, turn, traits)))
      return toAnswer(host, call, turn);
    if (isTask(call, turn, rounds)) {
      const task = await createTask(host.settings, offered, call, turn);
      if (task !== undefined) return task;
      adviseOnStore(host, call, offered);
    }
    // The client was to have this token, unless it was made only to find out what is left to do.
    if (traits.defersEffects !== true && turn.retryAfterMs === 0) return toAnswer(host, call, turn);
    const { caller, method, saga } = call;
    const request = { methods: [method], entry: { target: saga.name, args: call.args }, traits: rounds };
    return toAnswer(host, call, await host.resume(turn.token, [], caller, request));
  },
};

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

async function tasksFor(
  { settings }: SagaHostCore,
  { caller }: ClientCall,
): Promise<TaskSettings | undefined> {
  const { tasks: offered, principal } = settings;
  if (offered === undefined) return undefined;
  return mayHaveTasks(offered, await principalOf(caller, principal)) ? offered : undefined;
}

function traitsOf({ saga, client }: ClientCall, { store }: TaskSettings): DialectTraits {
  const { asks } = client;
  // What there is to run, runs in the task.
  if (saga.task !== undefined && store !== undefined) return { asks, maxHold: 0, defersEffects: true };
  // What there is to wait for shall not be waited for before it is known whether it makes a task.
  return { asks, ...(saga.task === undefined ? {} : { maxHold: 0 }) };
}

/** Whether something is to be run beside a question: it does not wait for the answer, so that the task asks. */
function isDueBeside(
  { settings }: SagaHostCore,
  { due }: SuspendedTurn,
  { defersEffects }: DialectTraits,
): boolean {
  return defersEffects === true && due !== undefined && due <= settings.clock();
}

/** Whether a saga that has nothing to ask is a task from here. */
function isTask(
  { saga }: ClientCall,
  { turn, retryAfterMs = 0 }: SuspendedTurn,
  rounds: DialectTraits,
): boolean {
  return saga.task !== undefined || retryAfterMs > (rounds.maxWait?.(turn + 1) ?? 0);
}

const advised = new WeakSet<ClientCall['saga']>();

/** Said once of a saga. */
function adviseOnStore({ settings }: SagaHostCore, { saga }: ClientCall, { store }: TaskSettings): void {
  if (store !== undefined || saga.task === undefined || advised.has(saga)) return;
  advised.add(saga);
  settings.warn(
    `Calls of saga '${saga.name}' are answered without a task: more is left to do in it than to wait. Give the host ` +
      'tasks: { store } to have it done in tasks.',
  );
}
