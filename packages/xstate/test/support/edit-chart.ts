import type { Tape } from './tape.ts';

/** A state in the configuration of a machine, to be edited. */
interface Config {
  id?: string;
  type?: string;
  initial?: string;
  history?: string;
  description?: string;
  states?: Record<string, Config>;
  invoke?: Invoke[];
  after?: Record<string, unknown>;
  [key: string]: unknown;
}

interface Invoke {
  src?: unknown;
  id?: string;
  [key: string]: unknown;
}

/** A change of a chart, always the same one. */
export interface ChartEdit {
  readonly kind: EditKind;
  /** `true` if the chart does the same as before. */
  readonly isNeutral: boolean;
  readonly apply: (config: object, name: string) => object;
}

const kinds = [
  'a description is added',
  'a state is added that nothing reaches',
  'a state is added inside',
  'a region is added',
  'a state is removed',
  'a state is renamed',
  'a region has ended',
  'regions change places',
  'a parallel state is no longer parallel',
  'a state is parallel now',
  'an invoke is added',
  'an invoke is removed',
  'an invoke is renamed',
  'an invoke has another source',
  'a delay is added',
  'a delay is changed',
  'a delay is removed',
  'a history is deep or shallow now',
  'a completion is no longer handled',
] as const;

/** Possible changes of a chart. */
export type EditKind = (typeof kinds)[number];

/** Draws a change of a chart, of one of its machines: the others are left as they are. */
export function drawEdit(tape: Tape, machines: readonly string[]): ChartEdit {
  const kind = tape.of(kinds);
  const machine = tape.of(machines);
  const picks = Array.from({ length: 4 }, () => tape.pick(60));
  const isNeutral =
    kind === 'a description is added' || kind === 'a state is added that nothing reaches';
  return {
    kind,
    isNeutral,
    apply: (config, name) => {
      if (name === machine) edit(kind, config as Config, picks);
      return config;
    },
  };
}

