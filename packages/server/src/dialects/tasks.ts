import type { Awaitable } from '@mcp-saga/core';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { ClientHolder } from '../model/holder.ts';
import { principalOf } from '../requests/open-for-caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { WireError } from '../wire/wire-error.ts';
import { beginCall } from './parts/begin-call.ts';
import { resumeTokenMethod } from '../token/sealed-saga.ts';
import { canBeAsked, type Dialect } from './parts/dialect.ts';
import type { ClientCall } from '../model/call-types.ts';
import { stepsForClient } from './parts/interim-result.ts';
import {
  beginRound,
  heldByRounds,
  maxWaitAfter,
  multiRoundTrip,
  roundCapabilities,
  toAnswer,
  useEarlyAnswers,
} from './multi-round-trip.ts';
import {
  heldByModel,
  resumeToken,
  resumeTokenCapabilities,
  toTokenResult,
} from './resume-token.ts';
import { createTask, findTask, isNamedStart } from './tasks/create-task.ts';
import { declaresTasks, requiredCapabilities } from './tasks/task-status.ts';
import { guardFull } from '../guard/ask-guard.ts';
import type { TaskSettings } from '../settings/task-settings.ts';
import { mayHaveTasks } from './tasks/task-id.ts';

const missingCapability = -32021;

/**
 * Tasks (extension `io.modelcontextprotocol/tasks`): after the first questions, the call returns a
 * task to poll. Calls that do not become tasks are served as if the client did not support tasks.
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
    const dialect = taskCapabilities(call, way);
    const taskOf = (turn: SagaTurn) => taskOfRepeated(host, offered, call, turn);
    const begun = await way.begin(dialect, {
      ...way.holder,
      isTask: async (turn) => (await taskOf(turn)) !== undefined,
    });
    const known = await taskOf(begun);
    if (known !== undefined) return known;
    const turn = await way.goOn(begun, dialect);
    if (
      turn.status !== 'suspended' ||
      (turn.steps.length > 0 && !isDueBeside(host, call, turn, dialect))
    )
      return await way.encode(turn);
    if (isTask(host, call, turn)) {
      const task = await createTask(host, offered, call, turn);
      if (task === 'full') {
        // No step has run yet: the turn only looked for work. This saga cannot go on without a task.
        if (call.saga.task === 'require') throw guardFull(host.observer);
        host.observer.reject('guard_full');
      } else return task;
    }
    // The client gets this token, unless the turn only looked for work.
    if ((dialect.effects !== 'later' && turn.retryAfterMs === 0) || turn.hasPage === true)
      return await way.encode(turn);
    const { caller, saga, args } = call;
    const request = {
      methods: [way.method],
      entry: { target: saga.name, args },
      dialect: way.dialect,
    };
    return await way.encode(await host.resume(turn.token, [], caller, request));
  },
};

/**
 * Returns the task of a call that its client repeats. Only the task goes on with its saga: the call
 * must bring no answers, and get no token.
 */
async function taskOfRepeated(
  host: SagaHostCore,
  offered: TaskSettings,
  call: ClientCall,
  turn: SagaTurn,
): Promise<object | undefined> {
  const mayRepeat = call.requestState !== undefined || isNamedStart(call);
  if (!mayRepeat || turn.status !== 'suspended') return undefined;
  return await findTask(host, offered, call, turn);
}

interface Way {
  /** Sealed method. */
  readonly method: string;
  readonly dialect: DialectCapabilities;
  readonly holder: ClientHolder;
  begin(dialect: DialectCapabilities, holder: ClientHolder): Promise<SagaTurn>;
  /** Continues with the answers that came with a first call. */
  goOn(turn: SagaTurn, dialect: DialectCapabilities): Awaitable<SagaTurn>;
  encode(turn: SagaTurn): Awaitable<object>;
}

function wayOf(host: SagaHostCore, call: ClientCall): Way {
  const { method } = call;
  if (goesByTokens(call)) {
    return {
      method: resumeTokenMethod,
      dialect: resumeTokenCapabilities,
      holder: heldByModel,
      begin: (dialect, holder) => beginCall(host, call, resumeTokenMethod, dialect, holder),
      goOn: (turn) => turn,
      encode: (turn) => toTokenResult(host, call, turn),
    };
  }
  return {
    method,
    dialect: roundCapabilities(host, call),
    holder: heldByRounds,
    begin: (dialect, holder) => beginRound(host, call, dialect, holder),
    goOn: (turn, dialect) => useEarlyAnswers(host, call, dialect, turn),
    encode: (turn) => toAnswer(host, call, turn),
  };
}

/** `true` if resume tokens would serve a call. A call that began in rounds continues in rounds. */
function goesByTokens(call: ClientCall): boolean {
  return call.requestState === undefined && !canBeAsked(call);
}

/** `true` if a call is rejected because its client does not support tasks. */
export function isRefused({
  saga,
  method,
  client,
}: Pick<ClientCall, 'saga' | 'method' | 'client'>): boolean {
  if (saga.task !== 'require' || method !== 'tools/call') return false;
  return client.era === 'legacy' || !declaresTasks(client.capabilities);
}

function knowsTasks({ method, client }: Pick<ClientCall, 'method' | 'client'>): boolean {
  return method === 'tools/call' && client.era === 'modern' && declaresTasks(client.capabilities);
}

function refuse({ saga, client }: ClientCall): object {
  const text = `'${saga.name}' only runs as a task, and the client does not support tasks.`;
  if (client.era === 'legacy') return { isError: true, content: [{ type: 'text', text }] };
  throw new WireError(missingCapability, text, { requiredCapabilities });
}

function notOffered({ saga }: ClientCall): SagaHostError {
  return new SagaHostError(
    'forbidden',
    `'${saga.name}' only runs as a task, and the server does not offer tasks to the client.`,
  );
}

async function tasksFor(
  host: SagaHostCore,
  { caller }: ClientCall,
): Promise<TaskSettings | undefined> {
  const { tasks: offered } = host.offers;
  if (offered === undefined) return undefined;
  return mayHaveTasks(offered, await principalOf(caller, host.gate)) ? offered : undefined;
}

function taskCapabilities({ saga }: ClientCall, { dialect }: Way): DialectCapabilities {
  const { asks = [], asksModel = false } = dialect;
  // Steps run in the task.
  return { asks, asksModel, ...(saga.task === undefined ? {} : { maxHold: 0, effects: 'later' }) };
}

/** `true` if a step is due besides a question. The task then asks the question. */
function isDueBeside(
  host: SagaHostCore,
  call: ClientCall,
  turn: SuspendedTurn,
  { effects }: DialectCapabilities,
): boolean {
  // A task asks the client, never the model that called.
  const isForModel = goesByTokens(call) || stepsForClient(call, turn).length < turn.steps.length;
  if (effects !== 'later' || isForModel) return false;
  return turn.due !== undefined && turn.due <= host.timing.clock();
}

/** `true` if a saga without questions becomes a task. */
function isTask(host: SagaHostCore, call: ClientCall, turn: SuspendedTurn): boolean {
  const maxWait = goesByTokens(call) ? 0 : maxWaitAfter(host, turn);
  return call.saga.task !== undefined || (turn.retryAfterMs ?? 0) > maxWait;
}
