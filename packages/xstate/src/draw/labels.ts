import {
  and,
  not,
  or,
  type AnyStateMachine,
  type AnyStateNode,
  type TransitionDefinition,
} from 'xstate';
import { kindOf, type LogicKind } from '../adapter/logic-kind.ts';
import { logicOf } from '../adapter/xstate-nodes.ts';
import type { LiveInvoke } from '../model/live-actor.ts';
import { findSourcesInContext, findSpawnedSources } from './spawned-sources.ts';
import { outsideOf } from '../author/outside-logic.ts';
import { askOf, type AskSpec } from '../author/step-logic.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- as XState's own AnyStateNode
type AnyTransition = TransitionDefinition<any, any>;

/** Transition with the texts of its arrow, not escaped. */
export interface LabelledTransition {
  /** Event type of XState; empty for `always` and for the default of a history state. */
  readonly type: string;
  readonly kind: TransitionKind;
  /** Event as a reader knows it, such as `after 5 min`. */
  readonly event: string;
  readonly guard: string | undefined;
  /** Actors that the transition spawns. */
  readonly spawns: readonly string[];
  /** Targets; empty if the state does not change. */
  readonly targets: readonly AnyStateNode[];
}

/** Cause of a transition. `actor`: a result, an error, or a snapshot of an invoked actor. */
export type TransitionKind = 'event' | 'always' | 'after' | 'done' | 'actor' | 'default';

const askNames: { readonly [kind in AskSpec['kind']]: string } = {
  elicit: 'elicit',
  elicitUrl: 'elicitUrl',
  sample: 'sample',
  roots: 'listRoots',
};

const actorNames: { readonly [kind in LogicKind]: string } = {
  client: 'question',
  effect: 'step',
  outside: 'approval',
  machine: 'machine',
  promise: 'promise',
  passive: 'actor',
  alien: 'actor',
};

/** Returns the actors that a state invokes and spawns, as lines. */
export function activitiesOf(node: AnyStateNode): readonly string[] {
  const { machine } = node;
  const invokes = invokesOf(node).map((invoke) =>
    describeActor(machine, invoke.src, nameOfInvoke(invoke)),
  );
  const spawns = [
    ...(node === machine.root ? findSourcesInContext(machine) : []),
    ...findSpawnedSources(machine, node.entry),
  ].map((src) => describeSpawn(machine, src));
  const lastSpawns = findSpawnedSources(machine, node.exit).map((src) =>
    describeSpawn(machine, src),
  );
  return [...invokes, ...spawns, ...lastSpawns.map((line) => `${line} on exit`)];
}

/** Returns `true` if a machine that ends in this state is undone. */
export function isUndone(node: AnyStateNode): boolean {
  return node.type === 'final' && node.tags.includes('compensate');
}

/** Returns kind and name of an actor. */
function describeActor(machine: AnyStateMachine, src: string, name: string): string {
  const logic = logicOf(machine, src);
  const ask = logic === undefined ? undefined : askOf(logic);
  const outside = logic === undefined ? undefined : outsideOf(logic);
  const kind =
    ask === undefined
      ? (outside?.kind ?? actorNames[logic === undefined ? 'alien' : kindOf(logic)])
      : askNames[ask.kind];
  return name === '' || name === kind ? kind : `${kind} ${name}`;
}

function describeSpawn(machine: AnyStateMachine, src: string): string {
  return `spawns ${describeActor(machine, src, src)}`;
}

/** Returns the transitions of a state, in the order of XState. */
export function transitionsOf(node: AnyStateNode): readonly LabelledTransition[] {
  if (node.type === 'history') {
    const targets = defaultsOf(node);
    if (targets.length === 0) return [];
    return [{ type: '', kind: 'default', event: 'default', guard: undefined, spawns: [], targets }];
  }
  const found = [
    ...(node.always ?? []),
    ...[...node.transitions.values()].flat(),
  ] as readonly AnyTransition[];
  return found.map(({ eventType, guard, actions, target = [] }) => {
    const type = String(eventType);
    return {
      type,
      ...describeEvent(node, type),
      guard: guard === undefined ? undefined : guardName(guard),
      spawns: findSpawnedSources(node.machine, actions).map((src) =>
        describeSpawn(node.machine, src),
      ),
      targets: target,
    };
  });
}

