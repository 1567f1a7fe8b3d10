/**
 * Random sagas as trees: what fast-check draws, the saga made of it, and what a direct evaluation
 * of it gives.
 */
import * as fc from 'fast-check';
import {
  all,
  allSettled,
  call,
  checkpoint,
  each,
  elicit,
  ElicitationRefused,
  listRoots,
  log,
  now,
  poll,
  progress,
  race,
  random,
  saga,
  sample,
  scope,
  sleep,
  step,
  StepError,
  uuid,
  type ElicitOptions,
  type Saga,
  type Schema,
} from '../../src/index.ts';
import type { ClientAnswer, ClientStep, SampleResult } from '../../src/model/client-step.ts';
import type { Command, Steps } from '../../src/model/command.ts';
import type { Question, Route } from '../../src/model/question.ts';
import type { Runtime } from '../../src/model/runtime.ts';
import type { Answerer } from '../../src/model/answerer.ts';
import { accepted, answered, refused, said } from './drive.ts';
import { hash, type World } from './world.ts';

/** A command. */
export type Leaf =
  | {
      readonly kind: 'step';
      readonly id: string;
      /** Whether the register goes in as input. */
      readonly input: boolean;
      readonly key: boolean;
      readonly keep: boolean;
      /** How often it fails before it succeeds, and how often it is tried. */
      readonly failures: number;
      readonly attempts: number;
    }
  | {
      readonly kind: 'elicit' | 'outcome';
      readonly id: string;
      readonly answeredBy: readonly Answerer[] | undefined;
      /**
       * What there is where the client cannot be asked: nothing, the content, or a function that
       * gives it or throws.
       */
      readonly fallback: 'none' | 'content' | 'function' | 'throws';
    }
  | { readonly kind: 'sample' | 'roots'; readonly id: string }
  | {
      readonly kind: 'poll';
      readonly id: string;
      /** How often it asks until it is answered. */
      readonly asks: number;
    }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'now' | 'random' | 'uuid' | 'checkpoint' };

/**
 * A piece of a saga. `register` is a number of each branch that everything it gets is mixed into.
 */
export type Node =
  | Leaf
  | { readonly kind: 'progress' | 'log' | 'throw' }
  | { readonly kind: 'sequence' | 'helper'; readonly nodes: readonly Node[] }
  | { readonly kind: 'loop'; readonly times: number; readonly body: Node }
  | { readonly kind: 'if'; readonly modulus: number; readonly then: Node; readonly else: Node }
  | { readonly kind: 'scope' | 'call'; readonly id: string; readonly body: Node }
  | {
      readonly kind: 'all' | 'allSettled' | 'race';
      /** `each`: by `each` with a limit, in place of `all`. */
      readonly shape: 'record' | 'array' | 'each';
      readonly branches: readonly { readonly single: boolean; readonly node: Node }[];
    }
  | {
      readonly kind: 'try';
      readonly body: Node;
      readonly catch: Node | undefined;
      readonly finally: Node | undefined;
    }
  /** Reads and writes the variable that all branches share. */
  | { readonly kind: 'share' };

/** What happens in the world, in order: one line for each attempt of a server step. */
export interface Effect {
  readonly path: string;
  readonly attempt: number;
  readonly input: unknown;
}

const mix = (register: number, text: string): number => hash(`${register} ${text}`) % 9_973;

/** The answer of a client depends on the question only. */
export function answerOf({ stepId, type, params }: ClientStep): ClientAnswer {
  const draw = hash(`${stepId} ${JSON.stringify(params['message'] ?? params['messages'] ?? '')}`);
  if (type === 'roots') return answered({ roots: [{ uri: `file:///${draw % 7}` }] });
  if (type === 'sampling') {
    return draw % 3 === 0
      ? { error: { code: -1, message: `no ${draw % 3}` }, provenance: 'client' }
      : said(`said ${draw % 11}`);
  }
  if (draw % 3 === 0) return refused(draw % 2 === 0 ? 'decline' : 'cancel');
  return accepted({ n: draw % 13 });
}

