import type { Journal } from '../../journal/journal.ts';
import { historyOf } from '../../journal/read-history.ts';
import { receiptsIn } from '../../journal/receipts.ts';
import type { Scope } from '../../values/path.ts';
import { MalformedState } from '../../journal/malformed-state.ts';
import type { Runtime } from '../../model/runtime.ts';
import { decode, encode } from '../../values/codec.ts';
import type { Json } from '../../values/json.ts';

/**
 * What `info()` records, in the order of its use. A saga that reads it at each question would
 * otherwise fill its token with the ID and the capabilities, which hardly ever change: they are
 * recorded once, and again when they differ.
 */
export type RecordedInfo = readonly [
  turn: number,
  tokenBytes: number,
  isLong: 0 | 1,
  changed?: LastingFacts,
];

/** Facts about a saga that outlive its turns. */
export interface LastingFacts {
  readonly sagaId: string;
  readonly capabilities?: Json | undefined;
}

/**
 * Returns the facts for a body from their record. `answeredBy` and `receipts`, which read the
 * journal, are not enumerable: the facts stay JSON.
 */
export function toSagaInfo(recorded: unknown, scope: Scope, journal: Journal): unknown {
  const [turn, tokenBytes, isLong, changed] = recorded as RecordedInfo;
  if (changed !== undefined) journal.lastingFacts = encode(changed);
  const text = journal.lastingFacts;
  if (text === undefined) throw new MalformedState();
  // Each body gets a copy, which it may change.
  const { sagaId, capabilities } = decode(text) as LastingFacts;
  const facts = { sagaId, turn, tokenBytes, capabilities, continueAsSuggested: isLong === 1 };
  const answeredBy = (id: string): unknown =>
    journal.answeredBy(scope.prefix + id) ?? journal.answeredBy(id);
  // As of now: later entries of the journal must not appear, on no replay.
  const { count } = journal;
  const receipts = (): unknown => receiptsIn(historyOf(journal.state).entries.slice(0, count));
  return Object.defineProperties(facts, {
    answeredBy: { value: answeredBy },
    receipts: { get: receipts },
  });
}

/** Length of a journal from which a saga is long: each turn replays all of it. */
const suggestedEntries = 300;

/** Facts about the current turn, as the journal records them. */
export function infoIn(
  { saga, turn, request, limits }: Runtime,
  journal: Pick<Journal, 'count' | 'lastingFacts'>,
): RecordedInfo {
  const { number, tokenBytes } = turn;
  const { suggestedTokenBytes, maxJournalEntries } = limits;
  const isLong =
    tokenBytes >= suggestedTokenBytes ||
    journal.count >= Math.min(suggestedEntries, maxJournalEntries / 2);
  const lasting: LastingFacts = { sagaId: saga.id, capabilities: request.capabilities };
  const facts = [number, tokenBytes, isLong ? 1 : 0] as const;
  return encode(lasting) === journal.lastingFacts ? facts : [...facts, lasting];
}
