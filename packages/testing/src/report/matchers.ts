import { indented } from '../values/show.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions } from '../values/known-options.ts';
import { matchTrace } from './match-trace.ts';
import { idsMeant, suggestId } from '../values/step-ids.ts';
import type { ReportedRun, TraceEntry } from './trace.ts';

/** Result of a matcher for vitest, jest, and bun. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

/** Called matcher; undefined in some test runners. */
type Matcher = { readonly isNot?: boolean } | void;

/** One ID, or a list of them. */
export type IDs = string | readonly string[];

/** Options of `toHaveRun`. */
export interface RunsExpected {
  /** Number of calls of the code of each step, with failures. Default: at least one success. */
  readonly times?: number;
}

/** Matchers for runs: `expect.extend(sagaMatchers)`, or `import '@mcp-saga/testing/vitest'`. */
export const sagaMatchers = {
  toMatchSagaTrace(
    this: Matcher,
    received: unknown,
    expected: string | readonly string[],
  ): MatcherResult {
    const { pass, ...sides } = matchTrace(runOf(received).trace.lines, expected);
    return {
      pass,
      message: () =>
        pass
          ? `Expected another trace, but it was:\n\n${indented(sides.actual)}`
          : `The trace differs. It was:\n\n${indented(sides.actual)}`,
      ...sides,
    };
  },
  toHaveAsked(this: Matcher, received: unknown, expected: IDs, ...rest: unknown[]): MatcherResult {
    const run = runOf(received);
    const ids = idsIn('toHaveAsked', expected, rest);
    const asked = idsOf(run, 'asked');
    const wasAsked = (id: string): boolean => idsMeant(id, asked).length > 0;
    const pass = isNegated(this) ? ids.some(wasAsked) : ids.every(wasAsked);
    return said(
      run,
      pass,
      `to ask ${quoted(ids)}`,
      `It asked ${quoted(asked)}.${suggestions(ids, asked)}`,
      {
        // Other questions are allowed, and no part of the difference.
        expected: isNegated(this) ? [] : ids,
        actual: ids.flatMap((id) => (wasAsked(id) ? [id] : [])),
      },
    );
  },
  toHaveRun(
    this: Matcher,
    received: unknown,
    expected: IDs,
    options: RunsExpected = {},
    ...rest: unknown[]
  ): MatcherResult {
    const run = runOf(received);
    const ids = idsIn('toHaveRun', expected, rest);
    assertKnownOptions('toHaveRun', options, { times: true });
    const { times } = options;
    const ended = run.trace.flatMap((entry) =>
      entry.type === 'ran' || entry.type === 'failed' || entry.type === 'polled' ? [entry] : [],
    );
    const all = ended.map((entry) => entry.id);
    const counts = ids.map((id) => {
      const meant = idsMeant(id, all);
      const runs = ended.filter((entry) => meant.includes(entry.id));
      const ran = runs.some((entry) => entry.type !== 'failed');
      return {
        id,
        attempts: runs.length,
        ran,
        pass: times === undefined ? ran : runs.length === times,
      };
    });
    const pass = isNegated(this)
      ? counts.some((each) => each.pass)
      : counts.every((each) => each.pass);
    const wanted = `to run ${quoted(ids)}${times === undefined ? '' : ` ${count(times)}`}`;
    const told = counts.find((each) => each.pass === pass);
    const did =
      told === undefined || told.attempts === 0
        ? `It ran ${quoted([...new Set(idsOf(run, 'ran'))])}.${suggestions(ids, all)}`
        : `It ran ${quoted([told.id])} ${count(told.attempts)}${told.ran ? '' : ', and it failed'}.`;
    return said(run, pass, wanted, did, {});
  },
  toHaveCompensated(
    this: Matcher,
    received: unknown,
    expected: IDs,
    ...rest: unknown[]
  ): MatcherResult {
    const run = runOf(received);
    const ids = idsIn('toHaveCompensated', expected, rest);
    const actual = [...run.compensated];
    const pass = actual.length === ids.length && actual.every((id, index) => id === ids[index]);
    const order = !pass && sorted(actual) === sorted(ids) ? ', in another order' : '';
    const did =
      run.status === 'failed'
        ? `It undid ${quoted(actual)}${order}.`
        : `It did not fail: it was ${run.status}.`;
    return said(run, pass, `to undo ${quoted(ids)}, in this order`, did, { expected: ids, actual });
  },
  toLeaveNothingUncompensated(this: Matcher, received: unknown): MatcherResult {
    const run = runOf(received);
    const uncompensated = [...run.uncompensated];
    return said(
      run,
      uncompensated.length === 0,
      'to leave nothing undone',
      `It left ${quoted(uncompensated)}.`,
      { expected: [], actual: uncompensated },
    );
  },
} as const;

function idsIn(matcher: string, ids: unknown, rest: readonly unknown[]): readonly string[] {
  const list: unknown = typeof ids === 'string' ? [ids] : ids;
  if (Array.isArray(list) && list.every((id) => typeof id === 'string') && rest.length === 0)
    return list;
  throw new SagaTestError(
    'script',
    `${matcher} takes an ID or a list of IDs: ${matcher}(['one', 'other']).`,
  );
}

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
    message: () => `The saga was ${pass ? 'not ' : ''}expected ${wanted}. ${did}${story()}`,
    ...sides,
  };
}

/** Sentences that suggest the nearest ID for each expected ID without a match. */
function suggestions(ids: readonly string[], known: readonly string[]): string {
  return ids.map((id) => (idsMeant(id, known).length > 0 ? '' : suggestId(id, known))).join('');
}

function isNegated(state: Matcher): boolean {
  return (state ?? {}).isNot === true;
}

function idsOf(run: ReportedRun, type: TraceEntry['type']): readonly string[] {
  return run.trace.flatMap((entry) => (entry.type === type && 'id' in entry ? [entry.id] : []));
}

function runOf(received: unknown): ReportedRun {
  const { trace, compensated } = Object(received) as Partial<ReportedRun>;
  if (trace === undefined || compensated === undefined) {
    throw new SagaTestError(
      'script',
      'Expected a run of a saga: expect(await testSaga(…).run()). Check for a missing await.',
    );
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
