import type { Journal } from '../../journal/journal.ts';
import { historyOf } from '../../journal/read-history.ts';
import { receiptsIn } from '../../journal/receipts.ts';
import type { Scope } from '../../values/path.ts';
import type { Runtime } from '../../model/runtime.ts';

/**
 * Adds `answeredBy` and `receipts`, which read the journal, to the facts of a saga. Not enumerable:
 * the facts stay JSON.
 */
export function toSagaInfo(facts: unknown, scope: Scope, journal: Journal): unknown {
  const answeredBy = (id: string): unknown =>
    journal.answeredBy(scope.prefix + id) ?? journal.answeredBy(id);
  // As of now: later entries of the journal must not appear, on no replay.
  const { count } = journal;
  const receipts = (): unknown => receiptsIn(historyOf(journal.state).entries.slice(0, count));
  return Object.defineProperties(facts as object, {
    answeredBy: { value: answeredBy },
    receipts: { get: receipts },
  });
}

/** Length of a journal from which a saga is long: each turn replays all of it. */
const suggestedEntries = 300;

/**
 * Facts about the current turn, as the journal stores them. `entries`: length of the journal so
 * far.
 */
export function infoIn({ saga, turn, request, limits }: Runtime, entries: number): unknown {
  const { number, tokenBytes } = turn;
  const { suggestedTokenBytes, maxJournalEntries } = limits;
  const continueAsSuggested =
    tokenBytes >= suggestedTokenBytes ||
    entries >= Math.min(suggestedEntries, maxJournalEntries / 2);
  const { capabilities } = request;
  return { sagaId: saga.id, turn: number, tokenBytes, capabilities, continueAsSuggested };
}
