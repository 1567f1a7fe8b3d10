/**
 * States that wait for events from outside. A machine that was written for a page or a chat waits in
 * such states for what its user does. Here the option `asks` says how to get the event: each asked
 * state gets an invoke of a question, an approval, or a webhook, in a copy of the machine, and the
 * answer sends the event, as that page would. So an asked state is stored, undone, and checked after
 * a change like any state with an invoke.
 *
 * - The machine of the author is not changed, and does not know of the question.
 * - While a state is active, it is asked: an event that does not leave the state leads to the next
 *   question, with the context of then.
 * - A machine of a page may have no end, since its page is closed. An answer or a state ends it here,
 *   as XState stops an actor, and the option `result` tells what it had become.
 * - A state that only an event from outside could leave, and that nobody asks, is refused when the
 *   saga is defined, before anything has run.
 */
import { nearestName } from '@mcp-saga/core/shared';
import { AuthoringError } from '@mcp-saga/core/program';
import {
  and,
  createMachine,
  enqueueActions,
  sendTo,
  spawnChild,
  type AnyActorLogic,
  type AnyStateMachine,
  type AnyStateNode,
  type ContextFrom,
  type EventFrom,
  type InputFrom,
  type OutputFrom,
} from 'xstate';
import { relay } from '../adapter/xstate-actors.ts';
import { askOf } from '../author/step-logic.ts';
import { outsideOf } from '../author/outside-logic.ts';
import { nodesOf, rootOf } from '../adapter/xstate-nodes.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { assertWaysOut, pathOf, statesOf, type StateOfPath } from './ways-out.ts';
import type { AskedState } from '../model/machine-options.ts';

/** How a state gets the event that it waits for. */
export interface StateAsk<M extends AnyStateMachine, L> {
  /** Logic that gets an answer: `elicit`, `elicitUrl`, `sample`, `approval`, or `waitFor`. */
  readonly ask: L;
  /** Makes the `input` of the logic when the state is asked. Default: undefined. */
  readonly input?: (at: { readonly context: ContextFrom<M> }) => InputFrom<L & AnyActorLogic>;
  /** Sends the event that the answer stands for. Without an event, the state is asked again. */
  readonly onAnswer: (got: Got<M> & { readonly answer: OutputFrom<L & AnyActorLogic> }) => void;
  /**
   * Sends an event for a refusal, a timeout, or another error of the logic. Without an event or an
   * end, the saga fails with the error, and is undone.
   */
  readonly onError?: (got: Got<M> & { readonly error: unknown }) => void;
}

interface Got<M extends AnyStateMachine> {
  readonly context: ContextFrom<M>;
  readonly send: (event: EventFrom<M>) => void;
  /**
   * Ends the saga after the events that were sent, for a machine without a final state. The option
   * `result` makes the result.
   */
  readonly end: () => void;
}

type UntypedAsk = StateAsk<AnyStateMachine, AnyActorLogic>;
type StateConfig = {
  readonly entry?: unknown;
  readonly states?: { readonly [key: string]: StateConfig };
  readonly invoke?: unknown;
  readonly on?: object;
};

/** Returns a copy of a machine that asks in some of its states. Throws AuthoringError. */
export function withAsks(
  name: string,
  machine: AnyStateMachine,
  asks: { readonly [state: string]: unknown },
  hasResult: boolean,
): { readonly machine: AnyStateMachine; readonly asked: readonly AskedState[] } {
  const asked: AskedState[] = [];
  const end = endOf(name, hasResult);
  const logics: Record<string, AnyActorLogic> = {};
  let config = machine.config as StateConfig;
  const states = statesOf(machine.root, []);
  for (const [path, given] of Object.entries(asks)) {
    const { node, keys } = stateAt(name, states, path);
    if (given === 'internal') continue;
    // A final state inside of another state may end the saga.
    if (node.type === 'history' || (node.type === 'final' && given !== 'end'))
      throw neverWaits(name, path, node);
    if (given === 'end') {
      config = changedState(config, keys, (state) => endingConfig(state, end(path)));
      continue;
    }
    const ask = checkedAsk(name, path, given);
    const stepId = stepIdOf(machine, path);
    logics[sourceOf(stepId)] = ask.ask;
    config = changedState(config, keys, (state) => askedConfig(state, stepId, ask, end(path)));
    asked.push({ nodeId: node.id, stepId });
  }
  assertWaysOut(name, machine, asks);
  config = withoutWildcards(config, asked);
  const { implementations } = machine;
  const actors = { ...implementations.actors, ...logics };
  const made =
    config === machine.config
      ? machine
      : createMachine(config as never, { ...implementations, actors } as never);
  return { machine: made as AnyStateMachine, asked };
}

