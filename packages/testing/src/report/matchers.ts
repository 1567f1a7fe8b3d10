import { matchTrace } from './match-trace.ts';
import { idsMeant } from '../values/step-ids.ts';
import type { ReportedRun, TraceEntry } from './trace.ts';

/** What a matcher says, to vitest, jest and bun alike. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

interface MatcherState {
  readonly isNot?: boolean;
}

/** Matchers for runs: `expect.extend(sagaMatchers)`, or `import '@mcp-saga/testing/vitest'`. */
export const sagaMatchers = {
  toMatchSagaTrace(
    this: MatcherState | void,
    received: unknown,
    expected: string | readonly string[],
  ): MatcherResult {
    const { pass, ...sides } = matchTrace(runOf(received).trace.lines, expected);
    return {
      pass,
      message: () =>
        pass
          ? `The trace is as it was not to be:\n\n${indented(sides.actual)}`
          : `The trace is another one. It was:\n\n${indented(sides.actual)}`,
      ...sides,
    };
  },
  toHaveAsked(this: MatcherState | void, received: unknown, ...ids: readonly string[]): MatcherResult {
    const run = runOf(received);
    const asked = idsOf(run, 'asked');
    const wasAsked = (id: string): boolean => idsMeant(id, asked).length > 0;
    const pass = isNegated(this) ? ids.some(wasAsked) : ids.every(wasAsked);
    return said(run, pass, `to ask ${quoted(ids)}`, `It asked ${quoted(asked)}`, {
      // Other questions may be asked as well: they are no part of the difference.
      expected: isNegated(this) ? [] : ids,
      actual: ids.flatMap((id) => (wasAsked(id) ? [id] : [])),
    });
  },
  toHaveRun(this: MatcherState | void, received: unknown, id: string, times?: number): MatcherResult {
    const run = runOf(received);
    const ended = run.trace.flatMap((entry) =>
      entry.type === 'ran' || entry.type === 'failed' || entry.type === 'polled' ? [entry] : [],
    );
    const meant = new Set(
      idsMeant(
        id,
        ended.map((entry) => entry.id),
      ),
    );
    const runs = ended.filter((entry) => meant.has(entry.id));
    const attempts = runs.length;
    const ran = runs.some((entry) => entry.type !== 'failed');
    const pass = times === undefined ? ran : attempts === times;
    const wanted = `to run ${quoted([id])}${times === undefined ? '' : ` ${count(times)}`}`;
    const others = [...new Set(idsOf(run, 'ran'))];
    const did =
      attempts === 0
        ? `It ran ${quoted(others)}`
        : `It ran ${quoted([id])} ${count(attempts)}${ran ? '' : ', and it failed'}`;
    return said(run, pass, wanted, did, {});
  },
  toHaveCompensated(this: MatcherState | void, received: unknown, ids: readonly string[]): MatcherResult {
    const run = runOf(received);
    const actual = [...run.compensated];
    const pass = actual.length === ids.length && actual.every((id, index) => id === ids[index]);
    const order = !pass && sorted(actual) === sorted(ids) ? ', in another order' : '';
    const did =
      run.status === 'failed'
        ? `It undid ${quoted(actual)}${order}`
        : `It did not fail: it was ${run.status}`;
    return said(run, pass, `to undo ${quoted(ids)}, in this order`, did, { expected: ids, actual });
  },
  toLeaveNoResidue(this: MatcherState | void, received: unknown): MatcherResult {
    const run = runOf(received);
    const residue = [...run.residue];
    return said(run, residue.length === 0, 'to leave nothing undone', `It left ${quoted(residue)}`, {
      expected: [],
      actual: residue,
    });
  },
} as const;

function said(
  run: ReportedRun,
  pass: boolean,
  wanted: string,
  did: string,
  sides: { readonly expected?: unknown; readonly actual?: unknown },
): MatcherResult {
  const story = (): string => `\n\n${indented(String(run.trace))}`;
  return {
    pass,
    message: () => `The saga was ${pass ? 'not ' : ''}expected ${wanted}. ${did}.${story()}`,
    ...sides,
  };
}

function isNegated(state: MatcherState | void): boolean {
  return (state as MatcherState | undefined)?.isNot === true;
}

function idsOf(run: ReportedRun, type: TraceEntry['type']): readonly string[] {
  return run.trace.flatMap((entry) => (entry.type === type && 'id' in entry ? [entry.id] : []));
}

function runOf(received: unknown): ReportedRun {
  const { trace, compensated } = Object(received) as Partial<ReportedRun>;
  if (trace === undefined || compensated === undefined) {
    throw new TypeError('Expected a run of a saga: expect(await testSaga(…).run()). Was an await forgotten?');
  }
  return received as ReportedRun;
}

function quoted(ids: readonly string[]): string {
  return ids.length === 0 ? 'nothing' : ids.map((id) => `'${id}'`).join(', ');
}

function count(times: number): string {
  return times === 1 ? 'once' : times === 2 ? 'twice' : `${times} times`;
}

const sorted = (ids: readonly string[]): string => ids.toSorted().join();
const indented = (text: string): string => text.replaceAll(/^/gm, '    ');