const Form: Schema<{ n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: { n: (value as { n: number }).n } }),
    jsonSchema: {
      input: () => ({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }),
      output: () => ({}),
    },
  },
};
const Arguments: Schema<{ register: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: value as { register: number } }),
  },
};

const messageOf = (register: number): string => `message ${register % 17}`;
const resultOf = (path: string, input: unknown): { r: string; at: Date } => ({
  r: `${path}=${hash(`${path} ${JSON.stringify(input)}`) % 101}`,
  at: new Date(hash(path) % 1_000),
});
const polledOf = (id: string, register: number, attempt: number): string =>
  `${id}=${register % 19} at ${attempt}`;
const failureOf = (path: string): { name: string; code: string } => ({
  name: 'RangeError',
  code: `E${hash(path) % 5}`,
});
const told = (value: unknown): string =>
  value instanceof Date ? value.toISOString() : (JSON.stringify(value) ?? 'undefined');
const errorText = (error: unknown): string => {
  const { name, code } = error as { name: string; code: unknown };
  return `${name} ${String(code)}`;
};

interface Shared {
  value: number;
}
interface Frame {
  register: number;
  readonly shared: Shared;
  /** Everything the body saw, of all branches, in the order it saw it. */
  readonly trace: string[];
  readonly run: Run;
}

/** Where the questions of a turn go. */
export type Routes = (question: Question) => Route;

/** Draws where each question goes, by what the host knows of it: anywhere. */
export function anyRoutes(seed: number): Routes {
  return (question) => wayOf(seed, question, ['ask', 'fallback', 'host', 'cannot']);
}

/**
 * The same, but never where it may fail that a direct evaluation does not expect to: see `trees`.
 */
export function safeRoutes(seed: number): Routes {
  return (question) => {
    const { need, answeredBy, hasFallback } = question;
    if (need === 'roots') return 'ask';
    if (need === 'sampling') return wayOf(seed, question, ['ask', 'host', 'cannot']);
    const ways = ['ask' as const, ...(hasFallback ? ['fallback' as const] : [])];
    return wayOf(
      seed,
      question,
      answeredBy?.includes('model') === true ? [...ways, 'cannot'] : ways,
    );
  };
}

function wayOf(
  seed: number,
  { need, answeredBy, hasFallback }: Question,
  ways: readonly Route[],
): Route {
  return ways[hash(`${seed} ${need} ${answeredBy?.join()} ${hasFallback}`) % ways.length] as Route;
}

/** What the fallback of a form says, and what the host's model says. */
const fallbackOf = (message: string): { n: number } => ({ n: 100 + (hash(message) % 13) });

/** Samples at the host: an effect like a server step. */
export function sampleAtHost(run: Run): Runtime['questions']['sample'] {
  return async (params, { idempotencyKey, signal }) => {
    const path = idempotencyKey.replace(/^do:/, '');
    await actHere(run, path, signal);
    const result = hostSays(path, JSON.stringify(params.messages));
    if (result === undefined)
      throw Object.assign(new Error('no'), { name: 'HostError', code: 'E' });
    return result;
  };
}

function hostSays(path: string, messages: string): SampleResult | undefined {
  const draw = hash(`host ${path} ${messages}`);
  if (draw % 4 === 0) return undefined;
  return { role: 'assistant', content: { type: 'text', text: `host ${draw % 11}` }, model: 'host' };
}

async function actHere(run: Run, path: string, signal: AbortSignal): Promise<void> {
  run.effects.push({ path, attempt: 1, input: undefined });
  run.world.time += run.duration;
  if (run.gated) await run.world.gate(signal);
}

/** The world a random saga acts on. */
export interface Run {
  readonly world: World;
  readonly effects: Effect[];
  /** Milliseconds of the clock that a server step takes. */
  readonly duration: number;
  /** Whether server steps wait at a gate, so that their order of completion is drawn. */
  readonly gated: boolean;
  /** The trace of each instance, in the order they were made. */
  readonly traces: string[][];
}

