/** The saga of a tree, with a provider that records effects. */
import {
  abort,
  all,
  allSettled,
  call,
  checkpoint,
  compensator,
  continueAs,
  elicit,
  elicitUrl,
  now,
  patched,
  pivot,
  poll,
  progress,
  race,
  random,
  saga,
  sample,
  scope,
  sleep,
  step,
  type Schema,
  type StepOptions,
} from '../../src/index.ts';
import type { Command, Steps } from '../../src/model/command.ts';
import type { Program } from '../../src/model/program.ts';
import {
  isCommand,
  type AskNode,
  type GroupNode,
  type Leaf,
  type Node,
  type StepNode,
} from './edited-tree.ts';
import { hash, type World } from './world.ts';

/** Outcome of a node, as the body sees it. */
export interface Taken {
  /** The number of the node, and the items of the loops around it. */
  readonly who: string;
  readonly outcome: 'value' | 'error';
  readonly value: unknown;
}

/** Effect of a step. */
export interface Effect {
  readonly who: string;
  /** Everything but its position that tells the step apart. */
  readonly alike: string;
  readonly node: number;
  isOn: boolean;
  undone: number;
}

/** Last attempt of a step, and its code. */
export interface Attempted {
  readonly leaf: StepNode;
  readonly attempt: number;
  /** `true` if the step made no other attempt. */
  readonly isLast: boolean;
  readonly isAborted: boolean;
}

/** A provider that honors idempotency keys. */
export class Provider {
  readonly effects: Map<string, Effect> = new Map();
  /** Number of runs of undos without an effect, by key. */
  readonly inVain: Map<string, number> = new Map();
  /** Keys of effects before a pivot. */
  readonly safe: Set<string> = new Set();
  readonly claimed: Set<string> = new Set();
  readonly attempted: Map<string, Attempted> = new Map();
  /** Calls, in order. */
  readonly calls: string[] = [];

  /** A provider with the same past. */
  copy(): Provider {
    const copy = new Provider();
    for (const [key, effect] of this.effects) copy.effects.set(key, { ...effect });
    for (const [who, attempt] of this.attempted) copy.attempted.set(who, attempt);
    for (const [key, count] of this.inVain) copy.inVain.set(key, count);
    for (const name of ['safe', 'claimed'] as const)
      for (const key of this[name]) copy[name].add(key);
    copy.calls.push(...this.calls);
    return copy;
  }
}

/** One run of a saga over all turns. */
export interface Life {
  readonly world: World;
  readonly provider: Provider;
  /** Outcomes in the latest instance of the body, in order. */
  trace: Taken[];
  /** Results that reached another node. */
  readonly strayed: Stray[];
  /** Attempts made by the code before the edit. */
  readonly attempted: ReadonlyMap<string, Attempted>;
  readonly onMismatch: 'fail' | 'compensate';
}

/** A result that reached another node. */
export interface Stray {
  readonly who: string;
  readonly of: string;
  /** `true` if only the position tells the two nodes apart. */
  readonly isAlike: boolean;
}

/** Result or error data of a step. */
interface Made {
  readonly by: string;
  readonly alike: string;
  readonly code: number;
}

/** A place in the body: the register of its branch, and the items of the enclosing loops. */
interface Place {
  readonly life: Life;
  readonly trace: Taken[];
  readonly branch: { register: number };
  readonly items: readonly string[];
}

const mix = (register: number, text: string): number => hash(`${register} ${text}`) % 97;

const formOf = (version: number): Schema<{ to: string }> => ({
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: { to: (value as { to: string }).to } }),
    jsonSchema: {
      input: () => ({
        type: 'object',
        properties: {
          to: { type: 'string', ...(version === 0 ? {} : { title: `To ${version}` }) },
        },
        required: ['to'],
      }),
      output: () => ({}),
    },
  },
});
const forms = [0, 1, 2].map(formOf);
const Arguments: Schema<{ argument: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: value as { argument: number } }),
  },
};
const Anything: Schema<{ who: string }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: value as { who: string } }),
  },
};

const whoOf = ({ node }: Node, { items }: Place): string => [node, ...items].join('.');
const messageOf = ({ head, middle, tail, live }: AskNode, { branch }: Place): string =>
  `${head}${middle}${live ? ` ${branch.register}` : ''}${tail}`;

