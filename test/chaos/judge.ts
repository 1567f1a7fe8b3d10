import type { DeliveryResult } from '@mcp-saga/server/stores';
import { isTurn, labelOf, labelOfAll } from './provider/label.ts';
import type { EffectRow, Kind, UndoRow } from './provider/ledger.ts';
import type { Tool } from './clients/way.ts';
import { judgeOutside, type OutsideEvidence } from './outside/judge-outside.ts';
import { purchaseIn } from './user.ts';

/** Ending of a call, as its caller sees it. */
export type Ending = 'completed' | 'failed' | 'refused' | 'vanished' | 'unfinished';

/** Report of a client about one call. */
export interface CallReport {
  readonly dialect: string;
  readonly ending: Ending;
  /** Purchases named in its questions, in order. */
  readonly asked: readonly string[];
  /** Purchases that its user refused in a question. */
  readonly refused: readonly string[];
  /** The purchase at whose question the client closed its connection, if it did. */
  readonly closed: readonly string[];
  /** Text of the result, the failure, or the refusal. */
  readonly text: string;
  /**
   * `true` if the client never reused an older token. The server must not refuse an honest client.
   */
  readonly isHonest: boolean;
  /** `true` if the client named its call: however often it calls, the tool is called once. */
  readonly isNamed: boolean;
}

/** Result of a delivery of the queue. */
export interface DeliveryReport {
  readonly sagaId: string;
  /** `refused`: the host does not accept the message, which it has sent itself. */
  readonly status: DeliveryResult['status'] | 'refused';
  /** Reason of a refusal. */
  readonly reason: string;
}

/** All evidence. Only the provider's ledger proves which effects ran. */
export interface Evidence extends OutsideEvidence {
  /** Uncompensated steps reported to the operator. */
  readonly uncompensated: readonly string[];
  readonly calls: readonly CallReport[];
  /** Deliveries of the queue until it is empty, in their order. */
  readonly deliveries: readonly DeliveryReport[];
  /** Ledger from before the queue delivered the messages of the sagas that were left behind. */
  readonly early: EarlyRows;
}

/** Part of a ledger. */
export interface EarlyRows {
  readonly effects: readonly EffectRow[];
  readonly undos: readonly UndoRow[];
}

/** Expected effects of a completed purchase. */
interface Plan {
  /** Alternative sets of effects, each of which completes the purchase. */
  readonly ways: readonly (readonly Kind[])[];
  /** Effects that may remain in addition: of another version, or of the losing branch of a race. */
  readonly extras: readonly Kind[];
}

const plans: Readonly<Record<Tool | 'grant' | 'bill', Plan>> = {
  buy: { ways: [['charge', 'ship', 'thank']], extras: ['stamp'] },
  trip: { ways: [['room', 'car', 'charge', 'ship', 'thank']], extras: ['stamp'] },
  errand: {
    ways: [
      ['charge', 'ship'],
      ['charge', 'car'],
    ],
    extras: ['ship'],
  },
  dash: {
    ways: [
      ['room', 'stamp', 'charge', 'thank'],
      ['car', 'stamp', 'charge', 'thank'],
    ],
    extras: ['room'],
  },
  gift: { ways: [['charge', 'ship', 'thank']], extras: [] },
  parcel: { ways: [['charge', 'room', 'ship', 'thank']], extras: [] },
  tour: { ways: [['room', 'charge', 'thank']], extras: [] },
  grant: { ways: [['charge', 'thank']], extras: [] },
  bill: { ways: [['room', 'thank']], extras: [] },
};

/** Effects that the provider must be asked for only once, with any key. */
const once: readonly Kind[] = ['stamp'];

/** State of one purchase according to the ledger. */
interface Purchase {
  readonly name: string;
  readonly effects: EffectRow[];
  readonly undos: UndoRow[];
}

/**
 * Finds all problems. Every saga must have completed, been undone, or reported its uncompensated
 * steps.
 */
export function judge(evidence: Evidence): readonly string[] {
  const { effects, undos, uncompensated, calls, deliveries } = evidence;
  const purchases = grouped(effects, undos);
  const told = calls.filter(({ ending }) => ending === 'failed').map(({ text }) => text);
  const named = new Set([...uncompensated, ...told.flatMap(uncompensatedIn)]);
  return [
    ...calls.flatMap(unended),
    ...judgeOutside(evidence),
    ...[...purchases.values()].flatMap((purchase) => [
      ...twice(purchase),
      ...halfDone(purchase, named),
    ]),
    ...calls.flatMap((call) => untrue(call, purchases)),
    ...calls.flatMap(startedTwice),
    ...calls.flatMap(({ refused }) => refused.flatMap((name) => doneThough(name, purchases))),
    ...unnoticed(calls, evidence.early),
    ...undelivered(deliveries),
  ];
}

