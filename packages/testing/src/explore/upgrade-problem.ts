import type { Program } from '@mcp-saga/server';
import type { StepFacts } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { messageOfError, oneLine, showError } from '../values/show.ts';
import type { Trace } from '../report/trace.ts';

/** A saga in flight, incompatible with the new code. */
export interface UpgradeProblem {
  /** Turn of its token. */
  readonly turn: number;
  /** Open questions. */
  readonly waitedFor: readonly string[];
  /** Entry of the journal; undefined for another reason. */
  readonly recorded: StepFacts | undefined;
  /** Commands of the new code. */
  readonly asked: readonly StepFacts[];
  readonly error: unknown;
}

/** Questions by ID. */
export type Texts = ReadonlyMap<string, string>;

/** Questions of a run. */
export function textsIn(trace: Trace): Texts {
  return new Map(
    trace.flatMap((entry) => (entry.type === 'asked' ? [[entry.id, entry.message] as const] : [])),
  );
}

/** Describes a problem, with the questions of the old and the new code. */
export function linesOf(
  { turn, waitedFor, recorded, asked, error }: UpgradeProblem,
  texts?: { readonly old: Texts; readonly next: Texts },
): readonly string[] {
  const where = `after turn ${turn}, waiting for ${waitedFor.join(', ') || 'nothing'}:`;
  if (isMachine(error) || error instanceof SagaTestError)
    return [where, `    ${messageOfError(error)}`];
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
      ? ' (the text is the same, but other parameters differ)'
      : ' (with other content)';
  return [where, `    recorded: ${before}`, `    now asks: ${now}${differs}`];
}

export function adviceOn(problems: readonly UpgradeProblem[]): string {
  if (problems.every(({ error }) => isMachine(error))) {
    return (
      'Keep the states of sagas in flight and the IDs of their invokes, or migrate the state with `migrate`. Otherwise raise the ' +
      'version, and let the old code end its sagas: previous: [{ saga: old }].'
    );
  }
  return (
    'Steps in the journals of sagas in flight must keep their IDs, order, and questions. Put a change behind ' +
    "if (yield* patched('…')), or raise the version and let the old code end its sagas: previous: [{ saga: old }]."
  );
}

/** Describes all problems, with advice. */
export function cannotGoOn(
  old: Program,
  next: Program,
  problems: readonly UpgradeProblem[],
  texts: { readonly old: Texts; readonly next: Texts },
): string {
  const ofOther = old.name === next.name ? '' : ` of '${old.name}'`;
  return [
    `Version '${next.version}' of '${next.name}' cannot continue sagas of version '${old.version}'${ofOther}:`,
    '',
    ...problems.flatMap((problem) => linesOf(problem, texts).map((line) => `    ${line}`)),
    '',
    adviceOn(problems),
  ].join('\n');
}

// A machine has no journal: the message of the mismatch explains the difference.
function isMachine(error: unknown): boolean {
  return error instanceof Error && error.name === 'MachineMismatch';
}