function edit(
  kind: EditKind,
  root: Config,
  [where = 0, which = 0, what = 0]: readonly number[],
): void {
  const all = statesOf(root);
  const one = (states: readonly State[]): State | undefined =>
    states[where % Math.max(1, states.length)];
  const node = one(all);
  const withInvoke = one(all.filter(({ config }) => (config.invoke ?? []).length > 0))?.config;
  const invoke = withInvoke?.invoke?.[which % (withInvoke.invoke.length || 1)];
  const withAfter = one(all.filter(({ config }) => config.after !== undefined))?.config;
  const plain = one(
    all.filter(({ config }) => config.type !== 'history' && config.type !== 'final'),
  );
  const parallel = one(all.filter(({ config }) => config.type === 'parallel'));
  switch (kind) {
    case 'a description is added':
      if (node !== undefined) node.config.description = 'New words.';
      return;
    case 'a state is added that nothing reaches': {
      const parent = one(all.filter(({ config }) => config.initial !== undefined))?.config ?? root;
      // A region would be entered.
      if (parent.type !== 'parallel') parent.states = { ...parent.states, added: { id: 'added' } };
      return;
    }
    case 'a state is added inside':
      if (plain !== undefined && plain.config.states === undefined) {
        Object.assign(plain.config, { initial: 'added', states: { added: { id: 'added' } } });
      }
      return;
    case 'a region is added':
      if (parallel !== undefined) {
        const added = what % 2 === 0 ? { id: 'added' } : { id: 'added', type: 'final' };
        parallel.config.states = { ...parallel.config.states, added };
      }
      return;
    case 'a state is removed':
      if (plain !== undefined) remove(root, plain);
      return;
    case 'a state is renamed':
      if (plain !== undefined) rename(plain);
      return;
    case 'a region has ended':
      if (plain !== undefined) {
        const { id, entry, exit } = plain.config;
        for (const key of Object.keys(plain.config)) delete plain.config[key];
        Object.assign(plain.config, { id, entry, exit, type: 'final' });
        retarget(root, id);
      }
      return;
    case 'regions change places':
      if (parallel !== undefined) {
        parallel.config.states = Object.fromEntries(
          Object.entries(parallel.config.states ?? {}).toReversed(),
        );
      }
      return;
    case 'a parallel state is no longer parallel':
      if (parallel !== undefined) {
        delete parallel.config.type;
        parallel.config.initial = Object.keys(parallel.config.states ?? {})[0] as string;
      }
      return;
    case 'a state is parallel now':
      if (
        plain?.config.states !== undefined &&
        Object.values(plain.config.states).every(isRegion)
      ) {
        delete plain.config.initial;
        plain.config.type = 'parallel';
      }
      return;
    case 'an invoke is added':
      if (plain !== undefined) {
        const src = ['ask', 'effect', 'works', 'sample'][what % 4];
        const input = { name: 'added', n: 0 };
        plain.config.invoke = [
          ...(plain.config.invoke ?? []),
          { src, id: 'added', input: () => input },
        ];
      }
      return;
    case 'an invoke is removed':
      if (withInvoke?.invoke !== undefined)
        withInvoke.invoke.splice(which % withInvoke.invoke.length, 1);
      return;
    case 'an invoke is renamed':
      if (invoke !== undefined) invoke.id = 'renamed';
      return;
    case 'an invoke has another source':
      if (invoke !== undefined)
        invoke.src = ['ask', 'sample', 'effect', 'undoable', 'works', 'counter'][what % 6];
      return;
    case 'a delay is added':
      if (plain !== undefined)
        plain.config.after = { ...plain.config.after, [1_000 + what]: { actions: [] } };
      return;
    case 'a delay is changed':
      if (withAfter?.after !== undefined) {
        const [[delay, transition] = ['', {}]] = Object.entries(withAfter.after);
        withAfter.after = { [Number(delay) + 1_000]: transition };
      }
      return;
    case 'a delay is removed':
      delete withAfter?.after;
      return;
    case 'a history is deep or shallow now': {
      const history = one(all.filter(({ config }) => config.type === 'history'))?.config;
      if (history !== undefined) history.history = history.history === 'deep' ? 'shallow' : 'deep';
      return;
    }
    case 'a completion is no longer handled':
      delete one(all.filter(({ config }) => config['onDone'] !== undefined))?.config['onDone'];
  }
}

interface State {
  readonly parent: Config;
  readonly key: string;
  readonly config: Config;
}

function statesOf(parent: Config): readonly State[] {
  return Object.entries(parent.states ?? {}).flatMap(([key, config]) => [
    { parent, key, config },
    ...statesOf(config),
  ]);
}

function isRegion({ type }: Config): boolean {
  return type !== 'final' && type !== 'history';
}

function remove(root: Config, { parent, key }: State): void {
  const { [key]: _, ...rest } = parent.states ?? {};
  const initial = Object.entries(rest).find(([, config]) => isRegion(config))?.[0];
  // A state with nothing left inside would be another edit.
  if (initial === undefined) return;
  parent.states = rest;
  if (parent.initial === key) parent.initial = initial;
  retarget(root, parent.states[initial]?.id);
}

function rename({ parent, key }: State): void {
  const entries = Object.entries(parent.states ?? {});
  parent.states = Object.fromEntries(
    entries.map(([name, config]) => [name === key ? 'renamed' : name, config]),
  );
  if (parent.initial === key) parent.initial = 'renamed';
}

/** Has transitions to states that are gone lead to another one. */
function retarget(root: Config, id: string | undefined): void {
  const known = new Set(statesOf(root).map(({ config }) => `#${config.id}`));
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (key === 'target' && typeof item === 'string' && !known.has(item))
        Reflect.set(value, key, `#${id}`);
      else if (key !== 'actions' && key !== 'guard') walk(item);
    }
  };
  for (const { config } of statesOf(root)) {
    for (const key of ['on', 'after', 'always', 'onDone', 'invoke']) walk(config[key]);
  }
}
