import type { Program } from '@mcp-saga/server';
import type { StepFacts } from '@mcp-saga/server/internal';
import { oneLine, showError } from '../values/show.ts';
import type { Trace } from '../report/trace.ts';

/** A saga that new code could not go on with. */
export interface UpgradeProblem {
  /** The turn whose token it was. */
  readonly turn: number;
  /** What it waited for then. */
  readonly waitedFor: readonly string[];
  /** What the journal has; undefined where it failed for another reason. */
  readonly recorded: StepFacts | undefined;
  /** What the new code asks for. */
  readonly asked: readonly StepFacts[];
  readonly error: unknown;
}

/** What is asked, by id. */
export type Texts = ReadonlyMap<string, string>;

/** What was asked in a run. */
export function textsIn(trace: Trace): Texts {
  return new Map(
    trace.flatMap((entry) => (entry.type === 'asked' ? [[entry.id, entry.message] as const] : [])),
  );
}

/** What stands in a message of a problem. The texts are those of the old code and of the new one. */
export function linesOf(
  { turn, waitedFor, recorded, asked, error }: UpgradeProblem,
  texts?: { readonly old: Texts; readonly next: Texts },
): readonly string[] {
  const where = `after turn ${turn}, waiting for ${waitedFor.join(', ') || 'nothing'}:`;
  if (isMachine(error)) return [where, `    ${(error as Error).message}`];
  if (recorded === undefined) return [where, `    ${showError(error)}`];
  const told = ({ kind, path }: StepFacts, of: Texts | undefined): string => {
    const text = of?.get(path);
    return `${kind} '${path}'${text === undefined ? '' : `: ${oneLine(text)}`}`;
  };
  const now = asked.map((each) => told(each, texts?.next)).join(', ') || 'nothing more';
  const before = told(recorded, texts?.old);
  const same = asked.some(({ kind, path }) => kind === recorded.kind && path === recorded.path);
  const differs = !same
    ? ''
    : now === before
      ? ' (the same text: what else it asks with differs)'
      : ' (with other content)';
  return [where, `    recorded: ${before}`, `    now asks: ${now}${differs}`];
}

/** What is to be done about problems. */
export function adviceOn(problems: readonly UpgradeProblem[]): string {
  if (problems.every(({ error }) => isMachine(error))) {
    return (
      'States that sagas in flight stand in, and the ids of what they invoke there, must stay. Keep them; or bring the state along with ' +
      'migrate; or raise the version and let the old code end what it began: previous: [{ saga: old }].'
    );
  }
  return (
    'Steps that sagas in flight have in their journals must keep their ids, their order and what they ask. Put a change ' +
    "behind if (yield* patched('…')); or raise the version and let the old code end what it began: previous: [{ saga: old }]."
  );
}

/** All problems of an upgrade, and what is to be done about them. */
export function cannotGoOn(
  old: Program,
  next: Program,
  problems: readonly UpgradeProblem[],
  texts: { readonly old: Texts; readonly next: Texts },
): string {
  return [
    `Version '${next.version}' of '${next.name}' cannot go on with sagas that version '${old.version}' began:`,
    '',
    ...problems.flatMap((problem) => linesOf(problem, texts).map((line) => `    ${line}`)),
    '',
    adviceOn(problems),
  ].join('\n');
}

// A machine has no journal: its mismatch says in words what does not fit.
function isMachine(error: unknown): boolean {
  return error instanceof Error && error.name === 'MachineMismatch';
}