function inputOf(
  { node, input, inputVersion }: StepNode,
  { branch, items }: Place,
): string | undefined {
  if (input === 'none') return undefined;
  const about = { own: `n${node}`, register: `r${branch.register}`, item: `i${items.at(-1)}` }[
    input
  ];
  return `${about} ${'in the middle of a long input '.repeat(4)}${inputVersion} ${'and its end '.repeat(4)}`;
}

function keyOf({ node, key }: StepNode, { items }: Place): string | undefined {
  return { none: undefined, own: `k${node}`, item: `i${items.at(-1)}` }[key];
}

/** Everything but its position that tells a step or a poll apart. */
function alikeOf(leaf: Leaf, place: Place): string {
  if (leaf.kind === 'step')
    return JSON.stringify([leaf.id, inputOf(leaf, place), keyOf(leaf, place)]);
  return leaf.kind === 'poll' ? leaf.id : leaf.kind;
}

/** Duration of a step. The order of completion does not depend on the order of the code. */
const durationOf = (who: string): number => 1 + (hash(`takes ${who}`) % 40);

const undoNamed = (life: Life) =>
  compensator('takeBack', Anything, async ({ stepKey, idempotencyKey }) => {
    takeBack(life, stepKey, idempotencyKey);
  });

function takeBack({ provider }: Life, stepKey: string, key: string): void {
  provider.calls.push(key);
  const effect = provider.effects.get(stepKey);
  if (effect !== undefined) {
    effect.isOn = false;
    effect.undone += 1;
  } else {
    provider.inVain.set(key, (provider.inVain.get(key) ?? 0) + 1);
  }
}

/** The step with the settings of its last attempt. */
function asDone(leaf: StepNode, then: Attempted | undefined): StepNode {
  if (then === undefined) return leaf;
  // A scheduled attempt is made, whatever the new policy is.
  if (!then.isLast) return { ...leaf, attempts: Math.max(leaf.attempts, then.attempt + 1) };
  const { code, attempts, undo } = then.leaf;
  return { ...leaf, code, attempts, undo: undo === 'named' ? undo : leaf.undo };
}

function stepOf(asked: StepNode, place: Place): Command<unknown> {
  const { life } = place;
  const who = whoOf(asked, place);
  const leaf = asDone(asked, life.attempted.get(who));
  const { node, id, keep, once, undo, label, failures, attempts, timeout, code } = leaf;
  const input = inputOf(leaf, place);
  const key = keyOf(leaf, place);
  const made: Made = { by: who, alike: alikeOf(leaf, place), code };
  const work = async (given: {
    idempotencyKey: string;
    attempt: number;
    signal: AbortSignal;
  }): Promise<unknown> => {
    const { idempotencyKey, attempt, signal } = given;
    const { provider, world } = life;
    provider.calls.push(`${idempotencyKey} ${attempt}`);
    await world.sleep(durationOf(who), signal);
    const fails = attempt <= failures;
    provider.attempted.set(who, {
      leaf,
      attempt,
      isLast: signal.aborted || !fails || attempt >= attempts,
      isAborted: signal.aborted,
    });
    if (signal.aborted) throw signal.reason;
    if (fails) throw Object.assign(new Error('refused'), { code: 'refused', data: made });
    if (!provider.effects.has(idempotencyKey)) {
      provider.effects.set(idempotencyKey, { who, alike: made.alike, node, isOn: true, undone: 0 });
    }
    return made;
  };
  const undos: Pick<StepOptions<string>, 'unknown'> & { compensate?: never } = {
    ...(undo === 'none' ? {} : { compensate: undoOf(undo, who, life) as never }),
    ...(undo === 'unknown' ? { unknown: 'compensate' } : {}),
  };
  return step(
    id,
    work as never,
    {
      ...(input === undefined ? {} : { input }),
      ...(key === undefined ? {} : { key }),
      ...(label === undefined ? {} : { label }),
      ...(timeout === undefined ? {} : { timeout: timeout }),
      ...(keep ? {} : { keep: false }),
      once,
      retry: { attempts, delay: 1_000, jitter: false },
      ...undos,
    } as never,
  );
}

function undoOf(undo: StepNode['undo'], who: string, life: Life): unknown {
  if (undo === 'named') return undoNamed(life).for(() => ({ who }));
  if (undo === 'generator') {
    return function* ({ stepKey }: { stepKey: string }): Steps<void> {
      yield* step('undoing', ({ idempotencyKey }) => takeBack(life, stepKey, idempotencyKey));
    };
  }
  return async (facts: { stepKey: string; idempotencyKey: string }) =>
    takeBack(life, facts.stepKey, facts.idempotencyKey);
}