/** Asks each active state again whose question has ended. */
export function askAgain(root: LiveActor, asked: readonly AskedState[]): void {
  for (const { nodeId, stepId } of asked) {
    const { _nodes: nodes = [], children = {}, status } = root.getSnapshot();
    if (status !== 'active' || !nodes.some(({ id }) => id === nodeId)) continue;
    const child = Object.hasOwn(children, stepId) ? children[stepId] : undefined;
    if (child?.getSnapshot().status === 'active') continue;
    relay(root, root, { type: againType(stepId) });
  }
}

/** Returns the event that ends the machine where it is. XState stops an actor by it. */
function endOf(name: string, hasResult: boolean): (path: string) => () => object {
  return (path) => () => {
    if (hasResult) return { type: 'xstate.stop' };
    throw new AuthoringError(
      `Saga '${name}': asks['${path}'] ends the machine, which has no result then. Add the option ` +
        '`result: ({ context, value }) => …`.',
      { anchor: 'invalid_result' },
    );
  };
}

/** Ends the machine when a state is entered. */
function endingConfig(state: StateConfig, end: () => object): StateConfig {
  const event = end();
  return {
    ...state,
    entry: [...[state.entry ?? []].flat(), sendTo(({ self }) => self, event as never)],
  };
}

const sourceOf = (stepId: string): string => `asks.${stepId}`;

const againType = (stepId: string): string => `mcp-saga.ask.${stepId}`;

/**
 * ID of the question of a state: its path, without the characters that paths of actors have, and
 * another one if the machine has an invoke of that name.
 */
