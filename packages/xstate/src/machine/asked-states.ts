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
 * - A state that only an event from outside could leave, and that nobody asks, is refused when the
 *   saga is defined, before anything has run.
 */
import { nearestName } from '@mcp-saga/core/shared';
import { AuthoringError } from '@mcp-saga/core/program';
import {
  createMachine,
  enqueueActions,
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
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import { namedLogicsOf } from '../adapter/xstate-nodes.ts';
import type { LiveActor, LiveNode } from '../model/live-actor.ts';
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
   * Sends an event for a refusal, a timeout, or another error of the logic. Default: the saga fails
   * with the error, and is undone.
   */
  readonly onError?: (got: Got<M> & { readonly error: unknown }) => void;
}

interface Got<M extends AnyStateMachine> {
  readonly context: ContextFrom<M>;
  readonly send: (event: EventFrom<M>) => void;
}

type UntypedAsk = StateAsk<AnyStateMachine, AnyActorLogic>;
type StateConfig = {
  readonly states?: { readonly [key: string]: StateConfig };
  readonly invoke?: unknown;
  readonly on?: object;
};

/** Returns a copy of a machine that asks in some of its states. Throws AuthoringError. */
export function withAsks(
  name: string,
  machine: AnyStateMachine,
  asks: { readonly [state: string]: unknown },
): { readonly machine: AnyStateMachine; readonly asked: readonly AskedState[] } {
  const asked: AskedState[] = [];
  const logics: Record<string, AnyActorLogic> = {};
  let config = machine.config as StateConfig;
  for (const [stepId, given] of Object.entries(asks)) {
    const node = stateAt(name, machine, stepId);
    if (given === 'internal') continue;
    const ask = checkedAsk(name, stepId, given);
    logics[sourceOf(stepId)] = ask.ask;
    config = changedState(config, stepId.split('.'), (state) => askedConfig(state, stepId, ask));
    asked.push({ nodeId: node.id, stepId });
  }
  assertWaysOut(name, machine, new Set(Object.keys(asks)));
  const { implementations } = machine;
  const actors = { ...implementations.actors, ...logics };
  const made =
    asked.length === 0
      ? machine
      : createMachine(config as never, { ...implementations, actors } as never);
  return { machine: made as AnyStateMachine, asked };
}

/** Asks each active state again whose question has ended. */
export function askAgain(root: LiveActor, asked: readonly AskedState[]): void {
  for (const { nodeId, stepId } of asked) {
    const { _nodes: nodes = [], children = {}, status } = root.getSnapshot();
    if (status !== 'active' || !nodes.some(({ id }) => id === nodeId)) continue;
    if (children[stepId]?.getSnapshot().status === 'active') continue;
    relay(root, root, { type: againType(stepId) });
  }
}

const sourceOf = (stepId: string): string => `asks.${stepId}`;

const againType = (stepId: string): string => `mcp-saga.ask.${stepId}`;

function stateAt(name: string, machine: AnyStateMachine, path: string): AnyStateNode {
  let node: AnyStateNode | undefined = machine.root;
  for (const key of path.split('.'))
    node = Object.hasOwn(node?.states ?? {}, key) ? node?.states[key] : undefined;
  if (node !== undefined) return node;
  const known = pathsBelow(machine.root, '');
  const nearest = nearestName(path, known);
  const hint =
    nearest === undefined ? ` Its states: ${known.join(', ')}.` : ` Did you mean '${nearest}'?`;
  throw new AuthoringError(
    `Saga '${name}': the option \`asks\` names the state '${path}', which the machine does not have.${hint}`,
    { anchor: 'machines' },
  );
}

function pathsBelow({ states }: AnyStateNode, prefix: string): readonly string[] {
  return Object.entries(states).flatMap(([key, node]) => [
    prefix + key,
    ...pathsBelow(node, `${prefix}${key}.`),
  ]);
}

