import { labelOf } from './provider/label.ts';
import type { EffectRow, Kind, UndoRow } from './provider/ledger.ts';
import type { Tool } from './clients/way.ts';
import { purchaseIn } from './user.ts';

/** How a call ended for whoever made it. */
export type Ending = 'completed' | 'failed' | 'refused' | 'vanished' | 'unfinished';

/** What a client can say of a call. */
export interface CallReport {
  readonly dialect: string;
  readonly ending: Ending;
  /** The purchases that its questions were about, in the order asked. */
  readonly asked: readonly string[];
  /** What it was told in the end: the result, why it failed, or why it was refused. */
  readonly text: string;
}

/** What became of a saga that was left to the queue. */
export interface CancelReport {
  readonly sagaId: string;
  /** `refused`: its token was used otherwise, since the saga went on or has ended. */
  readonly status: 'failed' | 'completed' | 'refused';
  readonly compensated: readonly string[];
  /** Labels of what could not be undone. */
  readonly residue: readonly string[];
}

/** All there is to judge by. The ledger is the provider's; nobody else's word counts for what happened. */
export interface Evidence {
  readonly effects: readonly EffectRow[];
  readonly undos: readonly UndoRow[];
  /** Labels of what could not be undone, as the queue was told. */
  readonly residue: readonly string[];
  readonly calls: readonly CallReport[];
  readonly cancelled: readonly CancelReport[];
}

/** What is done for a purchase that comes to its end. */
const whole: Readonly<Record<Tool, readonly Kind[]>> = {
  buy: ['charge', 'ship', 'thank'],
  trip: ['room', 'car', 'charge', 'ship', 'thank'],
  errand: ['charge', 'ship'],
};

/** What became of one purchase, by the ledger. */
interface Purchase {
  readonly name: string;
  readonly effects: EffectRow[];
  readonly undos: UndoRow[];
}

/** Everything that is wrong: empty where every saga has ended well, or was undone, or says what was not. */
export function judge({ effects, undos, residue, calls, cancelled }: Evidence): readonly string[] {
  const purchases = grouped(effects, undos);
  const told = calls.filter(({ ending }) => ending === 'failed').map(({ text }) => text);
  const named = new Set([
    ...residue,
    ...told.flatMap(residueIn),
    ...cancelled.flatMap((report) => report.residue),
  ]);
  return [
    ...calls.flatMap(unended),
    ...[...purchases.values()].flatMap((purchase) => [...twice(purchase), ...halfDone(purchase, named)]),
    ...calls.flatMap((call) => untrue(call, purchases)),
    ...cancelled.flatMap(({ compensated }) => compensated.flatMap((label) => notUndone(label, purchases))),
  ];
}

function grouped(effects: readonly EffectRow[], undos: readonly UndoRow[]): ReadonlyMap<string, Purchase> {
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

/** A call that has not ended, or was refused without a reason. */
function unended({ dialect, ending, text }: CallReport): readonly string[] {
  if (ending === 'unfinished') return [`A call by ${dialect} has not ended: ${text}`];
  if (ending !== 'vanished' && text === '') return [`A call by ${dialect} ${ending}, and nobody says why.`];
  return [];
}

/** What happened, or was undone, more than once: under more than one key, since under one it cannot. */
function twice({ name, effects, undos }: Purchase): readonly string[] {
  return [
    ...repeated(effects.map(({ kind }) => kind)).map((kind) => `${kind} happened twice for ${name}.`),
    ...repeated(undos.map(({ kind }) => kind)).map((kind) => `${kind} was undone twice for ${name}.`),
    ...undos
      .filter(({ kind, effectKey }) =>
        effects.some((effect) => effect.kind === kind && effect.key !== effectKey),
      )
      .map(({ kind }) => `The undo of ${kind} for ${name} names another ${kind} than there was.`),
  ];
}

/** A purchase that is neither whole nor undone, apart from what is named as residue. */
function halfDone(purchase: Purchase, named: ReadonlySet<string>): readonly string[] {
  const { name } = purchase;
  const standing = standingOf(purchase);
  const plan = planOf(name);
  if (plan === undefined) return [`The ledger has ${name}, which nobody sells.`];
  const left = standing.filter((kind) => !named.has(labelOf(kind, name)));
  if (left.length === 0) return [];
  const missing = plan.filter((kind) => !standing.includes(kind));
  if (missing.length === 0) return [];
  return [
    `${name} is half done: ${left.join(', ')} stands without ${missing.join(', ')}, and no residue names it.`,
  ];
}

/** What a client was told that the ledger contradicts. */
function untrue({ ending, text }: CallReport, purchases: ReadonlyMap<string, Purchase>): readonly string[] {
  if (ending === 'completed') {
    const [, name = ''] = /^done (\S+?)(?::? |:?$)/.exec(text) ?? [];
    const purchase = purchases.get(name);
    const standing = purchase === undefined ? [] : standingOf(purchase);
    const missing = (planOf(name) ?? []).filter((kind) => !standing.includes(kind));
    if (purchase === undefined)
      return [`A client was told that a purchase is done that is not in the ledger: ${text}`];
    return missing.length === 0
      ? []
      : [`A client was told that ${name} is done, without ${missing.join(', ')}.`];
  }
  if (ending !== 'failed') return [];
  return undoneIn(text).flatMap((label) => notUndone(label, purchases));
}

/** What is said to be undone, and stands. */
function notUndone(label: string, purchases: ReadonlyMap<string, Purchase>): readonly string[] {
  const [kind = '', name = ''] = label.split(' ');
  const purchase = purchases.get(name);
  if (purchase === undefined || !standingOf(purchase).some((standing) => standing === kind)) return [];
  return [`${kind} for ${name} is said to be undone, and stands.`];
}

function standingOf({ effects, undos }: Purchase): readonly Kind[] {
  return effects
    .filter(({ key }) => undos.every(({ effectKey }) => effectKey !== key))
    .map(({ kind }) => kind);
}

function planOf(name: string): readonly Kind[] | undefined {
  return whole[name.split(':')[0] as Tool];
}

function repeated<T>(list: readonly T[]): readonly T[] {
  return [...new Set(list.filter((item, index) => list.indexOf(item) !== index))];
}

/** What a tool result says that it has not undone. */
function residueIn(text: string): readonly string[] {
  return labelsIn(text, /Not undone, and left as it is: (.*)/.exec(text)?.[1]);
}

function undoneIn(text: string): readonly string[] {
  return labelsIn(text, /Undone: (.*?)(?:Not undone|$)/.exec(text)?.[1]);
}

/** The labels of steps in a list; of those that have none, their ids, with the purchase that the text speaks of. */
function labelsIn(text: string, list = ''): readonly string[] {
  return [...list.matchAll(/'([^']+)'(?: \(([^)]*)\))?/g)].map(
    ([, id = '', label = `${id} ${purchaseIn(text) ?? ''}`]) => label,
  );
}
