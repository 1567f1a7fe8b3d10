import { engineOf } from '@mcp-saga/core/program';
/** Changes the code of a saga under its state, and finds violations of the replay rules. */
import { isDeepStrictEqual } from 'node:util';
import { decodeHead, isSameState } from '../../src/journal/head.ts';
import { undoMark } from '../../src/values/path.ts';
import type { ClientAnswer, ClientStep } from '../../src/model/client-step.ts';
import type { Outcome } from '../../src/model/outcome.ts';
import type { ProgramState } from '../../src/model/program-state.ts';
import type { StepEvent } from '../../src/model/runtime.ts';
import { ReplayMismatch } from '../../src/index.ts';
import { accepted, answered, refused, said, turn, type Suspended } from './drive.ts';
import { Provider, programOfTree, type Life, type Taken } from './edited-saga.ts';
import { drawOf, mapTree, Maker, nodesOf, type Node } from './edited-tree.ts';
import { drawEdit, editKinds, type Edited } from './edits.ts';
import { endsAtCommits, hash, seeded, World, type TurnSettings } from './world.ts';

/** Settings of every turn. */
export interface Mode {
  /** Time budget of a turn, in milliseconds. Undefined: unlimited. */
  readonly budget: number | undefined;
  /** Enables a token after each step. */
  readonly stepwise: boolean;
  /** Ends a turn before undoing and behind a pivot, as with a guard. */
  readonly guarded: boolean;
  /** Begins without a token, as a call without a key. */
  readonly unheld: boolean;
  readonly onMismatch: 'fail' | 'compensate';
}

/** A saga, an edit, and the time of the edit. */
export interface EditCase {
  readonly tree: Node;
  readonly edited: Edited;
  readonly mode: Mode;
  /** Number of the suspended turn before the edit, modulo the number of such turns. */
  readonly cut: number;
}

/** Outcome of a case. */
export interface CaseEnd {
  readonly kind: string;
  readonly end:
    | 'never suspended'
    | 'right'
    | 'mismatch'
    | 'undone'
    | 'alike'
    | 'aborted then'
    | 'another order';
  readonly problems: readonly string[];
}

/** A client with a fixed delay for each question. */
class Client {
  readonly #due: Map<string, number>;

  constructor(due: ReadonlyMap<string, number> = new Map()) {
    this.#due = new Map(due);
  }