function checkedAsk(name: string, state: string, given: unknown): UntypedAsk {
  const { ask, onAnswer } = Object(given) as Partial<UntypedAsk>;
  const isLogic =
    typeof ask === 'object' && (askOf(ask) !== undefined || outsideOf(ask) !== undefined);
  if (isLogic && typeof onAnswer === 'function') return given as UntypedAsk;
  throw new AuthoringError(
    `Saga '${name}': asks['${state}'] needs an \`ask\`, such as elicit({ … }) of '@mcp-saga/xstate', and ` +
      "`onAnswer: ({ answer, send }) => send({ type: … })`. Write 'internal' if another part of the machine sends the event.",
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
): StateConfig {
  const src = sourceOf(stepId);
  const inputOf = ({ context }: { readonly context: unknown }): unknown =>
    input?.({ context: context as never });
  const answering = (answer: (event: never, got: Got<AnyStateMachine>) => void): object =>
    enqueueActions(({ context, event, enqueue, self }) => {
      // A finished actor keeps its ID until it is stopped.
      enqueue.stopChild(stepId);
      const send = (sent: object): void => enqueue.sendTo(self, sent as never);
      answer(event as never, { context: context as never, send });
    });
  const invoke = {
    id: stepId,
    src,
    input: inputOf,
    onDone: {
      actions: answering(({ output }: { readonly output: never }, got) =>
        onAnswer({ ...got, answer: output }),
      ),
    },
    ...(onError === undefined
      ? {}
      : {
          onError: {
            actions: answering(({ error }: { readonly error: unknown }, got) =>
              onError({ ...got, error }),
            ),
          },
        }),
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
 * Throws AuthoringError for a state that nothing can leave: its saga would get stuck there, after
 * its effects. A machine that sends events to itself, and regions, which do so for each other, are
 * left to the run.
 */
function assertWaysOut(name: string, machine: AnyStateMachine, known: ReadonlySet<string>): void {
  if (sendsEvents(machine, new Set())) return;
  const walk = (
    node: AnyStateNode,
    path: string,
    canLeave: boolean,
    above: readonly string[],
  ): void => {
    if (
      known.has(path) ||
      node.type === 'final' ||
      node.type === 'history' ||
      node.type === 'parallel'
    )
      return;
    const isLeft = canLeave || leavesByItself(node);
    const events = [...above, ...eventsOf(node)];
    const inside = Object.entries(node.states);
    for (const [key, state] of inside)
      walk(state, path === '' ? key : `${path}.${key}`, isLeft, events);
    if (inside.length > 0 || isLeft || events.length === 0) return;
    throw new AuthoringError(
      `Saga '${name}' would wait for ever in state '${path}', which only ${listOf(events)} can leave. Say who sends it: ` +
        `asks: { '${path}': { ask: elicit({ … }), onAnswer: ({ answer, send }) => send({ type: '${events[0]}' }) } }, or ` +
        "'internal' if another part of the machine does.",
      { anchor: 'machines' },
    );
  };
  walk(machine.root, '', false, []);
}

/** Returns the events from outside that a state takes. */
export function eventsOf({ transitions }: Pick<LiveNode, 'transitions'>): readonly string[] {
  return [...transitions.keys()].filter(
    (type) => type !== '' && !/^(?:xstate|mcp-saga)\./.test(type),
  );
}

function listOf(events: readonly string[]): string {
  return [...new Set(events)].map((type) => (type === '*' ? 'any event' : type)).join(', ');
}

/** `true` if a state is left without an event from outside: at once, after a delay, or by an actor. */
function leavesByItself({ always = [], after, invoke, transitions }: AnyStateNode): boolean {
  return (
    after.length > 0 ||
    invoke.length > 0 ||
    always.some(({ guard }) => guard === undefined) ||
    [...transitions.keys()].some((type) => type.startsWith('xstate.'))
  );
}

const sending = /^xstate\.(?:raise|sendTo|enqueueActions|forwardTo|emit)$/;

/** `true` if a machine, or a machine inside, may send events by its own actions. */
function sendsEvents(machine: AnyStateMachine, seen: Set<object>): boolean {
  if (seen.has(machine)) return false;
  seen.add(machine);
  const { actions: named } = machine.implementations as {
    readonly actions: Record<string, unknown>;
  };
  const sends = (action: unknown): boolean => {
    const { type } = Object(action) as { readonly type?: unknown };
    const name = typeof action === 'string' ? action : type;
    if (typeof name === 'string' && Object.hasOwn(named, name)) return sends(named[name]);
    return typeof type === 'string' && sending.test(type);
  };
  const inNode = (node: AnyStateNode): boolean =>
    [
      ...node.entry,
      ...node.exit,
      ...[...node.transitions.values()].flat().flatMap(({ actions }) => actions),
      ...(node.always ?? []).flatMap(({ actions }) => actions),
    ].some(sends) || Object.values(node.states).some(inNode);
  return (
    inNode(machine.root) ||
    Object.values(namedLogicsOf(machine)).some((logic) =>
      isMachine(logic) ? sendsEvents(logic, seen) : kindOf(logic) === 'passive',
    )
  );
}
