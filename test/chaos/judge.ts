import { isTurn, labelOf, labelOfAll } from './provider/label.ts';
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
  /** The result, the failure, or the refusal that ended the call. */
  readonly text: string;
  /** `true` if the client never reused an older token. The server must not refuse an honest client. */
  readonly isHonest: boolean;
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

/** The effects of a completed purchase. */
interface Plan {
  /** Each is a way to complete it. */
  readonly ways: readonly (readonly Kind[])[];
  /** Effects that may also stand: of another version, or of the branch that lost a race. */
  readonly extras: readonly Kind[];
}

const plans: Readonly<Record<Tool, Plan>> = {
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
  tour: { ways: [['room', 'charge', 'thank']], extras: [] },
};

/** Effects that the provider must not hear of twice, whatever their key. */
const once: readonly Kind[] = ['stamp'];

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

/** Finds calls that never ended, honest calls that were refused, and endings without a reason. */
function unended({ dialect, ending, text, isHonest }: CallReport): readonly string[] {
  if (ending === 'refused' && isHonest) return [`An honest call by ${dialect} was refused: ${text}`];
  if (ending === 'unfinished') return [`A call by ${dialect} has not ended: ${text}`];
  if (ending !== 'vanished' && text === '') return [`A call by ${dialect} ${ending}, and nobody says why.`];
  return [];
}

/** What happened, or was undone, more than once: under more than one key, since under one it cannot. */
function twice({ name, effects, undos }: Purchase): readonly string[] {
  return [
    ...repeated(effects.map(({ kind }) => kind)).map((kind) => `${kind} happened twice for ${name}.`),
    ...repeated(undos.map(({ kind }) => kind)).map((kind) => `${kind} was undone twice for ${name}.`),
    ...effects
      .filter(({ kind, asked }) => once.includes(kind) && asked > 1)
      .map(({ kind, asked }) => `${kind} was to be asked for once for ${name}, and was ${asked} times.`),
    ...undos
      .filter(({ kind, effectKey }) =>
        effects.some((effect) => effect.kind === kind && effect.key !== effectKey),
      )
      .map(({ kind }) => `The undo of ${kind} for ${name} names another ${kind} than there was.`),
  ];
}

/** Finds a purchase that is neither complete nor undone, apart from effects that are named as uncompensated. */
function halfDone(purchase: Purchase, named: ReadonlySet<string>): readonly string[] {
  const { name } = purchase;
  const standing = standingOf(purchase);
  const plan = planOf(name);
  if (plan === undefined) return [`The ledger has ${name}, which nobody sells.`];
  if (named.has(labelOfAll(name))) return [];
  const left = standing.filter((kind) => !named.has(labelOf(kind, name)));
  if (left.length === 0 || isComplete(plan, left, standing)) return [];
  return [
    `${name} is half done: ${left.join(', ')} stands without ${missingOf(plan, standing).join(', ')}, and no residue names it.`,
  ];
}

/** `true` if one way of a plan is complete, and nothing unnamed stands beside it. */
function isComplete({ ways, extras }: Plan, left: readonly Kind[], standing: readonly Kind[]): boolean {
  return ways.some(
    (way) =>
      way.every((kind) => standing.includes(kind)) &&
      left.every((kind) => way.includes(kind) || extras.includes(kind)),
  );
}

/** The effects that the nearest way of a plan still lacks. */
function missingOf({ ways }: Plan, standing: readonly Kind[]): readonly Kind[] {
  const missing = ways.map((way) => way.filter((kind) => !standing.includes(kind)));
  return missing.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

/** What a client was told that the ledger contradicts. */
function untrue({ ending, text }: CallReport, purchases: ReadonlyMap<string, Purchase>): readonly string[] {
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

function planOf(name: string): Plan | undefined {
  return plans[name.split(':')[0] as Tool];
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

/** The labels of steps in a list. A step without a label is named by its ID and the purchase in the text. */
function labelsIn(text: string, list = ''): readonly string[] {
  const purchase = purchaseIn(text) ?? '';
  return [...list.matchAll(/'([^']+)'(?: \(([^)]*)\))?/g)].map(([, id = '', label]) =>
    isTurn(id) ? labelOfAll(purchase) : (label ?? `${id} ${purchase}`),
  );
}