function grouped(
  effects: readonly EffectRow[],
  undos: readonly UndoRow[],
): ReadonlyMap<string, Purchase> {
  const purchases = new Map<string, Purchase>();
  const of = (name: string): Purchase => {
    const purchase = purchases.get(name) ?? { name, effects: [], undos: [] };
    purchases.set(name, purchase);
    return purchase;
  };
  for (const effect of effects) of(effect.purchase).effects.push(effect);
  for (const undo of undos) of(undo.purchase).undos.push(undo);
  return purchases;
}

/** Finds calls without an ending, rejected honest calls, and endings without a reason. */
function unended({ dialect, ending, text, isHonest }: CallReport): readonly string[] {
  if (ending === 'refused' && isHonest)
    return [`An honest call by ${dialect} was refused: ${text}`];
  if (ending === 'unfinished') return [`A call by ${dialect} has not ended: ${text}`];
  if (ending !== 'vanished' && text === '')
    return [`A call by ${dialect} ${ending}, and nobody says why.`];
  return [];
}

/** Finds calls with a key that began two sagas, as their user has seen. */
function startedTwice({ dialect, asked, isNamed }: CallReport): readonly string[] {
  const [first, ...others] = new Set(asked);
  if (!isNamed || others.length === 0) return [];
  return [`A call by ${dialect} with a key began ${first}, and then ${others.join(', ')}.`];
}

/**
 * Finds duplicate effects and undos. They have different keys, because the ledger stores each key
 * once.
 */
function twice({ name, effects, undos }: Purchase): readonly string[] {
  return [
    ...repeated(effects.map(({ kind }) => kind)).map(
      (kind) => `${kind} happened twice for ${name}.`,
    ),
    ...repeated(undos.map(({ kind }) => kind)).map(
      (kind) => `${kind} was undone twice for ${name}.`,
    ),
    ...effects
      .filter(({ kind, asked }) => once.includes(kind) && asked > 1)
      .map(
        ({ kind, asked }) =>
          `${kind} was to be asked for once for ${name}, and was ${asked} times.`,
      ),
    ...undos
      .filter(({ kind, effectKey }) =>
        effects.some((effect) => effect.kind === kind && effect.key !== effectKey),
      )
      .map(({ kind }) => `The undo of ${kind} for ${name} names another ${kind} than there was.`),
  ];
}

/**
 * Finds a purchase that is neither complete nor undone, apart from effects that are named as
 * uncompensated.
 */
function halfDone(purchase: Purchase, named: ReadonlySet<string>): readonly string[] {
  const { name } = purchase;
  const standing = standingOf(purchase);
  const plan = planOf(name);
  if (plan === undefined) return [`The ledger has ${name}, which nobody sells.`];
  if (named.has(labelOfAll(name))) return [];
  const left = standing.filter((kind) => !named.has(labelOf(kind, name)));
  if (left.length === 0 || isComplete(plan, left, standing)) return [];
  return [
    `${name} is half done: ${left.join(', ')} stands without ${missingOf(plan, standing).join(', ')}, and no uncompensated step names it.`,
  ];
}

/** `true` if one alternative of a plan is complete, and all other remaining effects are named. */
function isComplete(
  { ways, extras }: Plan,
  left: readonly Kind[],
  standing: readonly Kind[],
): boolean {
  return ways.some(
    (way) =>
      way.every((kind) => standing.includes(kind)) &&
      left.every((kind) => way.includes(kind) || extras.includes(kind)),
  );
}