function commandOf(leaf: Leaf, place: Place): Command<unknown> {
  const { life } = place;
  switch (leaf.kind) {
    case 'step':
      return stepOf(leaf, place);
    case 'ask': {
      const { id, schema, ttl, asOutcome } = leaf;
      const form = forms[schema % forms.length] as Schema<{ to: string }>;
      const options = {
        message: messageOf(leaf, place),
        schema: form,
        ...(ttl === undefined ? {} : { timeout: ttl }),
      };
      return asOutcome ? elicit.outcome(id, options) : elicit(id, options);
    }
    case 'url':
      return elicitUrl(leaf.id, { message: leaf.text, url: leaf.more });
    case 'sample':
      return sample(leaf.id, {
        messages: [{ role: 'user', content: { type: 'text', text: leaf.text } }],
        systemPrompt: leaf.more,
        maxTokens: 9,
      });
    case 'poll': {
      const { asks, every } = leaf;
      const who = whoOf(leaf, place);
      const made: Made = { by: who, alike: alikeOf(leaf, place), code: 0 };
      return poll(leaf.id, ({ attempt }) => (attempt < asks ? undefined : made), {
        every: every,
        timeout: 1e12,
      });
    }
    case 'sleep':
      return sleep(leaf.ms);
    case 'checkpoint':
      return checkpoint();
    case 'now':
      return now();
    case 'random':
      return random();
    case 'progress':
      return progress(life.world.told.length + 1);
    case 'abort':
      return abort(`by ${leaf.node}`);
    case 'continueAs':
      return continueAs(
        saga({ name: 'next', version: '1', reuse: 'ok' }, function* () {
          yield* [];
          return 'next';
        }),
        {},
      );
    case 'throw':
    case 'return':
      throw new Error(`${leaf.kind} is no command`);
  }
}

/** Records the outcome of a node. */
function take(leaf: Node, place: Place, outcome: 'value' | 'error', value: unknown): void {
  const { trace, branch, life } = place;
  const who = whoOf(leaf, place);
  const plain = plainOf(value);
  // Reads of the time differ between lives.
  const shown = leaf.kind === 'now' ? 'a time' : plain;
  trace.push({ who, outcome, value: shown });
  const made = madeIn(leaf, plain);
  const alike = isCommand(leaf) ? alikeOf(leaf, place) : '';
  if (made !== undefined && made.by !== who)
    life.strayed.push({ who, of: made.by, isAlike: made.alike === alike });
  const to = leaf.kind === 'ask' ? answeredTo(plain) : undefined;
  if (leaf.kind === 'ask' && to !== undefined && to !== messageOf(leaf, place)) {
    life.strayed.push({ who, of: to, isAlike: false });
  }
  // Last: the message was made of the register before.
  branch.register = mix(branch.register, `${who} ${outcome} ${JSON.stringify(shown)}`);
}

function plainOf(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, code, data } = value as Error & { code?: unknown; data?: unknown };
  return data === undefined ? { name, message, code } : { name, code, data };
}

function madeIn({ kind }: Node, value: unknown): Made | undefined {
  if ((kind !== 'step' && kind !== 'poll') || typeof value !== 'object' || value === null)
    return undefined;
  if ('by' in value) return value as Made;
  return 'data' in value && typeof value.data === 'object'
    ? ((value.data as Made | null) ?? undefined)
    : undefined;
}

function answeredTo(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if ('to' in value) return String(value.to);
  return 'content' in value ? answeredTo(value.content) : undefined;
}

