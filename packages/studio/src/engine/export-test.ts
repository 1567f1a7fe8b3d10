import { TestSaga, type Rule } from '@mcp-saga/testing';
import { toSource, type World } from '@mcp-saga/testing/internal';
import type { Given } from '../model/session.ts';
import type { Cell } from '../model/view.ts';
import { answerValue, type Person } from './person.ts';
import { unnamed, type Playground } from './playground.ts';

/**
 * Lane of an exported test. The first is the run, the others are forks, each of the lane before.
 */
export interface Segment {
  readonly world: World;
  readonly person: Pick<Person, 'given' | 'rules'>;
  /** Token of a fork in the lane before, and the first answer. */
  readonly from: { readonly point: number; readonly chosen: Given | undefined } | undefined;
}

/** Prints a vitest test of a lane, for a file beside those of the editor. */
export function testOf(playground: Playground, segments: readonly Segment[]): string {
  const { saga, options } = playground.script;
  const answers = [...byQuestion(segments.flatMap(({ person }) => person.given))];
  const repeated = answers.filter(([, given]) => given.length > 1);
  const once = answers.flatMap(([, given]) => (given.length === 1 ? given : []));
  const rules = [...segments.flatMap(({ person }) => person.rules), ...once.map(toRule)];
  const forks = segments
    .slice(1)
    .map((segment, at) => forkSource(segment, segments[at] as Segment, at));
  const { world, from } = segments.at(-1) as Segment;
  const title = from ? `goes back to ${from.chosen?.id ?? 'a token'}` : 'ends as in the playground';
  const values = Object.fromEntries(repeated.map(([id, given]) => [id, given.map(answerValue)]));
  return fileOf(playground, title, [
    ...(repeated.length === 0 ? [] : [`const answers = ${toSource(values)};`]),
    runSource(playground, new TestSaga(saga, options, rules), repeated.map(sequenceSource)),
    ...forks,
    ...expectations(nameOf(forks.length), world, true),
  ]);
}

function nameOf(lane: number): string {
  return ['run', 'fork'][lane] ?? `fork${lane}`;
}

export function byQuestion(given: readonly Given[]): ReadonlyMap<string, readonly Given[]> {
  const answers = new Map<string, readonly Given[]>();
  for (const each of given) answers.set(each.id, [...(answers.get(each.id) ?? []), each]);
  return answers;
}

/** Rule that answers a question in sequence. */
function sequenceSource([id, [first]]: readonly [string, readonly Given[]]): string {
  const name = /^[A-Za-z_$][\w$]*$/.test(id) ? `.${id}` : `[${toSource(id)}]`;
  const isText = typeof first?.content === 'string';
  return `.on.${isText ? 'sample' : 'elicit'}(${toSource(id)}, () => answers${name}.shift() ?? ${isText ? "''" : "'cancel'"})`;
}

function forkSource({ from }: Segment, { world: { points } }: Segment, before: number): string {
  const { point = 0, chosen } = from ?? {};
  const first = points.findIndex(({ asked }) => asked.some(({ stepId }) => stepId === chosen?.id));
  const token =
    first === point && chosen !== undefined
      ? `at(${toSource(chosen.id)})`
      : `back(${points.length - point})`;
  const answer = chosen === undefined ? '' : toSource(answerValue(chosen));
  return `const ${nameOf(before + 1)} = await ${nameOf(before)}.${token}.fork(${answer});`;
}

/**
 * Prints a vitest test of a cell of the matrix. A test of a red cell fails until the saga is fixed.
 */
export function testOfCase(
  playground: Playground,
  cell: Cell,
  rules: readonly Rule[],
  world: World,
): string {
  const { script, check } = playground;
  const { when, expects, fact } = cell;
  const isLeft = world.trace.some(({ type }) => type === 'uncompensated');
  // The explorer does not check a run with several faults that left an effect.
  const faults = rules.filter((rule) => !world.autoAnswered.includes(rule));
  const isChecked =
    check !== undefined && (expects !== undefined || faults.length === 1 || !isLeft);
  // The test of a red case fails with the words of the check, if the check sees the fault.
  const seen = fact === undefined ? [] : ['await check();'];
  const found = expects?.startsWith('await check') === false ? [...seen, expects] : undefined;
  const lines = found ?? (isChecked ? ['await check();'] : expectations('run', world, false));
  const run = runSource(playground, new TestSaga(script.saga, script.options, rules));
  return fileOf(playground, `holds ${when.replace(/^When/, 'when')}`, [run, ...lines]);
}

function runSource(
  { exported }: Playground,
  script: TestSaga,
  more: readonly string[] = [],
): string {
  const name = localName(exported);
  const [first = '', ...lines] = script.source.split('\n');
  // The printer of the kit does not know the names in the file.
  const start = exported.isScript ? name : first.replace(/yourSaga .*?\*\//, () => name);
  return [
    `const run = await ${start}`,
    ...lines,
    ...more.map((line) => `  ${line}`),
    '  .run();',
  ].join('\n');
}

/** `hasResult`: the result does not depend on the state of the files. */
function expectations(name: string, { trace }: World, hasResult: boolean): readonly string[] {
  const last = trace.at(-1);
  const ids = (type: 'undone' | 'uncompensated'): string =>
    toSource(
      trace.flatMap((entry) => (entry.type === type ? [entry.id.replace(/@\d+$/, '')] : [])),
    );
  if (hasResult && last?.type === 'completed')
    return [`expect(${name}.result).toEqual(${toSource(last.result)});`];
  if (last?.type !== 'gaveUp') return [`expect(${name}.status).toBe('${last?.type}');`];
  return [
    `expect(${name}.status).toBe('failed');`,
    `expect(${name}.compensated).toEqual(${ids('undone')});`,
    `expect(${name}.uncompensated).toEqual(${ids('uncompensated')});`,
  ];
}

/** Name of the export in a test, which declares some names. */
function localName({ name, isScript }: Playground['exported']): string {
  const taken = /^(?:answers|check|default|expect|fork\d*|it|run|testSaga)(?=\[|$)/;
  return name.replace(taken, isScript ? 'script' : 'saga');
}

function fileOf({ exported, check }: Playground, title: string, lines: readonly string[]): string {
  const { file, name, isScript } = exported;
  const [base, local] = [name, localName(exported)].map((each) => each.replace(/\[.*/, ''));
  const body = lines.join('\n');
  const checks = check !== undefined && body.includes('check()') ? ['check'] : [];
  const named = [...checks, base === local ? base : `${base} as ${local}`].join(', ');
  const imports =
    base === 'default' ? [local, ...checks.map((each) => `{ ${each} }`)] : [`{ ${named} }`];
  return [
    ...(isScript ? [] : ["import { testSaga } from '@mcp-saga/testing';"]),
    "import { expect, it } from 'vitest';",
    name === unnamed
      ? `// Import the saga as ${name}.`
      : `import ${imports.join(', ')} from './${file}';`,
    '',
    `it(${toSource(title)}, async () => {`,
    body.replaceAll(/^/gm, '  '),
    '});',
    '',
  ].join('\n');
}

export function toRule({ id, action, content }: Given): Rule {
  if (action !== 'accept') return { kind: 'refuse', id, action };
  if (Array.isArray(content)) return { kind: 'roots', id, roots: content };
  return { kind: typeof content === 'string' ? 'sample' : 'answer', id, answer: content };
}
