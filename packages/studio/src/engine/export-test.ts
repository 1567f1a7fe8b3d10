import { TestSaga, type Point, type Rule } from '@mcp-saga/testing';
import { toSource, type World } from '@mcp-saga/testing/internal';
import type { Given } from '../model/session.ts';
import { answerValue } from './answer-value.ts';
import type { Playground } from './evaluate.ts';

/** Lane of an exported test. The first is the run, the others are forks, each of the lane before. */
export interface Segment {
  readonly world: World;
  readonly given: readonly Given[];
  readonly rules: readonly Rule[];
  readonly fork?: {
    /** Tokens of the lane before. */
    readonly points: readonly Point[];
    readonly point: number;
    readonly chosen: Given | undefined;
  };
}

/** Prints a vitest test of a lane, for a file beside those of the editor. */
export function testOf(
  exported: Playground['exported'],
  script: TestSaga,
  segments: readonly Segment[],
): string {
  const answers = new Map<string, readonly Given[]>();
  for (const given of segments.flatMap((segment) => segment.given))
    answers.set(given.id, [...(answers.get(given.id) ?? []), given]);
  const once = [...answers.values()].flatMap((given) => (given.length === 1 ? given : []));
  const repeated = [...answers].filter(([, given]) => given.length > 1);
  const rules = [...segments.flatMap((segment) => segment.rules), ...once.map((given) => toRule(given))];
  const lines = [
    ...answersSource(repeated),
    runSource(exported, new TestSaga(script.saga, script.options, rules), repeated.map(sequenceSource)),
  ];
  const names = segments.map((_, at) => (at === 0 ? 'run' : at === 1 ? 'fork' : `fork${at}`));
  for (const [at, { fork }] of segments.entries())
    if (fork !== undefined) lines.push(forkSource(names[at] ?? '', names[at - 1] ?? '', fork));
  const last = segments.at(-1);
  const chosen = last?.fork?.chosen;
  const title =
    last?.fork === undefined ? 'ends as in the playground' : `goes back to ${chosen?.id ?? 'a token'}`;
  if (last !== undefined) lines.push(...expectations(names.at(-1) ?? 'run', last.world));
  return fileOf(exported, title, lines);
}

/** Source of the answers to questions with several answers. */
function answersSource(repeated: readonly (readonly [string, readonly Given[]])[]): readonly string[] {
  if (repeated.length === 0) return [];
  const all = repeated.map(([id, given]) => [id, given.map((each) => answerValue(each))]);
  return [`const answers = ${toSource(Object.fromEntries(all))};`];
}

/** Rule that answers a question in sequence. */
function sequenceSource([id, [first]]: readonly [string, readonly Given[]]): string {
  const name = /^[A-Za-z_$][\w$]*$/.test(id) ? `.${id}` : `[${toSource(id)}]`;
  const isText = typeof first?.content === 'string';
  return `.on.${isText ? 'sample' : 'elicit'}(${toSource(id)}, () => answers${name}.shift() ?? ${isText ? "''" : "'cancel'"})`;
}

function forkSource(
  name: string,
  from: string,
  { points, point, chosen }: NonNullable<Segment['fork']>,
): string {
  const isFirst =
    points.findIndex(({ asked }) => asked.some(({ stepId }) => stepId === chosen?.id)) === point;
  const token =
    isFirst && chosen !== undefined ? `at(${toSource(chosen.id)})` : `back(${points.length - point})`;
  const answer = chosen === undefined ? '' : toSource(answerValue(chosen));
  return `const ${name} = await ${from}.${token}.fork(${answer});`;
}

/** Prints a vitest test of a cell of the matrix. A test of a red cell fails until the saga is fixed. */
export function testOfCase(
  exported: Playground['exported'],
  when: string,
  script: TestSaga,
  expects: string | undefined,
): string {
  const check = exported.hasCheck ? ['await check();'] : ["expect(run.status).not.toBe('refused');"];
  const lines = expects === undefined || expects.startsWith('await check') ? check : [expects];
  return fileOf(exported, `holds ${when.replace(/^When/, 'when')}`, [runSource(exported, script), ...lines]);
}

function runSource(
  { script: name }: Playground['exported'],
  script: TestSaga,
  more: readonly string[] = [],
): string {
  // The printer of the kit does not know the name of the script in the editor.
  const [, ...lines] = script.source.split('\n');
  return [`const run = await ${name}`, ...lines, ...more.map((line) => `  ${line}`), '  .run();'].join('\n');
}

function expectations(name: string, { trace }: World): readonly string[] {
  const last = trace.at(-1);
  const ids = (type: 'undone' | 'uncompensated'): string =>
    JSON.stringify(trace.flatMap((entry) => (entry.type === type ? [entry.id] : [])));
  if (last?.type === 'completed') return [`expect(${name}.result).toEqual(${JSON.stringify(last.result)});`];
  if (last?.type === 'refused') return [`expect(${name}.status).toBe('refused');`];
  return [
    `expect(${name}.status).toBe('failed');`,
    `expect(${name}.compensated).toEqual(${ids('undone')});`,
    `expect(${name}.uncompensated).toEqual(${ids('uncompensated')});`,
  ];
}

function fileOf(
  { file, script, hasCheck }: Playground['exported'],
  title: string,
  lines: readonly string[],
): string {
  const body = lines.join('\n');
  const names = hasCheck && body.includes('check()') ? `check, ${script}` : script;
  return [
    "import { expect, it } from 'vitest';",
    `import { ${names} } from './${file}';`,
    '',
    `it(${JSON.stringify(title)}, async () => {`,
    body.replaceAll(/^/gm, '  '),
    '});',
    '',
  ].join('\n');
}

/** Converts an answer to a rule of the kit. */
export function toRule({ id, action, content }: Given): Rule {
  if (action === 'accept')
    return typeof content === 'string'
      ? { kind: 'sample', id, answer: content }
      : { kind: 'answer', id, answer: content };
  return { kind: 'refuse', id, action };
}