/** Runs a node. Returns `false` if its branch returns. */
function* run(node: Node, place: Place): Steps<boolean> {
  const { branch } = place;
  switch (node.kind) {
    case 'throw':
      throw Object.assign(new Error(`thrown by ${node.node}`), { code: 'own' });
    case 'return':
      return false;
    case 'progress':
    case 'abort':
    case 'continueAs':
      yield* commandOf(node, place);
      return true;
    case 'pivot':
      yield* pivot(node.id);
      take(node, place, 'value', 'passed');
      return true;
    case 'sequence':
      for (const each of node.nodes) if (!(yield* run(each, place))) return false;
      return true;
    case 'scope':
      yield* scope(node.id, run(node.body, place));
      return true;
    case 'call': {
      const called = saga(
        { name: node.id, version: '1', input: Arguments, reuse: 'ok' },
        function* (given) {
          take(node, place, 'value', given);
          yield* run(node.body, place);
          return 'called';
        },
      );
      yield* call(called, { argument: node.argument });
      return true;
    }
    case 'all':
    case 'allSettled':
    case 'race':
      yield* runGroup(node, place);
      return true;
    case 'try':
      try {
        return yield* run(node.body, place);
      } catch (error) {
        if (!node.catches) throw error;
        branch.register = mix(branch.register, `caught by ${node.node}`);
      } finally {
        if (node.finally !== undefined) yield* run(node.finally, place);
      }
      return true;
    case 'loop':
      for (const item of node.items) {
        if (!(yield* run(node.body, { ...place, items: [...place.items, item] }))) return false;
      }
      return true;
    case 'if':
      return yield* run(branch.register % 2 === 0 ? node.even : node.odd, place);
    case 'patched': {
      const holds = yield* patched(node.id, { enabled: node.enabled });
      place.trace.push({ who: whoOf(node, place), outcome: 'value', value: holds });
      if (holds) return yield* run(node.body, place);
      return node.otherwise === undefined || (yield* run(node.otherwise, place));
    }
    case 'step':
    case 'ask':
    case 'url':
    case 'sample':
    case 'poll':
    case 'sleep':
    case 'checkpoint':
    case 'now':
    case 'random': {
      let value: unknown;
      try {
        value = yield* commandOf(node, place);
      } catch (error) {
        take(node, place, 'error', error);
        throw error;
      }
      take(node, place, 'value', value);
      return true;
    }
  }
}

function* runGroup(node: GroupNode, place: Place): Steps<void> {
  const { kind, shape, branches } = node;
  const places = branches.map(() => ({ ...place, branch: { register: place.branch.register } }));
  const isSingle = ({ single, body }: GroupNode['branches'][number]): boolean =>
    single && isCommand(body);
  const made = branches.map((branch, index): [string, Command<unknown> | Steps<unknown>] => {
    const at = places[index] as Place;
    return [
      branch.key,
      isSingle(branch) ? commandOf(branch.body as Leaf, at) : run(branch.body, at),
    ];
  });
  const settle = (index: number, outcome: 'value' | 'error', value: unknown): void => {
    const branch = branches[index] as GroupNode['branches'][number];
    if (isSingle(branch)) take(branch.body, places[index] as Place, outcome, value);
  };
  const list = shape === 'array' ? made.map(([, steps]) => steps) : Object.fromEntries(made);
  // Independent of the order of the branches.
  const sum = (): number => places.reduce((total, at) => total + at.branch.register, 0);
  const indexOf = (key: string): number => branches.findIndex((branch) => branch.key === key);
  try {
    if (kind === 'race') {
      const { winner, value } = yield* race(Object.fromEntries(made));
      settle(indexOf(winner), 'value', value);
      take(
        node,
        place,
        'value',
        (branches[indexOf(winner)] as GroupNode['branches'][number]).body.node,
      );
    } else if (kind === 'all') {
      const results = yield* all(list as never) as Command<Record<string, unknown>>;
      for (const [index, { key }] of branches.entries())
        settle(index, 'value', results[shape === 'array' ? index : key]);
      take(node, place, 'value', sum());
    } else {
      const results = yield* allSettled(list as never) as Command<
        Record<string, { status: string; value: unknown; reason: unknown }>
      >;
      for (const [index, { key, body }] of branches.entries()) {
        const { status, value, reason } = results[
          shape === 'array' ? index : key
        ] as (typeof results)[string];
        settle(
          index,
          status === 'fulfilled' ? 'value' : 'error',
          status === 'fulfilled' ? value : reason,
        );
        place.trace.push({
          who: `${whoOf(node, place)} ${body.node}`,
          outcome: 'value',
          value: status,
        });
      }
      take(node, place, 'value', sum());
    }
  } catch (error) {
    take(node, place, 'error', error);
    throw error;
  }
}

/** The program of a tree. */
export function programOfTree(tree: Node, life: Life): Program {
  const { onMismatch } = life;
  const named = undoNamed(life);
  life.world.compensators.set(named.name, named);
  const options = {
    name: 'edited',
    version: '1',
    reuse: 'ok',
    onMismatch,
  } as const;
  return saga(options, function* () {
    const trace: Taken[] = [];
    life.trace = trace;
    const branch = { register: 1 };
    yield* run(tree, { life, trace, branch, items: [] });
    return `register ${branch.register}`;
  });
}
