import type { Program } from '@mcp-saga/server';
import { unrepeated } from '../values/step-ids.ts';
import type { ReportedRun, TraceEntry } from './trace.ts';

/** Outcome of a step or question. */
export type CoverageOutcome = 'answered' | 'declined' | 'cancelled' | 'ran' | 'failed' | 'undone';

/** Counted outcomes of a step, with its repetitions. */
export interface StepCoverage {
  readonly id: string;
  readonly kind: 'question' | 'form' | 'step' | 'poll';
  readonly seen: { readonly [K in CoverageOutcome]?: number };
  /** Possible outcomes that no run had. */
  readonly missing: readonly CoverageOutcome[];
}

/** Coverage of one saga. */
export interface OneSagaCoverage {
  readonly saga: string;
  readonly runs: number;
  readonly steps: readonly StepCoverage[];
}

interface Counts {
  runs: number;
  readonly steps: Map<
    string,
    { kind: StepCoverage['kind']; readonly seen: Map<CoverageOutcome, number> }
  >;
}

const collecting = new Set<SagaCoverage>();

/** Reports a run to all collectors. */
export function noteRun(program: Program, run: Pick<ReportedRun, 'trace'>): void {
  for (const coverage of collecting) coverage.note(program.name, run);
}

/**
 * Collects all later runs, of explorers too. Call at the top of a test file. Counts only reached
 * steps.
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const coverage = sagaCoverage();
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', () => api.ship());
 *   return 'done';
 * });
 * await testSaga(order).run();
 * console.log(String(coverage), coverage.missing);
 * ```
 */
export function sagaCoverage(): SagaCoverage {
  const coverage = new SagaCoverage();
  collecting.add(coverage);
  return coverage;
}

/** Coverage of the runs of a test file. `String(coverage)` is a table. */
export class SagaCoverage {
  readonly #sagas = new Map<string, Counts>();

  stop(): void {
    collecting.delete(this);
  }

  note(saga: string, { trace }: Pick<ReportedRun, 'trace'>): void {
    const counts: Counts = this.#sagas.get(saga) ?? { runs: 0, steps: new Map() };
    this.#sagas.set(saga, counts);
    counts.runs += 1;
    for (const [at, entry] of trace.entries()) {
      const found = outcomeOf(entry);
      if (found === undefined) continue;
      const id = unrepeated(found.id);
      const step = counts.steps.get(id) ?? { kind: found.kind, seen: new Map() };
      counts.steps.set(id, step);
      if (found.outcome === undefined || isRejected(found.id, trace.slice(at + 1))) continue;
      step.seen.set(found.outcome, (step.seen.get(found.outcome) ?? 0) + 1);
    }
  }

  /** Coverage by saga. */
  get sagas(): readonly OneSagaCoverage[] {
    return Array.from(this.#sagas, ([saga, { runs, steps }]) => ({
      saga,
      runs,
      steps: Array.from(steps, ([id, { kind, seen }]) => ({
        id,
        kind,
        seen: Object.fromEntries(
          outcomes.flatMap((each) => (seen.has(each) ? [[each, seen.get(each)]] : [])),
        ),
        missing: possible[kind].filter((outcome) => !seen.has(outcome)),
      })),
    }));
  }

  /** Missing outcomes, such as `order: sure is never declined`. */
  get missing(): readonly string[] {
    return this.sagas.flatMap(({ saga, steps }) =>
      steps.flatMap(({ id, missing }) =>
        missing.map((outcome) => `${saga}: ${id} ${never[outcome]}`),
      ),
    );
  }

  /** Formats a table of steps and outcomes. */
  toString(): string {
    return this.sagas
      .map(({ saga, runs, steps }) => {
        const width = Math.max(...steps.map(({ id }) => id.length), 0);
        return [
          `${saga}, ${runs} ${runs === 1 ? 'run' : 'runs'}`,
          ...steps.map(({ id, seen, missing }) => {
            const counted = outcomes.flatMap((each) =>
              each in seen ? [`${word(each)} ${seen[each]}`] : [],
            );
            const not = missing.map((outcome) => `never ${word(outcome)}`);
            return `  ${id.padEnd(width)}  ${[...counted, ...not].join(', ')}`;
          }),
        ].join('\n');
      })
      .join('\n\n');
  }
}

const possible: Readonly<Record<StepCoverage['kind'], readonly CoverageOutcome[]>> = {
  form: ['answered', 'declined', 'cancelled'],
  question: ['answered'],
  step: ['ran', 'failed'],
  poll: ['ran'],
};

const outcomes: readonly CoverageOutcome[] = [
  'answered',
  'declined',
  'cancelled',
  'ran',
  'failed',
  'undone',
];

const never: Readonly<Record<CoverageOutcome, string>> = {
  answered: 'is never answered',
  declined: 'is never declined',
  cancelled: 'is never dismissed',
  ran: 'never runs',
  failed: 'never fails',
  undone: 'is never undone',
};

/** `true` if the host rejected an answer: the question came again. */
function isRejected(id: string, later: readonly TraceEntry[]): boolean {
  const next = later.find((entry) => 'id' in entry && entry.id === id);
  return next?.type === 'asked' && next.reason !== undefined;
}

type Found = Readonly<{ id: string; kind: StepCoverage['kind']; outcome?: CoverageOutcome }>;

function outcomeOf(entry: TraceEntry): Found | undefined {
  const { type } = entry;
  if (type === 'asked') {
    const isForm = entry.kind === 'elicit' || entry.kind === 'elicitUrl';
    return { id: entry.id, kind: isForm ? 'form' : 'question' };
  }
  if (type === 'answered') return { id: entry.id, kind: 'question', outcome: type };
  if (type === 'declined' || type === 'cancelled')
    return { id: entry.id, kind: 'form', outcome: type };
  if (type === 'ran' || type === 'failed' || type === 'undone')
    return { id: entry.id, kind: 'step', outcome: type };
  return type === 'polled' ? { id: entry.id, kind: 'poll', outcome: 'ran' } : undefined;
}

// A question is dismissed; cancelled is a saga.
const word = (outcome: CoverageOutcome): string =>
  outcome === 'cancelled' ? 'dismissed' : outcome;