  copy(): Client {
    return new Client(this.#due);
  }

  /** Gives the next answers, and their time. */
  answer(
    steps: readonly ClientStep[],
    now: number,
  ): { at: number; answers: Map<string, ClientAnswer> } {
    const due = steps.map((step) => {
      const shown = JSON.stringify(step.params['message'] ?? step.params['messages']);
      const known = this.#due.get(shown) ?? now + (hash(shown) % 4) * 1_000;
      this.#due.set(shown, known);
      return { step, at: known };
    });
    const at = Math.max(now, Math.min(...due.map((each) => each.at)));
    const given = due.filter((each) => each.at <= at);
    return { at, answers: new Map(given.map(({ step }) => [step.stepId, answerTo(step)])) };
  }
}

function answerTo({ type, params }: ClientStep): ClientAnswer {
  const { message } = params;
  const shown = typeof message === 'string' ? message : JSON.stringify(params['messages']);
  const draw = hash(shown) % 9;
  if (type === 'sampling')
    return draw === 0 ? { error: { code: -1, message: 'no' }, provenance: 'client' } : said(shown);
  if (draw === 0) return refused('decline');
  return params['mode'] === 'url' || 'url' in params
    ? answered({ action: 'accept' })
    : accepted({ to: shown });
}

/** A suspended state, with the client and the provider at that time. */
interface Snapshot {
  readonly outcome: Suspended;
  readonly client: Client;
  readonly time: number;
  readonly provider: Provider;
  readonly trace: readonly Taken[];
}

interface Lived {
  readonly life: Life;
  readonly turns: number;
  readonly outcome: Exclude<Outcome, Suspended> | undefined;
  readonly problems: readonly string[];
}

function settingsOf(mode: Mode, life: Life, isFirst: boolean): TurnSettings {
  const { provider } = life;
  const claim = (key: string): boolean => {
    const first = !provider.claimed.has(key);
    provider.claimed.add(key);
    return first;
  };
  const observe = ({ type, kind }: StepEvent): void => {
    if (type !== 'passed' || kind !== 'pivot') return;
    for (const key of provider.effects.keys()) provider.safe.add(key);
  };
  return {
    ...(mode.budget === undefined ? {} : { budget: mode.budget, maxHold: 0 }),
    replace: {
      commitsEach: mode.stepwise,
      ...(mode.unheld && isFirst ? { defersEffects: 'vital' as const } : {}),
      ...(mode.guarded ? endsAtCommits() : {}),
      claim,
      observe,
    },
  };
}

function newLife(
  mode: Mode,
  more: Partial<Pick<Life, 'provider' | 'attempted'>> = {},
  time?: number,
): Life {
  const world = new World();
  if (time !== undefined) world.time = time;
  const { onMismatch } = mode;
  const provider = more.provider ?? new Provider();
  return {
    world,
    provider,
    trace: [],
    strayed: [],
    attempted: more.attempted ?? new Map(),
    onMismatch,
  };
}

/** Drives a saga to its end, from its start or from a snapshot. */
async function live(
  tree: Node,
  mode: Mode,
  life: Life,
  from?: Snapshot,
  after?: (snapshot: Snapshot) => void,
): Promise<Lived> {
  const { world, provider } = life;
  const client = from?.client.copy() ?? new Client();
  let state: ProgramState =
    from?.outcome.state ?? (await engineOf(programOfTree(tree, life)).begin({}));
  let given = from === undefined ? undefined : nextOf(from.outcome, client, world);
  for (let turns = 1; turns <= 200; turns += 1) {
    const outcome = await turn(
      programOfTree(tree, life),
      state,
      given ?? new Map(),
      world,
      settingsOf(mode, life, from === undefined && turns === 1),
    );
    if (outcome.status !== 'suspended') return { life, turns, outcome, problems: [] };
    const idle = outcome.steps.length === 0 && (outcome.retryAfterMs ?? 0) === 0;
    if (idle && given?.size === 0 && isSameState(state, outcome.state)) {
      return { life, turns, outcome: undefined, problems: ['stuck: a turn changes nothing'] };
    }
    after?.({
      outcome,
      client: client.copy(),
      time: world.time,
      provider: provider.copy(),
      trace: life.trace,
    });
    state = outcome.state;
    given = nextOf(outcome, client, world);
  }
  return { life, turns: 200, outcome: undefined, problems: ['stuck: it does not end'] };
}

/** Advances the time to the next event, and gives the answers of the client. */
function nextOf(
  outcome: Suspended,
  client: Client,
  world: World,
): ReadonlyMap<string, ClientAnswer> {
  if (outcome.steps.length === 0) {
    world.time += outcome.retryAfterMs ?? 0;
    return new Map();
  }
  const { at, answers } = client.answer(outcome.steps, world.time);
  if (outcome.due !== undefined && outcome.due < at) {
    world.time = Math.max(world.time, outcome.due);
    return new Map();
  }
  world.time = at;
  return answers;
}

const errorOf = (outcome: Lived['outcome']): unknown =>
  outcome?.status === 'failed' ? outcome.error : undefined;

/** Comparable end of a life. */
function endOf({ outcome, life }: Lived) {
  const { name, code, message } = (errorOf(outcome) ?? {}) as {
    name?: string;
    code?: unknown;
    message?: string;
  };
  const failed = outcome?.status === 'failed' ? outcome : undefined;
  return {
    status: outcome?.status,
    result: outcome?.status === 'completed' ? outcome.result : undefined,
    error: failed && { name, code, message },
    compensated: failed?.compensated.map(({ stepId }) => stepId).toSorted(),
    uncompensated: failed?.uncompensated.map(({ stepId }) => stepId).toSorted(),
    got: life.trace.map((taken) => JSON.stringify(taken)).toSorted(),
    effects: [...life.provider.effects.values()]
      .map(({ alike, isOn }) => `${alike} ${isOn}`)
      .toSorted(),
    inVain: [...life.provider.inVain.values()],
  };
}

function differenceOf(is: object, should: object): string | undefined {
  if (isDeepStrictEqual(is, should)) return undefined;
  const parts = Object.keys(is).filter(
    (key) => !isDeepStrictEqual(Reflect.get(is, key), Reflect.get(should, key)),
  );
  return parts
    .map(
      (key) =>
        `${key} ${JSON.stringify(Reflect.get(is, key))}, and not ${JSON.stringify(Reflect.get(should, key))}`,
    )
    .join('; ');
}

/** The edited code with each `patched` replaced by its decision. */
function decided(tree: Node, { trace }: Life): Node {
  const decisions = new Map(trace.map(({ who, value }) => [Number.parseInt(who, 10), value]));
  return mapTree(tree, (node) => {
    if (node.kind !== 'patched') return node;
    const nodes = decisions.get(node.node) === false ? [node.otherwise ?? []].flat() : [node.body];
    return { kind: 'sequence', node: node.node, nodes };
  });
}

function withoutDecisions(trace: readonly Taken[], tree: Node): Taken[] {
  const patches = new Set(
    nodesOf(tree).flatMap(({ kind, node }) => (kind === 'patched' ? [node] : [])),
  );
  return trace.filter(({ who }) => !patches.has(Number.parseInt(who, 10)));
}

const pathOf = (key: string): string => (key.split('|', 1)[0] as string).replace(/^\w+:/, '');

/** Runs a case, and lists violations. */
export async function runCase({ tree, edited, mode, cut }: EditCase): Promise<CaseEnd> {
  const { kind } = edited;
  const snapshots: Snapshot[] = [];
  const original = await live(
    tree,
    mode,
    newLife(mode),
    undefined,
    (snapshot) => void snapshots.push(snapshot),
  );
  const problems: string[] = original.problems.map((problem) => `unchanged: ${problem}`);
  if (errorOf(original.outcome) instanceof ReplayMismatch) problems.push('unchanged: mismatch');
  const snapshot = snapshots[cut % Math.max(1, snapshots.length)];
  if (snapshot === undefined) return { kind, end: 'never suspended', problems };

  problems.push(...(await ofLook(edited, mode, snapshot)));
  const life = newLife(mode, { provider: snapshot.provider.copy() }, snapshot.time);
  const changed = await live(edited.tree, mode, life, snapshot);
  problems.push(...changed.problems);
  const isForward = snapshot.outcome.undoes !== true;
  const error = errorOf(changed.outcome);
  const strays = life.strayed;
  const hard = strays.filter((stray) => !stray.isAlike);
  if (error instanceof ReplayMismatch) {
    if (editKinds[kind]?.isFree === true && isForward)
      problems.push(`a free change is a mismatch: ${error.message}`);
    problems.push(
      ...(mode.onMismatch === 'fail'
        ? ofLeft(changed, snapshot)
        : ofUndone(changed, snapshot, tree, edited.tree)),
    );
    if (mode.onMismatch === 'fail') {
      const rolledBack = await live(
        tree,
        mode,
        newLife(mode, { provider: life.provider.copy() }, snapshot.time),
        snapshot,
      );
      problems.push(...rolledBack.problems);
      const difference = differenceOf(endOf(rolledBack), endOf(original));
      if (difference !== undefined) problems.push(`rolled back: ${difference}`);
    }
    return { kind, end: mode.onMismatch === 'fail' ? 'mismatch' : 'undone', problems };
  }
  for (const { who, of } of hard) problems.push(`silent: ${who} got what is of ${of}`);
  problems.push(...ofLedger(changed));
  if (strays.length > 0 && hard.length === 0) return { kind, end: 'alike', problems };

  // A saga that is being undone may fail for another reason. Before that, its `finally` blocks
  // belong to the body.
  const { waits, others = [] } = decodeHead(snapshot.outcome.state.head);
  const isUndoing = [...Object.keys(waits), ...others].some((path) => path.startsWith(undoMark));
  if (isUndoing)
    return { kind, end: 'right', problems: [...problems, ...ofUndoing(changed, original, kind)] };
  // The reference: the edited code from its start, with the recorded outcomes.
  const { attempted } = snapshot.provider;
  const fresh = await live(decided(edited.tree, life), mode, newLife(mode, { attempted }));
  const is = endOf({
    ...changed,
    life: { ...life, trace: withoutDecisions(life.trace, edited.tree) },
  });
  const difference = differenceOf(
    is,
    endOf({
      ...fresh,
      life: { ...fresh.life, trace: withoutDecisions(fresh.life.trace, edited.tree) },
    }),
  );
  if (difference === undefined) return { kind, end: 'right', problems };
  // An aborted step keeps its outcome, even if the edited group aborts nothing.
  const wasAborted = [...attempted.values()].some(({ isAborted }) => isAborted);
  if (wasAborted && kind === 'change the kind of a group')
    return { kind, end: 'aborted then', problems };
  // Branches that ended before the edit ended before the commands that the edit added.
  const isParallel = nodesOf(edited.tree).some(
    (node) => 'branches' in node && node.branches.length > 1,
  );
  if (isParallel) return { kind, end: 'another order', problems };
  return { kind, end: 'right', problems: [...problems, `not right: ${difference}`] };
}

/**
 * Violations in a turn without time: replay alone neither ends the saga, nor adds to its journal,
 * nor asks for other tasks.
 */
async function ofLook({ tree }: Edited, mode: Mode, snapshot: Snapshot): Promise<string[]> {
  const { outcome, provider, time, trace } = snapshot;
  const life = newLife({ ...mode, onMismatch: 'fail' }, { provider: provider.copy() }, time);
  const settings = settingsOf({ ...mode, budget: Number.NEGATIVE_INFINITY }, life, false);
  const looked = await turn(
    programOfTree(tree, life),
    outcome.state,
    new Map(),
    life.world,
    settings,
  );
  const did = life.provider.calls.length - provider.calls.length;
  const problems = did === 0 ? [] : ['replay runs something'];
  if (looked.status === 'failed' && looked.error instanceof ReplayMismatch) return problems;
  // A `patched` that was not applied yet allows other tasks.
  const applied = new Set(
    trace.filter(({ value }) => value === true).map(({ who }) => Number.parseInt(who, 10)),
  );
  if (nodesOf(tree).some((each) => each.kind === 'patched' && !applied.has(each.node)))
    return problems;
  if (looked.status !== 'suspended') return [...problems, `replay ends the saga: ${looked.status}`];
  return isDeepStrictEqual(waiting(looked.state), waiting(outcome.state))
    ? problems
    : [...problems, 'replay leads to another state'];
}

/** The parts of a state that replay of accepted code does not change. */
function waiting({ structure, client, server, head }: ProgramState): object {
  const { asked, waits, others } = decodeHead(head);
  return {
    streams: [structure, client, server],
    paths: [
      ...new Set([...Object.keys(asked), ...Object.keys(waits), ...(others ?? [])]),
    ].toSorted(),
  };
}

/** Violations of a mismatch with the policy `fail`. */
function ofLeft({ outcome, turns, life }: Lived, snapshot: Snapshot): string[] {
  const problems: string[] = [];
  if (turns > 1) problems.push(`a mismatch in turn ${turns} of the same code`);
  if (
    outcome?.status === 'failed' &&
    outcome.compensated.length + outcome.uncompensated.length > 0
  ) {
    problems.push('a mismatch that lists undone steps');
  }
  const { calls } = life.provider;
  const before = snapshot.provider.calls.length;
  if (calls.length > before) problems.push(`a mismatch that did ${calls.slice(before).join(', ')}`);
  return problems;
}

/** Violations of a mismatch with the policy `compensate`. */
function ofUndone(
  { outcome, life }: Lived,
  snapshot: Snapshot,
  before: Node,
  after: Node,
): string[] {
  if (outcome?.status !== 'failed') return [];
  const problems: string[] = [];
  const undoable = (tree: Node): Map<number, boolean> =>
    new Map(nodesOf(tree).map((node) => [node.node, node.kind === 'step' && node.undo !== 'none']));
  const was = undoable(before);
  const is = undoable(after);
  const listed = [...outcome.compensated, ...outcome.uncompensated].map(({ stepId }) => stepId);
  for (const [key, effect] of snapshot.provider.effects) {
    const { node, who } = effect;
    const wanted =
      was.get(node) === true && is.get(node) !== false && !snapshot.provider.safe.has(key);
    if (wanted && !listed.includes(pathOf(key)))
      problems.push(`${who} (${pathOf(key)}) is neither undone nor named`);
  }
  for (const key of life.provider.effects.keys()) {
    if (!snapshot.provider.effects.has(key)) problems.push(`a mismatch that did ${key}`);
  }
  return [...problems, ...ofLedger({ outcome, life, turns: 0, problems: [] })];
}

/** Violations of an edit during the undoing. */
function ofUndoing(changed: Lived, original: Lived, kind: string): string[] {
  if (changed.outcome?.status !== 'failed' || original.outcome?.status !== 'failed')
    return ['it is undone no more'];
  if (kind === 'undo a step otherwise') return [];
  const { effects: is, compensated, uncompensated } = endOf(changed);
  const should = endOf(original);
  const difference = differenceOf(
    { is, compensated, uncompensated },
    { is: should.effects, compensated: should.compensated, uncompensated: should.uncompensated },
  );
  return difference === undefined ? [] : [`not undone as before: ${difference}`];
}

/** Violations in the lists of compensated and uncompensated steps. */
function ofLedger({ outcome, life }: Lived): string[] {
  const problems: string[] = [];
  const failed = outcome?.status === 'failed' ? outcome : undefined;
  const compensated = failed?.compensated.map(({ stepId }) => stepId) ?? [];
  const listed = [...compensated, ...(failed?.uncompensated.map(({ stepId }) => stepId) ?? [])];
  if (new Set(listed).size < listed.length) problems.push(`listed twice: ${listed.join(', ')}`);
  const { effects, safe, inVain } = life.provider;
  for (const [key, { who, isOn, undone }] of effects) {
    if (compensated.includes(pathOf(key)) && isOn)
      problems.push(`${who} is listed as undone, and is not`);
    // Either list is right: only its own code knows the steps of a generator undo.
    if (!isOn && !listed.includes(pathOf(key)))
      problems.push(`${who} was undone, and is not listed`);
    if (!isOn && safe.has(key)) problems.push(`${who} was undone behind a pivot`);
    if (undone > 1) problems.push(`${who} was undone ${undone} times`);
  }
  for (const [key, count] of inVain) if (count > 1) problems.push(`${key} ran ${count} times`);
  return problems;
}

/** The case of a seed. */
export function caseOf(seed: number): EditCase {
  const draw = drawOf(seeded(seed));
  const maker = new Maker(draw);
  const tree = maker.saga();
  const mode: Mode = {
    budget: draw.pick([undefined, 1_000, 1_000, 20]),
    stepwise: draw.chance(30),
    guarded: draw.chance(50),
    unheld: draw.chance(10),
    onMismatch: draw.chance(60) ? 'fail' : 'compensate',
  };
  return { tree, edited: drawEdit(tree, maker), mode, cut: draw.int(1_000) };
}

/** Removes nodes from a failing case while the case fails in the same way. */
export async function shrink(found: EditCase): Promise<EditCase> {
  const wayOf = (problems: readonly string[]): string => (problems[0] ?? '').slice(0, 9);
  const way = wayOf((await runCase(found)).problems);
  let best = found;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    const numbers = [
      ...new Set([...nodesOf(best.tree), ...nodesOf(best.edited.tree)].map(({ node }) => node)),
    ];
    for (const number of numbers) {
      const without = (tree: Node): Node => mapTree(tree, (node) => less(node, number));
      const tried = {
        ...best,
        tree: without(best.tree),
        edited: { ...best.edited, tree: without(best.edited.tree) },
      };
      if (isDeepStrictEqual(tried, best)) continue;
      for (const cut of [0, 1, 2, 3, 4]) {
        const { problems } = await runCase({ ...tried, cut });
        if (problems.length === 0 || wayOf(problems) !== way) continue;
        best = { ...tried, cut };
        isSmaller = true;
        break;
      }
    }
  }
  return best;
}

function less(tree: Node, number: number): Node {
  const isIt = ({ node }: Node): boolean => node === number;
  if (tree.kind === 'sequence') return { ...tree, nodes: tree.nodes.filter((node) => !isIt(node)) };
  if (tree.kind === 'try' && tree.finally !== undefined && isIt(tree.finally))
    return { ...tree, finally: undefined };
  if ('branches' in tree && tree.branches.length > 1) {
    const branches = tree.branches.filter(({ body }) => !isIt(body));
    const keyed = branches.map((branch, index) => ({ ...branch, key: String(index) }));
    return { ...tree, branches: tree.shape === 'array' ? keyed : branches };
  }
  return tree;
}