function stepIdOf(machine: AnyStateMachine, path: string): string {
  const id = path.replaceAll(/[/@#]|^[~!]/g, '-');
  const isTaken: boolean = nodesOf(rootOf(machine)).some(({ invoke }) =>
    invoke.some((other) => other.id === id),
  );
  // XState would find what each object inherits.
  return isTaken || id in Object.prototype ? `${id}.asked` : id;
}

function stateAt(name: string, states: readonly StateOfPath[], path: string): StateOfPath {
  const paths = states.map(pathOf);
  const found = states[paths.indexOf(path)];
  if (found !== undefined) return found;
  const nearest = nearestName(path, paths);
  const hint =
    nearest === undefined ? ` Its states: ${paths.join(', ')}.` : ` Did you mean '${nearest}'?`;
  throw new AuthoringError(
    `Saga '${name}': the option \`asks\` names the state '${path}', which the machine does not have.${hint}`,
    { anchor: 'machines' },
  );
}

function neverWaits(name: string, state: string, { type }: AnyStateNode): AuthoringError {
  return new AuthoringError(
    `Saga '${name}': asks['${state}'] is a ${type} state, in which no machine waits.`,
    { anchor: 'machines' },
  );
}

function checkedAsk(name: string, state: string, given: unknown): UntypedAsk {
  const { ask, onAnswer } = Object(given) as Partial<UntypedAsk>;
  const isLogic =
    typeof ask === 'object' && (askOf(ask) !== undefined || outsideOf(ask) !== undefined);
  if (isLogic && typeof onAnswer === 'function') return given as UntypedAsk;
  throw new AuthoringError(
    `Saga '${name}': asks['${state}'] needs an \`ask\`, such as elicit({ … }) of '@mcp-saga/xstate', and ` +
      "`onAnswer: ({ answer, send }) => send({ type: … })`. Write 'internal' if another part of the machine sends the event, " +
      "and 'end' if the saga ends there.",
    { anchor: 'machines' },
  );
}

function changedState(
  config: StateConfig,
  [key, ...rest]: readonly string[],
  change: (state: StateConfig) => StateConfig,
): StateConfig {
  if (key === undefined) return change(config);
  const below = changedState(config.states?.[key] ?? {}, rest, change);
  return { ...config, states: { ...config.states, [key]: below } };
}

/** Adds the question to a state: an invoke when it is entered, and an actor for each repetition. */
function askedConfig(
  state: StateConfig,
  stepId: string,
  { input, onAnswer, onError }: UntypedAsk,
  ending: () => object,
): StateConfig {
  const src = sourceOf(stepId);
  const inputOf = ({ context }: { readonly context: unknown }): unknown =>
    input?.({ context: context as never });
  const answering = (answer: (event: never, got: Got<AnyStateMachine>) => unknown): object =>
    enqueueActions(({ context, event, enqueue, self }) => {
      // A finished actor keeps its ID until it is stopped.
      enqueue.stopChild(stepId);
      const send = (sent: object): void => enqueue.sendTo(self, sent as never);
      const end = (): void => send(ending());
      const returned = answer(event as never, { context: context as never, send, end });
      if (!(returned instanceof Promise)) return;
      // An unhandled rejection would end the process.
      returned.catch(() => undefined);
      throw new AuthoringError(
        `asks['${stepId}'] has an async function, whose event would come too late. Do the work in an invoke of the machine.`,
        { anchor: 'machines' },
      );
    });
  const failing = (error: unknown, got: Got<AnyStateMachine>): unknown => {
    let isSent = false;
    const noted =
      <E extends readonly unknown[]>(send: (...event: E) => void) =>
      (...event: E): void => {
        isSent = true;
        send(...event);
      };
    const { context, send, end } = got;
    const returned: unknown = onError?.({ context, send: noted(send), end: noted(end), error });
    // Asked again, the question would fail again.
    if (!isSent && !(returned instanceof Promise)) throw error;
    return returned;
  };
  const invoke = {
    id: stepId,
    src,
    input: inputOf,
    onDone: {
      actions: answering(({ output }: { readonly output: never }, got) =>
        onAnswer({ ...got, answer: output }),
      ),
    },
    onError: {
      actions: answering(({ error }: { readonly error: unknown }, got) => failing(error, got)),
    },
  };
  return {
    ...state,
    invoke: [...[state.invoke ?? []].flat(), invoke],
    on: {
      ...state.on,
      [againType(stepId)]: {
        actions: spawnChild(src as never, { id: stepId, input: inputOf }),
      },
    },
  };
}

/**
 * Keeps the events of questions from transitions of the author for any event: the machine has none
 * of these events where it was written for.
 */
function withoutWildcards(config: StateConfig, asked: readonly AskedState[]): StateConfig {
  if (asked.length === 0) return config;
  const own = new Set(
    asked.flatMap(({ stepId }) => [
      `xstate.done.actor.${stepId}`,
      `xstate.error.actor.${stepId}`,
      againType(stepId),
    ]),
  );
  const isForAuthor = ({ event }: { readonly event: { readonly type: string } }): boolean =>
    !own.has(event.type);
  const guarded = (given: unknown): unknown => {
    const transition = (typeof given === 'object' ? given : { target: given }) as {
      readonly guard?: unknown;
    };
    const { guard } = transition;
    return {
      ...transition,
      guard: guard === undefined ? isForAuthor : and([isForAuthor, guard] as never),
    };
  };
  const walk = (state: StateConfig): StateConfig => {
    const { on = {}, states } = state;
    const any = (on as { readonly '*'?: unknown })['*'];
    return {
      ...state,
      ...(any === undefined ? {} : { on: { ...on, '*': [any].flat().map(guarded) } }),
      ...(states === undefined
        ? {}
        : {
            states: Object.fromEntries(
              Object.entries(states).map(([key, inside]) => [key, walk(inside)]),
            ),
          }),
    };
  };
  return walk(config);
}
