import { present } from '@mcp-saga/core/program';
import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
} from '@mcp-saga/testing';
import { sagaCoverage, type SagaCoverage } from '@mcp-saga/testing';
import { defineCommand, type Command } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import { exportsOf, loadModule } from '../input/load-module.ts';
import { isSaga, isScript, scriptOf } from '../input/module-exports.ts';
import { judged, verdictOf } from './verdicts.ts';

/** Explorers of the test kit by their names in the report. */
const crash = { crash: crashEverywhere };
const all = { ...crash, fail: failEverywhere, refuse: refuseEverywhere, fork: forkEverywhere };

type Explorers = Partial<typeof all>;
const isTried = (value: unknown) => isScript(value) || isSaga(value);

const exploring = (explorers: Explorers, example: string): Command =>
  defineCommand({
    example,
    runsUserCode: true,
    parameters: ['file'],
    options: {
      export: { short: 'e', value: 'NAME', help: 'export to try (default: all)' },
      input: { value: 'JSON', help: 'arguments of exported sagas; scripts have their own' },
      harmless: {
        multiple: true,
        value: 'STEP',
        help: 'step that may run twice, or stay done; repeatable',
      },
    },
    run: async ({ export: wanted, input, harmless = [] }, [file = ''], { note }) => {
      const loaded = await loadModule(file);
      const found = exportsOf(file, loaded, 'saga and no script (testSaga)', isTried, wanted);
      const scripted = [...found.values()].filter(isScript).map(({ saga }) => saga);
      if (input !== undefined && scripted.length === found.size)
        throw new CliError('usage', 'A script (testSaga) has its own input: leave out --input.');
      const coverage = sagaCoverage();
      const rows: Row[] = [];
      for (const [name, value] of found) {
        // A script has the arguments of its saga.
        if (input === undefined && isSaga(value) && scripted.includes(value)) continue;
        const script = isScript(value) ? value : scriptOf(value, input);
        for (const [explorer, explore] of Object.entries(explorers)) {
          note(`${name}: ${explorer} …`);
          const judgement = await judged(() => explore(script, { harmless }));
          rows.push(withoutCases({ saga: name, explorer, ...judgement }));
        }
      }
      coverage.stop();
      const failed = rows.filter(({ problem }) => problem !== undefined);
      // A saga without its arguments does not run.
      const isUsage = failed.every(
        ({ saga, code }) => code === 'script' && !isScript(found.get(saga)),
      );
      const message = failed.length > 0 && isUsage ? undefined : unknownStep(harmless, coverage);
      if (message !== undefined) note(message);
      const error = message && { code: 'usage', message };
      const text = rows.flatMap((row) => linesOf(row, rows)).join('\n');
      const ok = failed.length === 0 && error === undefined;
      return {
        text,
        json: present({ ok, error, runs: rows }),
        ok,
        exitCode: isUsage || error ? 2 : 1,
      };
    },
  });

export const test: Command = exploring(all, 'mcp-saga test sagas/refund.ts --harmless mail');

export const crashes: Command = exploring(crash, 'mcp-saga crash sagas/refund.ts');

/** One line of the report. */
type Row = Readonly<{
  saga: string;
  explorer: string;
  cases?: number;
  /** Reason why there are no cases. */
  reason?: string;
  problem?: string;
  code?: string;
}>;

/**
 * Turns a lack of cases into a result of its own: nobody chose this explorer for the saga, so the
 * lack is no problem, but not a success either.
 */
function withoutCases(row: Row): Row {
  const { problem, code, ...rest } = row;
  if (code !== 'no_cases') return row;
  // The problem begins with the name of a function, which a user of the command line does not call.
  const reason = problem?.replace(/^.*? has no case to try: /, '').replace(/ Leave it out.*$/s, '');
  return { ...rest, cases: 0, ...present({ reason }) };
}

/**
 * Returns the problem of a name that fits no step of the runs. A name may end with a key, a number,
 * or `*`.
 */
function unknownStep(names: readonly string[], { sagas }: SagaCoverage): string | undefined {
  const steps = sagas.flatMap((saga) =>
    saga.steps.filter(({ kind }) => kind === 'step' || kind === 'poll'),
  );
  const ids = [...new Set(steps.map(({ id }) => id))];
  const name = names.find((each) => {
    const stem = each.replace(/[(#@*][^/]*$/, '');
    return !ids.some((id) => (each.endsWith('*') ? id.startsWith(stem) : id === stem));
  });
  if (name === undefined) return undefined;
  return `--harmless ${name}: no such step ran. Steps: ${ids.join(', ') || 'none'}.`;
}

function linesOf(row: Row, rows: readonly Row[]): readonly string[] {
  const { saga, explorer, cases, reason, problem } = row;
  if (reason !== undefined) return [`none  ${saga}: ${explorer}, no case: ${reason}`];
  if (problem === undefined) {
    const held = cases === 1 ? '1 case holds' : `${cases} cases hold`;
    return [verdictOf(`${saga}: ${explorer}, ${held}`, problem)];
  }
  // All explorers fail alike if the saga cannot run at all.
  const alike = rows.filter((other) => other.saga === saga && other.problem === problem);
  if (alike[0] !== row) return [];
  const explorers = alike.map((each) => each.explorer).join(', ');
  // The count of the report is its headline.
  const [, before = problem, count, after = ''] =
    /^(.*?)\n\n(\d+ of \d+ cases fail)\.(.*)$/s.exec(problem) ?? [];
  const what = count === undefined ? explorers : `${explorers}, ${count}`;
  return [verdictOf(`${saga}: ${what}`, inOptions(`${before}${after}`))];
}

/**
 * Names options of the command line, instead of those of the test kit. No option accepts all first
 * steps.
 */
function inOptions(problem: string): string {
  return problem
    .replaceAll(/pass \{ harmless: \['([^']*)'\] \}/g, 'pass --harmless $1')
    .replaceAll(", or { firstRequest: 'accept' } for all first steps", '');
}