/** Makes the saga of a tree, as a fresh instance. */
export function sagaOfTree(tree: Node, run: Run): Saga<undefined, undefined> {
  return saga({ name: 'random', version: '1' }, function* () {
    const trace: string[] = [];
    run.traces.push(trace);
    const frame: Frame = { register: 1, shared: { value: 0 }, trace, run };
    yield* walk(tree, frame);
    return `result ${frame.register}`;
  });
}

function absorb(frame: Frame, text: string): void {
  frame.register = mix(frame.register, text);
  frame.trace.push(text);
}

function commandOf(leaf: Leaf, frame: Frame): Command<unknown> {
  const { run, register } = frame;
  switch (leaf.kind) {
    case 'step': {
      const { id, failures, attempts, keep } = leaf;
      return step(
        id,
        async ({ input, attempt, idempotencyKey, signal }) => {
          const path = (idempotencyKey.split('|', 1)[0] as string).replace(/^do:/, '');
          run.effects.push({ path, attempt, input });
          run.world.time += run.duration;
          if (run.gated) await run.world.gate(signal);
          if (attempt <= failures) {
            const { name, code } = failureOf(path);
            throw Object.assign(new Error('failed'), { name, code });
          }
          return resultOf(path, input);
        },
        {
          ...(leaf.input ? { input: { register } } : {}),
          ...(leaf.key ? { key: `k${register % 3}` } : {}),
          keep: keep as true,
          retry: { attempts, delay: 40, jitter: false },
        },
      );
    }
    case 'elicit':
      return elicit(leaf.id, optionsOf(leaf, frame));
    case 'outcome':
      return elicit.outcome(leaf.id, optionsOf(leaf, frame));
    case 'sample':
      return sample(leaf.id, {
        messages: [{ role: 'user', content: { type: 'text', text: messageOf(register) } }],
        maxTokens: 5,
      });
    case 'roots':
      return listRoots(leaf.id);
    case 'poll': {
      const { id, asks } = leaf;
      // The function of a poll is not an effect, but takes time like one.
      const ask = async ({ attempt, signal }: Asked): Promise<string | undefined> => {
        run.world.time += run.duration;
        if (run.gated) await run.world.gate(signal);
        return attempt < asks ? undefined : polledOf(id, register, attempt);
      };
      return poll(id, ask, { every: 30, timeout: 1e12 });
    }
    case 'sleep':
      return sleep(leaf.ms);
    case 'now':
      return now();
    case 'random':
      return random();
    case 'uuid':
      return uuid();
    case 'checkpoint':
      return checkpoint();
  }
}

type Asked = { readonly attempt: number; readonly signal: AbortSignal };

type FormLeaf = Extract<Leaf, { kind: 'elicit' | 'outcome' }>;

function optionsOf(
  { answeredBy, fallback }: FormLeaf,
  { run, register }: Frame,
): ElicitOptions<typeof Form> {
  const message = messageOf(register);
  const options = { message, schema: Form, ...(answeredBy === undefined ? {} : { answeredBy }) };
  if (fallback === 'none') return options;
  const content = fallbackOf(message);
  if (fallback === 'content') return { ...options, fallback: content };
  return {
    ...options,
    fallback: async ({ idempotencyKey, signal }) => {
      await actHere(run, idempotencyKey.replace(/^do:/, ''), signal);
      if (fallback === 'throws')
        throw Object.assign(new Error('no'), { name: 'FallbackError', code: 'E' });
      return content;
    },
  };
}

const leafKinds: { readonly [kind in Leaf['kind']]: true } = {
  step: true,
  elicit: true,
  outcome: true,
  sample: true,
  roots: true,
  poll: true,
  sleep: true,
  now: true,
  random: true,
  uuid: true,
  checkpoint: true,
};
const isLeaf = (node: Node): node is Leaf => Object.hasOwn(leafKinds, node.kind);

/**
 * A text for what a leaf gives; what `now` gives depends on when it is read, and counts for the
 * trace alone.
 */
function take(leaf: Leaf, value: unknown, frame: Frame): void {
  if (leaf.kind === 'now') frame.trace.push(`now ${String(value)}`);
  else absorb(frame, told(value));
}

