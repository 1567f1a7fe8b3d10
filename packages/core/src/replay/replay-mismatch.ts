import { isQuestion } from '../effects/effect-of.ts';
import { ReplayMismatch, type StepFacts } from '../values/errors.ts';
import type { Execution } from './execution.ts';
import { fingerprint } from '../values/fingerprint.ts';
import type { Task } from './fiber.ts';
import type { Head } from '../journal/head.ts';
import type { Journal } from '../journal/journal.ts';
import { MalformedState } from '../journal/malformed-state.ts';
import { mismatchOf } from '../journal/mismatch.ts';

/** Names of the pending tasks that are neither questions nor timers. */
export function othersOf(
  pending: Iterable<Task>,
  { asked, waits }: Pick<Head, 'asked' | 'waits'>,
): string[] {
  return Array.from(pending, ({ path }) => path)
    .filter((path) => !Object.hasOwn(asked, path) && !Object.hasOwn(waits, path))
    .map(nameOf);
}

/**
 * Path of a task, as stored in a head. Hashed from the first key on: a readable number after the
 * second of two equal keys would reveal the equality by length.
 */
function nameOf(path: string): string {
  const at = path.indexOf('(') + 1;
  return at === 0
    ? path
    : `${path.slice(0, at)}${(fingerprint(path) >>> 0).toString(36).padStart(7, '0')})`;
}

/**
 * Checks at the end of replay that the code waits for the same tasks as the sealed state. Changed
 * code may have failed, returned, dropped a question, or added a branch to a finished group.
 * @throws ReplayMismatch if the pending tasks differ
 */
export function assertAwaited(head: Head, execution: Execution, journal: Journal): void {
  const { pending } = execution;
  // A recorded mismatch stays, even if the whole journal fits now.
  if (head.mismatch === undefined && isAwaited(head, execution)) return;
  const names = new Set([...pending.keys()].flatMap((path) => [path, nameOf(path)]));
  throw mismatchOf(
    journal,
    pending.values(),
    awaitedFacts(head, (path) => !names.has(path)),
  );
}

/**
 * Converts an error thrown during replay to a mismatch with the error as cause: unchanged code did
 * not throw.
 */
export function toMismatch(
  error: unknown,
  head: Head,
  execution: Execution,
  journal: Journal,
): unknown {
  // The journal itself is wrong, whatever the code does.
  if (error instanceof MalformedState) return error;
  const { phase, pending } = execution;
  const isMismatch = error instanceof ReplayMismatch;
  const recorded = journal.replaying ? journal.facts() : awaitedFacts(head);
  const mismatch = isMismatch ? error : mismatchOf(journal, pending.values(), recorded);
  const { error: failure } = { error: undefined, ...phase.cause };
  const cause = isMismatch ? failure : error;
  if (cause !== undefined) mismatch.cause = cause;
  return mismatch;
}

/** First task of a state for which `isWanted` returns `true`, for errors. */
export function awaitedFacts(
  head: Head,
  isWanted: (path: string) => boolean = () => true,
): StepFacts {
  const { asked, waits, others = [] } = head;
  const paths = [...Object.keys(asked), ...Object.keys(waits), ...others];
  const path = paths.find(isWanted) ?? paths[0] ?? '';
  return { kind: Object.hasOwn(asked, path) ? 'question' : 'wait', path, fingerprint: 0 };
}

function isAwaited({ asked, waits, others }: Head, { pending }: Execution): boolean {
  if (!Object.keys(asked).every((path) => isQuestion(pending.get(path)?.spec))) return false;
  if (!Object.keys(waits).every((path) => pending.has(path))) return false;
  // Unchanged code records an unstarted task of an ended branch at once, and awaits started tasks
  // within the turn.
  if ([...pending.values()].some(({ discarded }) => discarded)) return false;
  if (others === undefined) return true;
  const timed = new Set([...Object.keys(asked), ...Object.keys(waits)]);
  const named = new Set(others);
  const isKnown = (path: string): boolean =>
    timed.has(path) || named.has(path) || named.has(nameOf(path));
  // Not the size of the set: two of many names may have the same hash.
  return pending.size === timed.size + others.length && [...pending.keys()].every(isKnown);
}

/**
 * Number of fitting entries, if new and the saga is undone that far.
 * @param known - mismatch in the state
 * @param policy - `isKept`: nothing is undone at the first mismatch; `isUndoing`: this turn undoes
 * the saga
 */
export function newMismatch(
  { recorded, count }: Journal,
  known: Head['mismatch'],
  policy: { readonly isKept: boolean; readonly isUndoing: boolean },
): Head['mismatch'] {
  if (known === undefined) return policy.isKept ? undefined : [count, recorded];
  // The code has changed again during the undo.
  return policy.isUndoing && known[1] < recorded ? [known[0], recorded] : undefined;
}
