import type { AnyStateMachine, AnyStateNode, TransitionDefinition } from 'xstate';
import { kindOf, type LogicKind } from '../adapter/logic-kind.ts';
import { logicOf } from '../adapter/xstate-nodes.ts';
import type { LiveInvoke } from '../model/live-actor.ts';
import { findSourcesInContext, findSpawnedSources } from './mermaid-spawns.ts';
import { mermaidText } from './mermaid-text.ts';
import { askOf, type AskSpec } from '../author/step-logic.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- as XState's own AnyStateNode
type AnyTransition = TransitionDefinition<any, any>;

/** A transition, and what is written on its arrow, as Mermaid takes it. */
export interface LabelledTransition {
  readonly label: string;
  /** None where the state stays as it is. */
  readonly targets: readonly AnyStateNode[];
}

const askNames: { readonly [kind in AskSpec['kind']]: string } = {
  elicit: 'elicit',
  elicitUrl: 'elicitUrl',
  sample: 'sample',
  roots: 'listRoots',
};

const actorNames: { readonly [kind in LogicKind]: string } = {
  client: 'question',
  effect: 'step',
  machine: 'machine',
  promise: 'promise',
  passive: 'actor',
  alien: 'actor',
};

/** What happens while a state is active, a line each as Mermaid takes it. */
export function linesOf(node: AnyStateNode): readonly string[] {
  const { machine } = node;
  const invokes = invokesOf(node).map((invoke) => describeActor(machine, invoke.src, nameOfInvoke(invoke)));
  const spawns = [
    ...(node === machine.root ? findSourcesInContext(machine) : []),
    ...findSpawnedSources(machine, node.entry),
  ].map((src) => describeSpawn(machine, src));
  const lastSpawns = findSpawnedSources(machine, node.exit).map((src) => describeSpawn(machine, src));
  const stays = transitionsOf(node)
    .filter(({ targets }) => targets.length === 0 && node.type !== 'history')
    .map(({ label }) => `${label} (stays)`);
  // A machine that ends there has failed, and is undone.
  const undoes = node.type === 'final' && node.tags.includes('compensate');
  return [
    ...invokes,
    ...spawns,
    ...lastSpawns.map((line) => `${line} on exit`),
    ...stays,
    ...(undoes ? ['compensate'] : []),
  ];
}

/** An actor by its kind and name. */
function describeActor(machine: AnyStateMachine, src: string, name: string): string {
  const logic = logicOf(machine, src);
  const ask = logic === undefined ? undefined : askOf(logic);
  const kind =
    ask === undefined ? actorNames[logic === undefined ? 'alien' : kindOf(logic)] : askNames[ask.kind];
  return mermaidText(name === '' || name === kind ? kind : `${kind} ${name}`);
}

function describeSpawn(machine: AnyStateMachine, src: string): string {
  return `spawns ${describeActor(machine, src, src)}`;
}

/** The transitions of a state, in the order in which XState looks at them. */
export function transitionsOf(node: AnyStateNode): readonly LabelledTransition[] {
  if (node.type === 'history') return [{ label: 'default', targets: defaultsOf(node) }];
  const found = [
    ...(node.always ?? []),
    ...[...node.transitions.values()].flat(),
  ] as readonly AnyTransition[];
  return found.map(({ eventType, guard, actions, target = [] }) => {
    const spawns = findSpawnedSources(node.machine, actions).map((src) => describeSpawn(node.machine, src));
    const label = mermaidText(eventName(node, String(eventType))) + guardSuffix(guard);
    return { label: [label, ...spawns].join(' / '), targets: target };
  });
}

/** Where a history state leads that remembers nothing: where its author says so. */
function defaultsOf(node: AnyStateNode): readonly AnyStateNode[] {
  const { target } = node.config as { readonly target?: string | readonly string[] };
  return [target ?? []]
    .flat()
    .map((path) =>
      path.startsWith('#')
        ? node.machine.getStateNodeById(path)
        : path.split('.').reduce((at, key) => at.states[key] as AnyStateNode, node.parent as AnyStateNode),
    );
}

const dones = { done: 'xstate.done.actor.', error: 'xstate.error.actor.', snapshot: 'xstate.snapshot.' };

function eventName(node: AnyStateNode, type: string): string {
  if (type === '') return 'always';
  if (type === '*') return 'any event';
  if (type === `xstate.done.state.${node.id}`) return 'done';
  for (const [word, prefix] of Object.entries(dones)) {
    const invoke = invokesOf(node).find(({ id }) => type === prefix + id);
    if (invoke === undefined) continue;
    const name = nameOfInvoke(invoke);
    return node.invoke.length === 1 || name === '' ? word : `${word} ${name}`;
  }
  const end = `.${node.id}`;
  if (type.startsWith('xstate.after.') && type.endsWith(end)) {
    return `after ${duration(type.slice('xstate.after.'.length, -end.length))}`;
  }
  return type;
}

function invokesOf(node: AnyStateNode): readonly LiveInvoke[] {
  // Inline logic has a name by now, whatever its type says.
  return node.invoke as readonly LiveInvoke[];
}

/** How an invoke is called in `setup({ actors })`; an inline one by the id that its author gave it. */
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
  const [size, unit] = units.find(([length]) => Number(delay) > 0 && Number(delay) % length === 0) ?? [
    1,
    'ms',
  ];
  return `${Number(delay) / size} ${unit}`;
}

function guardSuffix(guard: unknown): string {
  return guard === undefined ? '' : ` [${mermaidText(guardName(guard))}]`;
}

function guardName(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  if (typeof guard === 'function') {
    const { guards, stateValue } = guard as {
      readonly guards?: readonly unknown[];
      readonly stateValue?: unknown;
    };
    if (stateValue !== undefined) {
      return `in ${typeof stateValue === 'string' ? stateValue : JSON.stringify(stateValue)}`;
    }
    if (guards === undefined) return guard.name === '' ? 'guard' : guard.name;
    if (guards.length === 1) return `not ${guardName(guards[0])}`;
    return guards.map(guardName).join(` ${guard.name} `);
  }
  const { type } = Object(guard) as { readonly type?: unknown };
  return typeof type === 'string' ? type : 'guard';
}