function* walk(node: Node, frame: Frame): Steps<void> {
  if (isLeaf(node)) {
    take(node, yield* commandOf(node, frame), frame);
    return;
  }
  switch (node.kind) {
    case 'progress':
      yield* progress(frame.register);
      return;
    case 'log':
      yield* log('info', frame.register);
      return;
    case 'throw':
      throw Object.assign(new Error('own'), { name: 'OwnError', code: frame.register % 3 });
    case 'share':
      absorb(frame, `shared ${frame.shared.value}`);
      frame.shared.value = frame.register;
      return;
    case 'sequence':
      for (const inner of node.nodes) yield* walk(inner, frame);
      return;
    case 'helper':
      yield* helper(node.nodes, frame);
      return;
    case 'loop':
      for (let time = 0; time < node.times; time += 1) yield* walk(node.body, frame);
      return;
    case 'if':
      yield* walk(frame.register % node.modulus === 0 ? node.then : node.else, frame);
      return;
    case 'scope':
      absorb(frame, told(yield* scope(node.id, branch(node.body, frame, 'scope'))));
      return;
    case 'call':
      absorb(frame, told(yield* call(childOf(node, frame), { register: frame.register })));
      return;
    case 'all':
    case 'allSettled':
    case 'race':
      yield* group(node, frame);
      return;
    case 'try':
      try {
        yield* walk(node.body, frame);
      } catch (error) {
        if (node.catch === undefined) throw error;
        absorb(frame, `caught ${errorText(error)} ${kindOfError(error)}`);
        yield* walk(node.catch, frame);
      } finally {
        frame.trace.push(`leaves ${frame.register}`);
        if (node.finally !== undefined) yield* walk(node.finally, frame);
        frame.trace.push(`finally ${frame.register}`);
      }
  }
}

const kindOfError = (error: unknown): string => {
  if (error instanceof StepError) return 'step';
  return error instanceof ElicitationRefused ? 'refused' : 'own';
};

function* helper(nodes: readonly Node[], frame: Frame): Steps<void> {
  for (const node of nodes) yield* walk(node, frame);
}

function childOf(
  node: Extract<Node, { kind: 'scope' | 'call' }>,
  { shared, trace, run }: Frame,
): Saga<Schema<{ register: number }>, undefined> {
  return saga({ name: node.id, version: '1', input: Arguments }, function* ({ register }) {
    const frame = { register, shared, trace, run };
    yield* walk(node.body, frame);
    return `result ${frame.register}`;
  });
}

function* branch(node: Node, { register, shared, trace, run }: Frame, key: string): Steps<number> {
  const frame = { register: mix(register, key), shared, trace, run };
  yield* walk(node, frame);
  return frame.register;
}

type GroupNode = Extract<Node, { kind: 'all' | 'allSettled' | 'race' }>;

function* group(node: GroupNode, frame: Frame): Steps<void> {
  const named = node.branches.map(({ single, node: inner }, index) => {
    const key = node.shape === 'array' ? String(index) : `b${index}`;
    const steps = single && isLeaf(inner) ? commandOf(inner, frame) : branch(inner, frame, key);
    return [key, steps] as const;
  });
  if (node.shape === 'each') {
    const results = yield* each(named, ([, steps]) => steps, { key: ([key]) => key, limit: 2 });
    for (const value of results) absorb(frame, told(value));
    return;
  }
  const branches =
    node.shape === 'array' ? named.map(([, steps]) => steps) : Object.fromEntries(named);
  if (node.kind === 'race') {
    absorb(frame, told(yield* race(branches as Record<string, Steps<unknown>>)));
    return;
  }
  const results = yield* node.kind === 'all' ? all(branches) : allSettled(branches);
  for (const [key] of named) {
    const value: unknown = (results as Record<string, unknown>)[key];
    const { status, reason } = Object(value) as { status?: unknown; reason?: unknown };
    if (status === 'rejected') absorb(frame, `rejected ${errorText(reason)}`);
    else absorb(frame, told(value));
  }
}