/** Effects that the closest alternative of a plan still lacks. */
function missingOf({ ways }: Plan, standing: readonly Kind[]): readonly Kind[] {
  const missing = ways.map((way) => way.filter((kind) => !standing.includes(kind)));
  return missing.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

/** Finds reports to a client that the ledger contradicts. */
function untrue(
  { ending, text }: CallReport,
  purchases: ReadonlyMap<string, Purchase>,
): readonly string[] {
  if (ending === 'completed') {
    const [, name = ''] = /^done (\S+?)(?::? |:?$)/.exec(text) ?? [];
    const purchase = purchases.get(name);
    const standing = purchase === undefined ? [] : standingOf(purchase);
    const plan = planOf(name);
    const missing = plan === undefined ? [] : missingOf(plan, standing);
    if (purchase === undefined)
      return [`A client was told that a purchase is done that is not in the ledger: ${text}`];
    return missing.length === 0
      ? []
      : [`A client was told that ${name} is done, without ${missing.join(', ')}.`];
  }
  if (ending !== 'failed') return [];
  return undoneIn(text).flatMap((label) => notUndone(label, purchases));
}

/** Finds a purchase that continued to its end although its user had refused it. */
function doneThough(name: string, purchases: ReadonlyMap<string, Purchase>): readonly string[] {
  const purchase = purchases.get(name);
  if (purchase === undefined || !standingOf(purchase).includes('thank')) return [];
  return [`The user refused ${name}, and it was done.`];
}

/** Number of closed connections from which at least one must have been noticed. */
const fewClosed = 8;

/**
 * Finds that no process notices a closed connection. A single one may stay unnoticed: its process
 * dies, or cannot reach its guard or the provider.
 */
function unnoticed(calls: readonly CallReport[], early: EarlyRows): readonly string[] {
  const { closed, undone } = closedConnections(calls, early);
  if (closed < fewClosed || undone > 0) return [];
  return [`${closed} clients closed their connection at a question, and no process noticed it.`];
}

/**
 * Counts the sagas whose client closed its connection while its user was asked, and those of them
 * that were undone before the queue came.
 */
export function closedConnections(
  calls: readonly CallReport[],
  { effects, undos }: EarlyRows,
): { readonly closed: number; readonly undone: number } {
  const purchases = grouped(effects, undos);
  const closed = calls.flatMap((call) => call.closed).flatMap((name) => purchases.get(name) ?? []);
  const undone = closed.filter((purchase) => standingOf(purchase).length === 0);
  return { closed: closed.length, undone: undone.length };
}

/** Finds refused messages, and sagas that the queue was told to wait for, without a message. */
function undelivered(deliveries: readonly DeliveryReport[]): readonly string[] {
  const last = new Map(deliveries.map((report) => [report.sagaId, report]));
  return [
    ...deliveries
      .filter(({ status }) => status === 'refused')
      .map(({ sagaId, reason }) => `A message of the saga ${sagaId} was refused: ${reason}.`),
    ...[...last.values()]
      .filter(({ status }) => status === 'waiting')
      .map(({ sagaId }) => `The saga ${sagaId} waits for a message that the queue does not have.`),
  ];
}

/** Finds effects that are reported as undone, but are still in place. */
function notUndone(label: string, purchases: ReadonlyMap<string, Purchase>): readonly string[] {
  const [kind = '', name = ''] = label.split(' ');
  const purchase = purchases.get(name);
  if (purchase === undefined || !standingOf(purchase).some((standing) => standing === kind))
    return [];
  return [`${kind} for ${name} is said to be undone, and stands.`];
}

function standingOf({ effects, undos }: Purchase): readonly Kind[] {
  return effects
    .filter(({ key }) => undos.every(({ effectKey }) => effectKey !== key))
    .map(({ kind }) => kind);
}

function planOf(name: string): Plan | undefined {
  return plans[name.split(':')[0] as keyof typeof plans];
}

function repeated<T>(list: readonly T[]): readonly T[] {
  return [...new Set(list.filter((item, index) => list.indexOf(item) !== index))];
}

/** Uncompensated steps named in a tool result. */
function uncompensatedIn(text: string): readonly string[] {
  const named = labelsIn(text, /Not undone, and left as it is: (.*)/.exec(text)?.[1]);
  const isOpen = / may have run in turn \d+/.test(text);
  return isOpen ? [...named, labelOfAll(purchaseIn(text) ?? '')] : named;
}

function undoneIn(text: string): readonly string[] {
  return labelsIn(text, /Undone: (.*?)(?:Not undone|$)/.exec(text)?.[1]);
}

/**
 * The labels of steps in a list. A step without a label is named by its ID and the purchase in the
 * text.
 */
function labelsIn(text: string, list = ''): readonly string[] {
  const purchase = purchaseIn(text) ?? '';
  return [...list.matchAll(/'([^']+)'(?: \(([^)]*)\))?/g)].map(([, id = '', label]) =>
    isTurn(id) ? labelOfAll(purchase) : (label ?? `${id} ${purchase}`),
  );
}
