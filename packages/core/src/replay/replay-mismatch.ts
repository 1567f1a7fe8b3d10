import { isQuestion } from '../effects/effect-of.ts';
import { ReplayMismatch, type StepFacts } from '../values/errors.ts';
import type { Execution } from './execution.ts';
import { wholeFingerprint } from '../values/fingerprint.ts';
import type { Task } from './fiber.ts';
import type { Head } from '../journal/head.ts';
import type { Journal } from '../journal/journal.ts';
import { mismatchOf } from '../journal/mismatch.ts';

/** Names of the pending tasks that are neither questions nor timers. */
export function othersOf(pending: Iterable<Task>, { asked, waits }: Pick<Head, 'asked' | 'waits'>): string[] {
  return Array.from(pending, ({ path }) => path)
    .filter((path) => !Object.hasOwn(asked, path) && !Object.hasOwn(waits, path))
    .map(nameOf);
}

/**
 * The path of a task as a head stores it. From its first key on it is a hash, so that its length does not reveal whether two
 * keys are equal: the path of the second one has a number.
 */
function nameOf(path: string): string {
  const at = path.indexOf('(') + 1;
  return at === 0 ? path : `${path.slice(0, at)}${wholeFingerprint(path).toString(36).padStart(7, '0')})`;
}

/**
 * Checks at the end of replay that the code waits for the same tasks as when its state was sealed. Changed code may have
 * failed, returned, dropped a question, or added a branch to a finished group. `patched` allows the change.
 *
 * @throws ReplayMismatch if the pending tasks or the registered undos differ
 */
export function assertAwaited(head: Head, execution: Execution, journal: Journal): void {
  const { marks, pending } = execution;
  // A recorded mismatch stays, even if the whole journal fits now.
  if (head.mismatch === undefined && (marks.patchedNow || isAwaited(head, execution))) return;
  const names = new Set([...pending.keys()].flatMap((path) => [path, nameOf(path)]));
  throw mismatchOf(
    journal,
    pending.values(),
    awaitedFacts(head, (path) => !names.has(path)),
  );
}

/**
 * Converts an error thrown during replay to a mismatch with that error as its cause: unchanged code did not throw there.
 * Errors behind a new `patched` are returned unchanged.
 */
export function toMismatch(error: unknown, head: Head, execution: Execution, journal: Journal): unknown {
  const { phase, marks, pending } = execution;
  if (marks.patchedNow) return error;
  const isMismatch = error instanceof ReplayMismatch;
  const recorded = journal.replaying ? journal.facts() : awaitedFacts(head);
  const mismatch = isMismatch ? error : mismatchOf(journal, pending.values(), recorded);
  const { error: failure } = { error: undefined, ...phase.cause };
  const cause = isMismatch ? failure : error;
  if (cause !== undefined) mismatch.cause = cause;
  return mismatch;
}

/** The first task of a state that `isWanted`, for errors. */
export function awaitedFacts(head: Head, isWanted: (path: string) => boolean = () => true): StepFacts {
  const { asked, waits, others = [] } = head;
  const paths = [...Object.keys(asked), ...Object.keys(waits), ...others];
  const path = paths.find(isWanted) ?? paths[0] ?? '';
  return { kind: Object.hasOwn(asked, path) ? 'question' : 'wait', path, fingerprint: 0 };
}

function isAwaited({ asked, waits, others, undos }: Head, { pending, ending }: Execution): boolean {
  if (!Object.keys(asked).every((path) => isQuestion(pending.get(path)?.spec))) return false;
  if (!Object.keys(waits).every((path) => pending.has(path))) return false;
  // Unchanged code records an unstarted task of an ended branch at once, and awaits the others within their turn.
  if ([...pending.values()].some(({ discarded }) => discarded)) return false;
  if (others === undefined) return true;
  const paths = new Set([...Object.keys(asked), ...Object.keys(waits), ...others]);
  const isKnown = (path: string): boolean => paths.has(path) || paths.has(nameOf(path));
  const isSame = pending.size === paths.size && [...pending.keys()].every(isKnown);
  return isSame && JSON.stringify(undos) === JSON.stringify(ending.registered);
}

/**
 * Number of entries that fit the code, if that is news and the saga is undone that far.
 *
 * @param known - the mismatch that the state names
 * @param policy - `isKept`: nothing is undone at the first mismatch; `isUndoing`: this turn undoes the saga
 */
export function newMismatch(
  { recorded, count }: Journal,
  known: Head['mismatch'],
  policy: { readonly isKept: boolean; readonly isUndoing: boolean },
): Head['mismatch'] {
  if (known === undefined) return policy.isKept ? undefined : [count, recorded];
  // The code has changed once more, while the saga was undone.
  return policy.isUndoing && known[1] < recorded ? [known[0], recorded] : undefined;
}