/** What a direct evaluation of a tree says of its saga. */
export interface Prediction {
  readonly result: string;
  readonly effects: readonly Effect[];
  readonly logs: readonly number[];
}

/**
 * Evaluates a tree without generators and without the engine: branches one after the other. Right
 * for sagas whose branches neither share a variable, nor fail in an `all`, nor race.
 */
export function predict(tree: Node, routes: Routes = () => 'ask'): Prediction {
  const effects: Effect[] = [];
  const logs: number[] = [];
  const context = { effects, logs, routes };
  const cell = { register: 1, shared: { value: 0 } };
  try {
    evaluate(tree, cell, new Names(''), context);
    return { result: `result ${cell.register}`, effects, logs };
  } catch (error) {
    return { result: `error ${errorText(error)}`, effects, logs };
  }
}

class Names {
  readonly prefix: string;
  readonly #uses: Record<string, number> = {};

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  path(id: string): string {
    const use = (this.#uses[id] ?? 0) + 1;
    this.#uses[id] = use;
    return this.prefix + id + (use === 1 ? '' : `#${use}`);
  }
}

interface Cell {
  register: number;
  readonly shared: Shared;
}
type Context = { readonly effects: Effect[]; readonly logs: number[]; readonly routes: Routes };

class Thrown {
  readonly name: string;
  readonly code: unknown;
  readonly kind: string;