/** Returns the default targets of a history state. */
function defaultsOf(node: AnyStateNode): readonly AnyStateNode[] {
  const { target } = node.config as { readonly target?: string | readonly string[] };
  const parent = node.parent?.id.replaceAll(/[.\\]/g, String.raw`\$&`);
  return [target ?? []]
    .flat()
    .map((path) =>
      node.machine.getStateNodeById(path.startsWith('#') ? path : `#${parent}.${path}`),
    );
}

const dones = {
  done: 'xstate.done.actor.',
  error: 'xstate.error.actor.',
  snapshot: 'xstate.snapshot.',
};

function describeEvent(
  node: AnyStateNode,
  type: string,
): { readonly kind: TransitionKind; readonly event: string } {
  if (type === '') return { kind: 'always', event: 'always' };
  if (type === '*') return { kind: 'event', event: 'any event' };
  if (type === `xstate.done.state.${node.id}`) return { kind: 'done', event: 'done' };
  for (const [word, prefix] of Object.entries(dones)) {
    const invoke = invokesOf(node).find(({ id }) => type === prefix + id);
    if (invoke === undefined) continue;
    const name = nameOfInvoke(invoke);
    return {
      kind: 'actor',
      event: node.invoke.length === 1 || name === '' ? word : `${word} ${name}`,
    };
  }
  const end = `.${node.id}`;
  if (type.startsWith('xstate.after.') && type.endsWith(end)) {
    return {
      kind: 'after',
      event: `after ${duration(type.slice('xstate.after.'.length, -end.length))}`,
    };
  }
  return { kind: 'event', event: type };
}

function invokesOf(node: AnyStateNode): readonly LiveInvoke[] {
  // Inline logic has a generated name, against its type.
  return node.invoke as readonly LiveInvoke[];
}

/** Returns the name of an invoke in `setup({ actors })`, or the ID of an inline invoke. */
function nameOfInvoke({ src, id }: LiveInvoke): string {
  if (!src.startsWith('xstate.invoke.')) return src;
  return /^\d+\./.test(id) ? '' : id;
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

function duration(delay: string): string {
  if (!/^\d+$/.test(delay)) return delay;
  const [size, unit] = units.find(
    ([length]) => Number(delay) > 0 && Number(delay) % length === 0,
  ) ?? [1, 'ms'];
  return `${Number(delay) / size} ${unit}`;
}

type Composed = { readonly [key in 'check' | 'stateValue']?: unknown } & {
  readonly guards?: unknown[];
};

/** Names a guard. A list inside another guard has brackets. */
function guardName(guard: unknown, isInside: boolean = false): string {
  if (typeof guard !== 'function') {
    const { type = guard } = Object(guard) as { readonly type?: unknown };
    return typeof type === 'string' ? type : 'guard';
  }
  const { guards, stateValue, check, name } = guard as typeof guard & Composed;
  if (stateValue !== undefined)
    return `in ${typeof stateValue === 'string' ? stateValue : JSON.stringify(stateValue)}`;
  if (guards === undefined) return name === '' ? 'guard' : name;
  // A minified XState has other names for its functions.
  const samples: Readonly<Record<string, object>> = { and: and([]), or: or([]), not: not('') };
  const operator =
    Object.keys(samples).find((each) => (samples[each] as Composed).check === check) ?? name;
  if (operator === 'not') return `not ${guardName(guards[0], true)}`;
  if (guards.length === 1) return guardName(guards[0], isInside);
  const list = guards.map((each) => guardName(each, true)).join(` ${operator} `) || operator;
  return isInside ? `(${list})` : list;
}
