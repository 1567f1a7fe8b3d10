import type { Rule } from '../rules.ts';
import type { Script, TestSaga } from '../test-saga.ts';
import {
  assertNothingFound,
  explored,
  judged,
  scriptOf,
  type Case,
  type Explored,
  type ExploreOptions,
  type ExploreReport,
  type Finding,
} from './exploration.ts';
import { forgotten } from './nothing-forgotten.ts';
import { programmingError } from './programming-error.ts';

/**
 * Lets each step fail, time out, and lose its response after it had its effect. Where the saga fails then, every effect
 * must be undone or be named as residue, last first.
 *
 * @throws SagaTestError `violated`: the smallest case, as a script to paste
 */
export async function failEverywhere(script: Script, options: ExploreOptions = {}): Promise<ExploreReport> {
  const test = scriptOf(script);
  const baseline = await explored(test);
  const cases = casesOf(test, baseline);
  const findings: Finding[] = [];
  for (const each of cases) {
    // oxlint-disable-next-line no-await-in-loop -- one case after the other: they may share fakes
    const finding = await judged(
      each,
      options,
      (failed) => forgotten(failed, options) ?? programmingError(failed, baseline),
    );
    if (finding !== undefined) findings.push(finding);
  }
  assertNothingFound(findings, cases.length);
  return { cases: cases.length };
}

function casesOf(test: TestSaga, { run }: Explored): readonly Case[] {
  const steps = run.trace.flatMap(({ ...entry }) =>
    (entry.type === 'ran' || entry.type === 'polled') && !entry.id.startsWith('~') ? [entry.id] : [],
  );
  return [...new Set(steps)].flatMap((id) => {
    const faults: readonly (readonly [string, Rule])[] = [
      ['fails', { kind: 'fail', id, error: new Error('refused'), times: Infinity }],
      ['times out', { kind: 'timeout', id, times: Infinity }],
      ['has its effect, and its response is lost', { kind: 'lose', id, times: Infinity }],
    ];
    return faults.map(([how, rule], rank) => ({ when: `When '${id}' ${how}`, test: test.with(rule), rank }));
  });
}