  constructor(name: string, code: unknown, kind: string) {
    this.name = name;
    this.code = code;
    this.kind = kind;
  }
}

type AskedLeaf = Extract<Leaf, { kind: 'elicit' | 'outcome' | 'sample' | 'roots' }>;

/** Returns the outcome of a question by its route. */
function outcomeByRoute(
  leaf: AskedLeaf,
  path: string,
  register: number,
  context: Context,
): unknown {
  const isForm = leaf.kind === 'elicit' || leaf.kind === 'outcome';
  const route = context.routes({
    need: isForm ? 'elicitation' : leaf.kind === 'sample' ? 'sampling' : 'roots',
    answeredBy: isForm ? leaf.answeredBy : undefined,
    hasFallback: isForm && leaf.fallback !== 'none',
  });
  if (route === 'ask') return askDirectly(leaf, path, register);
  const message = messageOf(register);
  if (route === 'fallback' && isForm) {
    if (leaf.fallback !== 'content') context.effects.push({ path, attempt: 1, input: undefined });
    if (leaf.fallback === 'throws') throw new Thrown('FallbackError', 'E', 'step');
    const content = fallbackOf(message);
    return leaf.kind === 'outcome' ? { action: 'accept', content } : content;
  }
  if (route === 'host') {
    context.effects.push({ path, attempt: 1, input: undefined });
    const result = hostSays(
      path,
      JSON.stringify([{ role: 'user', content: { type: 'text', text: message } }]),
    );
    if (result === undefined) throw new Thrown('HostError', 'E', 'step');
    return result;
  }
  throw new Thrown('ClientCannot', 'client_cannot', 'own');
}

function askDirectly(leaf: AskedLeaf, stepId: string, register: number): unknown {
  const type =
    leaf.kind === 'roots' ? 'roots' : leaf.kind === 'sample' ? 'sampling' : 'elicitation';
  const text = messageOf(register);
  const params =
    type === 'roots'
      ? {}
      : type === 'sampling'
        ? { messages: [{ role: 'user', content: { type: 'text', text } }] }
        : { message: text };
  const answer = answerOf({ stepId, type, params });
  if ('error' in answer) throw new Thrown('ClientError', answer.error.code, 'step');
  const result = answer.result as Record<string, unknown>;
  if (type === 'roots') return result['roots'];
  if (type === 'sampling') return result;
  if (leaf.kind === 'outcome') return result;
  if (result['action'] !== 'accept')
    throw new Thrown('ElicitationRefused', 'elicitation_refused', 'refused');
  return result['content'];
}

function leafValue(leaf: Leaf, register: number, names: Names, context: Context): unknown {
  switch (leaf.kind) {
    case 'step': {
      const path = names.path(leaf.key ? `${leaf.id}(k${register % 3})` : leaf.id);
      const input = leaf.input ? { register } : undefined;
      const attempts = Math.min(leaf.failures + 1, leaf.attempts);
      for (let attempt = 1; attempt <= attempts; attempt += 1)
        context.effects.push({ path, attempt, input });
      if (leaf.failures >= leaf.attempts) {
        const { name, code } = failureOf(path);
        throw new Thrown(name, code, 'step');
      }
      return leaf.keep ? resultOf(path, input) : undefined;
    }
    case 'elicit':
    case 'outcome':
    case 'sample':
    case 'roots':
      return outcomeByRoute(leaf, names.path(leaf.id), register, context);
    case 'poll':
      names.path(leaf.id);
      return polledOf(leaf.id, register, leaf.asks);
    case 'random':
      return fractionAt(names.path('random'));
    case 'uuid':
      return uuidAt(names.path('uuid'));
    case 'now':
    case 'sleep':
    case 'checkpoint':
      names.path(leaf.kind);
      return undefined;
  }
}

const bytesAt = (path: string): number[] =>
  Array.from({ length: 32 }, (_, index) => hash(`${index}${path}`) & 255);

function fractionAt(path: string): number {
  const bits = bytesAt(path)
    .slice(0, 8)
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  // The first 27 bits, then the first 26 of the second half: 53 in all.
  return Number.parseInt(bits.slice(0, 27) + bits.slice(32, 58), 2) / 2 ** 53;
}

function uuidAt(path: string): string {
  const digits = bytesAt(path)
    .slice(0, 16)
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .split('');
  digits[12] = '4';
  digits[16] = '89ab'[Number.parseInt(digits[16] as string, 16) % 4] as string;
  const text = digits.join('');
  return [
    text.slice(0, 8),
    text.slice(8, 12),
    text.slice(12, 16),
    text.slice(16, 20),
    text.slice(20),
  ].join('-');
}

function evaluate(node: Node, cell: Cell, names: Names, context: Context): void {
  const absorbed = (value: string): void => {
    cell.register = mix(cell.register, value);
  };
  if (isLeaf(node)) {
    const value = leafValue(node, cell.register, names, context);
    if (node.kind !== 'now') absorbed(told(value));
    return;
  }
  switch (node.kind) {
    case 'progress':
      return;
    case 'log':
      context.logs.push(cell.register);
      return;
    case 'throw':
      throw new Thrown('OwnError', cell.register % 3, 'own');
    case 'share':
      absorbed(`shared ${cell.shared.value}`);
      cell.shared.value = cell.register;
      return;
    case 'sequence':
    case 'helper':
      for (const inner of node.nodes) evaluate(inner, cell, names, context);
      return;
    case 'loop':
      for (let time = 0; time < node.times; time += 1) evaluate(node.body, cell, names, context);
      return;
    case 'if':
      evaluate(cell.register % node.modulus === 0 ? node.then : node.else, cell, names, context);
      return;
    case 'scope': {
      const inside = { ...cell, register: mix(cell.register, 'scope') };
      evaluate(node.body, inside, new Names(`${names.path(node.id)}/`), context);
      absorbed(told(inside.register));
      return;
    }
    case 'call': {
      const inside = { ...cell };
      evaluate(node.body, inside, new Names(`${names.path(node.id)}/`), context);
      absorbed(told(`result ${inside.register}`));
      return;
    }
    case 'all':
    case 'allSettled':
    case 'race':
      evaluateGroup(node, cell, names, context);
      return;
    case 'try':
      try {
        evaluate(node.body, cell, names, context);
      } catch (error) {
        if (node.catch === undefined) throw error;
        absorbed(`caught ${errorText(error)} ${(error as Thrown).kind}`);
        evaluate(node.catch, cell, names, context);
      } finally {
        if (node.finally !== undefined) evaluate(node.finally, cell, names, context);
      }
  }
}

function evaluateGroup(node: GroupNode, cell: Cell, names: Names, context: Context): void {
  const start = cell.register;
  const keys = node.branches.map((_, index) =>
    node.shape === 'array' ? String(index) : `b${index}`,
  );
  // The scopes of helpers are named when the group is issued, single commands when they run.
  const prefix = node.shape === 'each' ? names.path('each') : undefined;
  const scopes = node.branches.map(({ single, node: inner }, index) =>
    prefix !== undefined
      ? new Names(`${prefix}/(${keys[index]})/`)
      : single && isLeaf(inner)
        ? names
        : new Names(`${names.path(keys[index] as string)}/`),
  );
  const texts = node.branches.map(({ single, node: inner }, index) => {
    const inside = { register: mix(start, keys[index] as string), shared: cell.shared };
    let value: unknown;
    try {
      if (single && isLeaf(inner)) {
        value = leafValue(inner, start, scopes[index] as Names, context);
      } else {
        evaluate(inner, inside, scopes[index] as Names, context);
        value = inside.register;
      }
    } catch (error) {
      if (node.kind === 'all') throw error;
      return `rejected ${errorText(error)}`;
    }
    return told(node.kind === 'all' ? value : { status: 'fulfilled', value });
  });
  for (const text of texts) cell.register = mix(cell.register, text);
}

// ---------------------------------------------------------------------------------------------------------------

const ids = fc.constantFrom('a', 'b', 'c');

/** A server step. */
export const stepLeaf = (mayFail: boolean): fc.Arbitrary<Leaf> =>
  fc
    .record({
      id: ids,
      input: fc.boolean(),
      key: fc.boolean(),
      keep: fc.nat(3).map((draw) => draw !== 0),
      failures: fc.constantFrom(0, 0, 0, 1, 2),
      attempts: fc.constantFrom(1, 2, 3),
    })
    .map((drawn): Leaf => ({
      kind: 'step',
      ...drawn,
      attempts: mayFail ? drawn.attempts : drawn.failures + 1,
    }));

/** A question to the client. */
export function questionLeaf(mayFail: boolean): fc.Arbitrary<Leaf> {
  const form = fc.record({
    kind: mayFail
      ? fc.constantFrom('elicit' as const, 'outcome' as const)
      : fc.constant('outcome' as const),
    id: ids,
    // What a model may answer can go where it fails.
    answeredBy: mayFail
      ? fc.constantFrom<readonly Answerer[] | undefined>(undefined, ['client'], ['client', 'model'])
      : fc.constantFrom<readonly Answerer[] | undefined>(undefined, ['client']),
    fallback: mayFail
      ? fc.constantFrom('none' as const, 'content' as const, 'function' as const, 'throws' as const)
      : fc.constantFrom('none' as const, 'content' as const, 'function' as const),
  });
  const other = fc.record({
    kind: mayFail
      ? fc.constantFrom('sample' as const, 'roots' as const)
      : fc.constant('roots' as const),
    id: ids,
  });
  return fc.oneof(form, other);
}

/** A poll that is answered in the end, or a sleep. */
export const waits: fc.Arbitrary<Leaf> = fc.oneof(
  fc.record({ kind: fc.constant('poll' as const), id: ids, asks: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('sleep' as const), ms: fc.constantFrom(0, 20, 90) }),
);

function leaves(mayFail: boolean, mayRead: boolean): fc.Arbitrary<Leaf> {
  return fc
    .oneof(
      { weight: 4, arbitrary: stepLeaf(mayFail) },
      {
        weight: 3,
        arbitrary: questionLeaf(mayFail),
      },
      { weight: 2, arbitrary: waits },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          'random',
          'uuid',
          'checkpoint',
          ...(mayRead ? (['now'] as const) : []),
        ),
      },
    )
    .map((drawn): Leaf => (typeof drawn === 'string' ? { kind: drawn } : drawn));
}

/**
 * Trees of sagas.
 *
 * @param options.wild whether branches may share a variable, fail in an `all` and race, so that
 * what happens depends on the order of completion
 */
export function trees(options: { readonly wild: boolean }): fc.Arbitrary<Node> {
  const { wild } = options;
  // A few distinct arbitraries appear in thousands of places. Building each one once keeps the heap
  // small.
  const made = new Map<string, fc.Arbitrary<Node>>();
  const make = (depth: number, mayFail: boolean, parallel: boolean): fc.Arbitrary<Node> => {
    const key = `${depth} ${mayFail} ${parallel}`;
    const nodes = made.get(key) ?? makeNew(depth, mayFail, parallel);
    made.set(key, nodes);
    return nodes;
  };
  const makeNew = (depth: number, mayFail: boolean, parallel: boolean): fc.Arbitrary<Node> => {
    const flat: fc.Arbitrary<Node>[] = [
      leaves(mayFail, true),
      leaves(mayFail, true),
      fc.constantFrom<Node>({ kind: 'progress' }, { kind: 'log' }),
    ];
    if (wild || !parallel) flat.push(fc.constant<Node>({ kind: 'share' }));
    if (mayFail) flat.push(fc.constant<Node>({ kind: 'throw' }));
    if (depth === 0) return fc.oneof(...flat);
    const inner = (fails = mayFail, inParallel = parallel): fc.Arbitrary<Node> =>
      fc.oneof(
        { weight: 1, arbitrary: make(0, fails, inParallel) },
        { weight: 2, arbitrary: make(depth - 1, fails, inParallel) },
      );
    const guarded = (inParallel = parallel): fc.Arbitrary<Node> =>
      fc.record({
        kind: fc.constant('try' as const),
        body: inner(true, inParallel),
        catch: inner(mayFail, inParallel),
        finally: fc.option(inner(mayFail, inParallel), { nil: undefined }),
      });
    // What makes it matter how a branch is ended: it is in the middle of something, and has
    // something to say to it.
    const busy = fc.record({
      kind: fc.constant('try' as const),
      body: inner(mayFail, true),
      catch: fc.constant(undefined),
      finally: inner(mayFail, true),
    });
    const branches = (kind: GroupNode['kind']): fc.Arbitrary<Node> => {
      const fails = kind === 'allSettled' || wild;
      return fc.record({
        kind: fc.constant(kind),
        shape:
          kind === 'race'
            ? fc.constant('record')
            : fc.constantFrom(
                'record' as const,
                'array' as const,
                ...(kind === 'all' ? (['each'] as const) : []),
              ),
        branches: fc.array(
          fc.oneof(
            fc.record({ single: fc.constant(true), node: leaves(fails, false) }),
            fc.record({ single: fc.constant(false), node: inner(fails, true) }),
            fc.record({
              single: fc.constant(false),
              node: fails && mayFail ? busy : inner(fails, true),
            }),
          ),
          { minLength: kind === 'race' ? 1 : 0, maxLength: 5 },
        ),
      });
    };
    return fc.oneof(
      { weight: 3, arbitrary: fc.oneof(...flat) },
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constantFrom('sequence' as const, 'helper' as const),
          nodes: fc.array(inner(), { minLength: 1, maxLength: 4 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('loop' as const),
          times: fc.integer({ min: 0, max: 3 }),
          body: inner(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('if' as const),
          modulus: fc.integer({ min: 1, max: 3 }),
          // oxlint-disable-next-line no-thenable -- a branch of an if
          then: inner(),
          else: inner(),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('scope' as const, 'call' as const),
          id: fc.constantFrom('a', 's', 't'),
          body: inner(),
        }),
      },
      { weight: 4, arbitrary: branches('all') },
      { weight: 2, arbitrary: branches('allSettled') },
      ...(wild ? [{ weight: 2, arbitrary: branches('race') }] : []),
      { weight: 2, arbitrary: guarded() },
      ...(mayFail
        ? [
            {
              weight: 2,
              arbitrary: fc.record({
                kind: fc.constant('try' as const),
                body: inner(),
                catch: fc.constant(undefined),
                finally: inner(),
              }),
            },
          ]
        : []),
    );
  };
  return fc
    .array(make(3, true, false), { minLength: 1, maxLength: 4 })
    .map((nodes): Node => ({ kind: 'sequence', nodes }));
}
