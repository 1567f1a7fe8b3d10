import * as server from '@mcp-saga/server';
import * as testing from '@mcp-saga/testing';
import { replayRecording, type Recording } from '@mcp-saga/testing';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { exampleWith, listed } from '../examples/listed.ts';
import { readExamples } from '../examples/examples.ts';
import { declaredIn, partOf } from '../examples/part-of.ts';
import * as approvals from '../examples/approvals/script.ts';
import * as confirm from '../examples/confirm/script.ts';
import * as manager from '../examples/manager/script.ts';
import * as paging from '../examples/paging/script.ts';
import * as parallel from '../examples/parallel/script.ts';
import * as payments from '../examples/payments/script.ts';
import * as refundOrder from '../examples/refund/script.ts';
import * as trip from '../examples/trip/script.ts';
import * as webhooks from '../examples/webhooks/script.ts';
import { compile } from '../src/engine/compile.ts';
import { evaluate } from '../src/engine/evaluate.ts';
import { createEngine } from '../src/engine/engine.ts';
import { explore, playCase } from '../src/engine/explore.ts';
import { loaderOf } from '../src/engine/load-files.ts';
import { unnamed, type Playground } from '../src/engine/playground.ts';
import { upgrade } from '../src/engine/upgrade.ts';
import type * as Machines from '../src/engine/saga-modules.ts';
import { SessionPlayer } from '../src/engine/play.ts';
import { looks } from '@mcp-saga/testing/internal';
import { isRedacted, redactAnswers } from '../src/parts/link.ts';
import type { Request } from '../src/model/messages.ts';
import type { Act, Fork, Given, OutsideAct, Session, SourceFile } from '../src/model/session.ts';
import type { Cell, EntryView, Lane } from '../src/model/view.ts';
import { expectLogs } from '../../../test/support/logs.ts';

expectLogs(/^Decide here: https:/, /^Refunded 20 EUR/);

const examples = readExamples();
const [refund] = examples.map(({ files }) => files) as [readonly SourceFile[]];
const twenty: Given = { id: 'amount', action: 'accept', content: { euros: 20 } };

const loadMachines = (): Promise<typeof Machines> => import('../src/engine/saga-modules.ts');
const of = async (files: readonly SourceFile[]): Promise<Playground> =>
  (await evaluate(loadMachines, compile(files)))[0];

async function play(
  session: Partial<Session>,
  files: readonly SourceFile[] = refund,
): Promise<readonly Lane[]> {
  const player = new SessionPlayer(await of(files), { answers: [], forks: [], ...session });
  await player.play();
  return player.lanes;
}

it('says what to import for a saga that its file does not export', async () => {
  const exported = { file: 'server.ts', name: unnamed, isScript: false };
  const player = new SessionPlayer(
    { ...(await of(refund)), exported },
    { answers: [twenty], forks: [] },
  );
  await player.play();
  const [{ test = '' } = {}] = player.lanes;
  expect(test).toContain('// Import the saga as yourSaga.');
  expect(test).toContain('testSaga(yourSaga');
  expect(test).not.toContain('server.ts');
});

const resting: readonly SourceFile[] = [
  {
    name: 'script.ts',
    text: `
import { checkpoint, now, saga, sleep, step } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
const resting = saga({ name: 'resting', version: '1' }, function* () {
  const began = yield* now();
  yield* sleep(Math.random() < 2 ? 60_000 : 0);
  yield* checkpoint('awake');
  return yield* step('wake', () => String(began));
});
export const script = testSaga(resting);`,
  },
];

it('goes back to a token without a question', async () => {
  const forks: readonly Fork[] = [{ lane: 0, point: 0, answers: [] }];
  const [run, fork] = await play({ forks }, resting);
  expect(run).toMatchObject({
    status: 'completed',
    tokens: [{ number: 1 }, { number: 2, questions: [] }],
  });
  expect(fork).toMatchObject({ from: 1 });
  expect(fork?.entries.map(({ type }) => type)).toContain('forked');
});

it('shows reads before the event that follows them, with their values', async () => {
  const files = [
    {
      name: 'script.ts',
      text: `
import { elicit, now, saga, step, uuid } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const reading = saga({ name: 'reading', version: '1' }, function* () {
  yield* now();
  const id = yield* uuid();
  yield* elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) });
  yield* uuid();
  yield* step('greet', () => 'hello');
  return id;
});
export const script = testSaga(reading);`,
    },
  ];
  const readsOf = (lane?: Lane): readonly (readonly [string, readonly string[]])[] =>
    lane?.entries.flatMap(({ type, reads }) =>
      reads === undefined ? [] : [[type, reads.map(({ text }) => text)] as const],
    ) ?? [];
  const [open] = await play({}, files);
  const uuid = /^uuid(#2)? [0-9a-f-]{36}$/;
  const asked = ['asked', [expect.stringMatching(/^now \d{4}-.*Z$/), expect.stringMatching(uuid)]];
  expect(readsOf(open)).toEqual([asked]);
  const [ended] = await play(
    { answers: [{ id: 'name', action: 'accept', content: { name: 'Ann' } }] },
    files,
  );
  expect(readsOf(ended)).toEqual([asked, ['ran', [expect.stringMatching(uuid)]]]);
});

it('shows reads before a step that has the name of its saga', async () => {
  const text = `
import { now, saga, step } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
const refund = saga({ name: 'refund', version: '1' }, function* () {
  yield* step('first', () => 1);
  yield* now();
  return yield* step('refund', () => 2);
});
export const script = testSaga(refund);`;
  const [run] = await play({}, [{ name: 'script.ts', text }]);
  const found = run?.entries.flatMap(({ type, id, reads = [] }) =>
    reads.length > 0 ? [[type, id]] : [],
  );
  expect(found).toEqual([['ran', 'refund']]);
});

it('shows the reads of a fork only, and those since continueAs', async () => {
  const files = [
    {
      name: 'script.ts',
      text: `
import { continueAs, elicit, now, saga, sleep, uuid } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const branching = saga({ name: 'branching', version: '1', reuse: 'ok', input: z.object({ again: z.boolean().optional() }) }, function* ({ again }) {
  const { late } = yield* elicit('late', { message: 'Late?', schema: z.object({ late: z.boolean() }) });
  if (!late) return String(yield* now());
  yield* sleep(3_600_000);
  yield* uuid();
  return again === true ? 'over' : yield* continueAs(branching, { again: true });
});
export const script = testSaga(branching, { input: {} });`,
    },
  ];
  const late = (is: boolean): Given => ({ id: 'late', action: 'accept', content: { late: is } });
  const forks: readonly Fork[] = [{ lane: 0, point: 0, answers: [late(false)] }];
  const [run, fork] = await play(
    { answers: [late(true), { ...late(true), id: 'late@1' }], forks },
    files,
  );
  const readsOf = (lane?: Lane): readonly string[] =>
    lane?.entries.flatMap(({ type, reads = [] }) =>
      reads.map(({ text }) => `${type} ${text.slice(0, 4)}`),
    ) ?? [];
  expect(readsOf(run)).toEqual(['completed uuid']);
  expect(readsOf(fork)).toEqual(['completed now ']);
});

it('shows a run that fails without a recording', async () => {
  const text = `
import { elicit, saga, step, uuid } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const large = saga({ name: 'large', version: '1', reuse: 'ok' }, function* () {
  yield* uuid();
  const text = yield* step('read', () => 'x'.repeat(200_000));
  yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
  return text;
});
export const script = testSaga(large);`;
  const [run] = await play({}, [{ name: 'script.ts', text }]);
  expect(run).toMatchObject({ status: 'failed', error: undefined });
});

it('runs no step again for a lens or a recording of an older run, where steps have real effects', async () => {
  const code = compile(refund);
  const run = { code, session: { answers: [], forks: [] } };
  const engine = createEngine(async () => [await of(refund)], 'refuse');
  const ask = async (request: Request): Promise<unknown> => await engine(request, () => undefined);
  const lens = { type: 'lens', ...run, lane: 0, point: 0, isChanged: false } as const;
  await expect(ask(lens)).rejects.toThrow(/no longer/);
  await ask({ type: 'play', ...run });
  expect(await ask(lens)).toMatchObject({ keyId: 'k1' });
});

const atOnce: readonly SourceFile[] = [
  {
    name: 'script.ts',
    text: `
import { saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
const atOnce = saga({ name: 'at-once', version: '1' }, function* () { return 'done'; });
export const script = testSaga(atOnce);`,
  },
];

it('has no cell of an explorer without a case, and no message', async () => {
  expect((await cellsOf(atOnce)).map(({ when }) => when)).toEqual([
    'When the response of turn 1 is lost',
  ]);
});

async function cellsOf(files: readonly SourceFile[]): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  await explore(
    async () => await of(files),
    (reply) => {
      if (reply.type === 'cell') cells.push(reply.cell);
      else throw new Error(JSON.stringify(reply));
    },
  );
  return cells;
}

/** The refund without the undo of its payment. */
const careless = refund.map((file) =>
  file.name === 'refund.ts'
    ? { ...file, text: file.text.replace(/, \{\s*compensate: .*?\n    \}\)/s, ')') }
    : file,
);

it('names the line of a mistake in the code of the page', async () => {
  const text = `import { elicit, saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const slips = saga({ name: 'slips', version: '1' }, function* () {
  const { n } = yield* elicit('n', { message: 'Which?', schema: z.object({ n: z.number().int().min(0) }) });
  return ['one'][n].toUpperCase();
});
export const script = testSaga(slips).on.elicit('n', { n: 0 });`;
  const red = (await cellsOf([{ name: 'slips.ts', text }])).filter(
    ({ what }) => what !== undefined,
  );
  expect(red[0]?.what).toContain('(slips.ts:6:');
});

/** Examples that no page shows: larger ones of the repository. */
const unshown = ['trip', 'provision', 'payment-webhook', 'quickstart', 'triage'];

it('has an example for each saga that a page shows', async () => {
  const docs = new URL('../../../docs/', import.meta.url);
  const pages = (await readdir(docs, { recursive: true })).filter(
    (path) => path.endsWith('.md') && !path.includes('node_modules'),
  );
  const texts = await Promise.all(pages.map((path) => readFile(new URL(path, docs), 'utf8')));
  const regions = texts.flatMap((text) =>
    Array.from(text.matchAll(/<!-- region: (\S+) -->/g), ([, region = '']) => region),
  );
  const shown = new Set(regions.flatMap((region) => exampleWith(region) ?? []));
  const expected = listed.map(({ name }) => name).filter((name) => !unshown.includes(name));
  expect([...shown].toSorted()).toEqual(expected.toSorted());
});

it('shows the part of a file that its region needs', () => {
  const text = `import { elicit, saga } from '@mcp-saga/server';
import { z } from 'zod';

const used = 'elicit'; // not of unused
const unused = z.string();

// #region one
export const one = saga(used);
// #endregion one
`;
  expect(declaredIn(text, 'one')).toEqual(['one']);
  expect(declaredIn(text, 'used')).toEqual(['used']);
  expect(partOf(text, ['one'], ['used'])).toBe(
    "import { saga } from '@mcp-saga/server';\n\nexport const used = 'elicit'; // not of unused\nexport const one = saga(used);\n",
  );
});

/** Cases that fail in the examples of pages about them. */
const expectedFailures: Readonly<Record<string, readonly string[]>> = {
  careless: [
    "When the process dies after 'pay'",
    "When 'pay' times out",
    "When 'pay' has its effect, and its response is lost",
  ],
  once: ["When the process dies before 'delete'", "When the process dies after 'delete'"],
};

/** Plays a run with the initial value of each question, approval, and event. */
async function playToEnd(files: readonly SourceFile[]): Promise<readonly Lane[]> {
  const runs: Lane[] = [];
  for (const answers: Act[] = []; answers.length < 10;) {
    const [run] = (await play({ answers }, files)) as [Lane];
    runs.push(run);
    if (run.status !== 'waiting') break;
    const { id = '', type } = run.question ?? run.pause?.outside[0] ?? {};
    const outside = type === 'event' ? 'send' : 'approve';
    answers.push({ id, action: run.question === undefined ? outside : 'accept' });
  }
  return runs;
}

describe.each(examples)('the example $name', ({ name, files }) => {
  it('passes in every case, except those that its page is about', async () => {
    const cells = await cellsOf(files);
    expect(cells.length).toBeGreaterThan(3);
    expect(cells.flatMap(({ when, what }) => (what === undefined ? [] : [when]))).toEqual(
      expectedFailures[name] ?? [],
    );
  });

  it('waits for the first answer, or ends without one, and completes with its initial values', async () => {
    const runs = await playToEnd(files);
    expect(runs.map(({ error }) => error)).toEqual(runs.map(() => undefined));
    expect(runs.at(-1)?.status).toBe('completed');
  });
});

const filesOf = (example: string): readonly SourceFile[] =>
  examples.find(({ name }) => name === example)?.files ?? [];

it('exports a test of a case with the answers that the script leaves open', async () => {
  const files = filesOf('careless');
  const green = (await cellsOf(files)).find(
    ({ what, when }) => what === undefined && when.includes("'pay'"),
  );
  const { test } = await playCase(await of(files), green as Cell);
  expect(test).toContain(".on.elicit('amount', ");
});

it('exports a test of a case without the rules of its script, and with the check of the explorer', async () => {
  const booked = filesOf('trip');
  const cell = (await cellsOf(booked)).at(0);
  expect((await playCase(await of(booked), cell as Cell)).test).not.toContain('bookings');
  const twoFaults = (await cellsOf(refund)).find(({ when }) =>
    when.includes("undo of 'pay' fails"),
  );
  const { test, entries } = await playCase(await of(refund), twoFaults as Cell);
  expect(entries.map(({ type }) => type)).toContain('uncompensated');
  expect(test).toContain("expect(run.uncompensated).toEqual(['pay'])");
  expect(test).not.toContain('check()');
});

it('exports the check for a red case, also if the explorer answered a question', async () => {
  const text = `import { elicit, saga, step } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
let paid = 0;
let sent = 0;
const order = saga({ name: 'order', version: '1' }, function* () {
  yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
  yield* step('pay', () => void (paid += 1), { compensate: () => void (paid -= 1) });
  yield* step('send', () => void (sent += 1));
  return 'sent';
});
export const script = testSaga(order, { before: () => void (paid = sent = 0) });
export function check() { if (paid !== sent) throw new Error('paid, and not sent'); }
`;
  const files = [{ name: 'order.ts', text }];
  const red = (await cellsOf(files)).filter(
    ({ expects }) => expects?.startsWith('await check') === true,
  );
  expect(red.length).toBeGreaterThan(0);
  const tests = await Promise.all(
    red.map(async (cell) => (await playCase(await of(files), cell)).test),
  );
  expect(tests.filter((test) => !test.includes('await check();'))).toEqual([]);
});

/**
 * Runs the printed test beside the files. Only the code that the playground evaluates may exist.
 */
async function runTest(test: string | undefined, files: readonly SourceFile[]): Promise<void> {
  const tests: (() => Promise<void>)[] = [];
  const vitest = { expect, it: (_: string, run: () => Promise<void>) => void tests.push(run) };
  const modules = { '@mcp-saga/server': server, '@mcp-saga/testing': testing, vitest, zod };
  const all = compile([...files, { name: 'exported.test.ts', text: test ?? '' }]);
  loaderOf(all, modules)('./exported.test', 'the test');
  expect(tests).toHaveLength(1);
  for (const run of tests) await run();
}

const greeting = (exports: string): readonly SourceFile[] => [
  {
    name: 'greeting.ts',
    text: `import { elicit, saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const greeting = saga({ name: 'greeting', version: '1' }, function* () {
  const { name } = yield* elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) });
  return name;
});
${exports}`,
  },
];

it.each([
  ['a default', 'export default testSaga(greeting);', "import script from './greeting.ts';"],
  [
    'a name',
    'export const greets = testSaga(greeting);',
    "import { greets } from './greeting.ts';",
  ],
  ['a name of the test', 'export const run = testSaga(greeting);', 'import { run as script } from'],
  ['a name like one', 'export const runs = testSaga(greeting);', 'import { runs } from'],
])('exports a test that runs, of a script that is exported as %s', async (_, exports, imports) => {
  const files = greeting(exports);
  // Line separators, which a regular expression takes as line breaks.
  const content = { name: `one\u2028two\u2029three 'four'` };
  const [run] = await play({ answers: [{ id: 'name', action: 'accept', content }] }, files);
  expect(run?.status).toBe('completed');
  expect(run?.test).toContain(imports);
  expect(run?.test).not.toMatch(/[\u2028\u2029]/);
  await runTest(run?.test, files);
});

it('exports a test of a case that runs, of a default export with a check', async () => {
  const files = greeting('export default testSaga(greeting);\nexport function check() {}');
  const cell = (await cellsOf(files)).find(({ fault }) => fault === 'name: longest') as Cell;
  const { test } = await playCase(await of(files), cell);
  expect(test).toContain("import script, { check } from './greeting.ts';");
  await runTest(test, files);
});

it('exports the answer to a question for roots', async () => {
  const text = `import { listRoots, saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
const folders = saga({ name: 'folders', version: '1' }, function* () {
  return String((yield* listRoots('roots')).length);
});
export const script = testSaga(folders);`;
  const [run] = await play({ answers: [{ id: 'roots', action: 'accept' }] }, [
    { name: 'folders.ts', text },
  ]);
  expect(run?.test).toContain(".on.roots('roots', ");
});

it('starts the form of a model with the answer of the script', async () => {
  const accept = { id: 'onCall', action: 'accept' } as const;
  const [run] = await play({ answers: [accept] }, filesOf('triage'));
  const questions = run?.tokens.flatMap((token) => token.questions);
  expect(questions?.find(({ type }) => type === 'sampling')?.content).toEqual({ text: 'high' });
});

it('ends a machine whose client cannot be asked one of two questions', async () => {
  const [run] = await play({ client: 'no-elicitation' }, filesOf('triage'));
  expect(run).toMatchObject({ status: 'failed', error: undefined });
  expect(run?.entries.at(-1)?.value).toContain("'onCall@2' cannot be asked");
});

it.each(
  Object.entries({
    approvals,
    confirm,
    manager,
    paging,
    parallel,
    payments,
    refund: refundOrder,
    trip,
    webhooks,
  }),
)('the script %s runs in Node, too', async (_, { script }) => {
  expect((await script.run()).status).toBe('completed');
});

describe('a session', () => {
  it('stops at a question, with its form and the token', async () => {
    const [run] = await play({});
    expect(run).toMatchObject({
      status: 'waiting',
      question: { id: 'amount', content: { euros: 20 } },
      tokens: [{ number: 1 }],
      test: undefined,
    });
  });

  it('continues with an answer to the end', async () => {
    const [run] = await play({ answers: [twenty] });
    expect(run).toMatchObject({ status: 'completed', tokens: [{ acts: 0 }] });
    expect(run?.entries.map(({ text }) => text)).toContain('completed: "Refunded 20 EUR for A7."');
  });

  it('asks again after an answer that the form rejects', async () => {
    const wrong: Given = { ...twenty, content: { euros: 0 } };
    const [run] = await play({ answers: [wrong] });
    expect(run?.question?.reason).toBeTypeOf('string');
    expect((await play({ answers: [wrong, twenty] }))[0]?.status).toBe('completed');
  });

  it('fails after a declined question', async () => {
    const [run] = await play({ answers: [{ id: 'amount', action: 'decline' }] });
    expect(run?.status).toBe('failed');
  });

  it('asks again with the rejected answer, and exports only what a test can do', async () => {
    const { session } = { session: { answers: [{ ...twenty, content: { euros: -1 } }] } };
    const [again] = await play(session);
    expect(again?.question).toMatchObject({ id: 'amount', content: { euros: -1 } });
    const [run] = await play({ answers: [twenty], client: 'no-elicitation' });
    expect(run?.test).toContain(".deny.client('elicitation')");
    expect(run?.test).not.toContain('elicitation.url');
  });

  it('shows that the guard refuses a fork of a used token', async () => {
    const fork = { lane: 0, point: 0, answers: [{ ...twenty, content: { euros: 30 } }] };
    const [run, forked] = await play({ answers: [twenty], forks: [fork] });
    expect([run?.status, forked?.status]).toEqual(['completed', 'refused']);
  });

  it('continues a fork to its own end if tokens may be used again', async () => {
    const files = refund.map(({ name, text }) => ({
      name,
      text: text.replace("version: '1'", "version: '1', reuse: 'ok'"),
    }));
    const fork = { lane: 0, point: 0, answers: [{ ...twenty, content: { euros: 30 } }] };
    const [, forked] = await play(
      { answers: [twenty], forks: [fork, { ...fork, lane: 1 }] },
      files,
    );
    expect(forked).toMatchObject({ status: 'completed', from: 1 });
    expect(forked?.entries.at(-1)?.value).toBe('Refunded 30 EUR for A7.');
  });

  it('plays a link without values with placeholders, to the same questions and forks', async () => {
    const fork: Fork = { lane: 0, point: 0, answers: [{ id: 'amount', action: 'decline' }] };
    const session = { answers: [{ ...twenty, content: { euros: 77 } }], forks: [fork] };
    const redacted = redactAnswers(session);
    expect(JSON.stringify(redacted)).not.toMatch(/euros|77/);
    expect([isRedacted(session), isRedacted(redacted)]).toEqual([false, true]);
    const [run, forked] = await play(redacted);
    expect([run?.status, forked?.status]).toEqual(['completed', 'refused']);
    expect(run?.entries.at(-1)?.value).toBe('Refunded 20 EUR for A7.');
    expect(run?.test).toContain(".on.elicit('amount', { euros: 20 })");
  });

  it('exports answers to a repeated question, in the run and its fork, in sequence', async () => {
    const files = refund.map(({ name, text }) => ({
      name,
      text: text.replace("version: '1'", "version: '1', reuse: 'ok'"),
    }));
    const wrong: Given = { ...twenty, content: { euros: 0 } };
    const thirty: Given = { ...twenty, content: { euros: 30 } };
    const cancel: Given = { id: 'amount', action: 'cancel' };
    const fork = { lane: 0, point: 1, answers: [cancel] };
    const next = { lane: 1, point: 0, answers: [thirty] };
    const [run, forked] = await play({ answers: [wrong, twenty], forks: [fork, next] }, files);
    expect(run?.test).toContain('const answers = { amount: [{ euros: 0 }, { euros: 20 }] };');
    expect(run?.test).toContain(".on.elicit('amount', () => answers.amount.shift() ?? 'cancel')");
    expect(forked?.test).toContain("const fork = await run.back(1).fork('cancel');");
  });

  it('fails with a client without elicitation, and after a client declines at once', async () => {
    const [without] = await play({ client: 'no-elicitation' });
    expect(without).toMatchObject({ status: 'failed', question: undefined });
    expect(without?.test).toContain(".deny.client('elicitation')");
    const [declining] = await play({ client: 'declining' });
    expect(declining?.status).toBe('failed');
    expect(declining?.entries.map(({ type }) => type)).toContain('declined');
    expect(declining?.test).toContain(".refuse.elicit('amount')");
  });

  it('reports that the host refuses a changed token, and shows the reason to the operator only', async () => {
    const player = new SessionPlayer(await of(refund), { answers: [], forks: [] });
    await player.play();
    const { refusal } = await player.lens(0, 0, true);
    expect(refusal?.operator).toBe('undecryptable');
    expect(refusal?.client).not.toContain('undecryptable');
  });
});

/** Saga that asks another person, another system, and a user in limited time. */
const outside: readonly SourceFile[] = [
  {
    name: 'order.ts',
    text: `import { approval, elicit, saga, waitFor } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';

const order = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
  const decision = yield* approval('manager', {
    message: 'Buy?', of: 2, deliver: () => 'sent', timeout: 3_600_000,
    schema: z.object({ note: z.string().default('fine') }),
  });
  if (!decision.approved) return decision.reason;
  const { reference } = yield* waitFor('payment', {
    schema: z.object({ reference: z.string() }), register: () => 'ok', link: 'accept', timeout: 60_000,
  });
  return decision.answers.map(({ by }) => by.subject ?? by).join(' and ') + ': ' + reference;
});
export const script = testSaga(order).on.approval('manager', true).on.event('payment', { reference: 'P1' });
`,
  },
];

describe('other people', () => {
  const approve = (by?: string): OutsideAct => ({
    id: 'manager',
    action: 'approve',
    ...(by === undefined ? {} : { by }),
    content: { note: 'ok' },
  });
  const paid: OutsideAct = { id: 'payment', action: 'send', content: { reference: 'P2' } };

  it('decide, and send events, in place of the script', async () => {
    const [asked] = await play({}, outside);
    expect(asked).toMatchObject({
      status: 'waiting',
      question: undefined,
      pause: {
        dueInMs: 3_582_000,
        outside: [{ id: 'manager', type: 'approval', message: 'Buy?' }],
      },
    });
    const [half] = await play({ answers: [approve('ann')] }, outside);
    expect(half?.pause?.outside).toMatchObject([{ id: 'manager' }]);
    const [waits] = await play({ answers: [approve('ann'), approve('bob')] }, outside);
    expect(waits?.pause?.outside).toMatchObject([{ type: 'event', content: { reference: 'P1' } }]);
    const [run] = await play({ answers: [approve('ann'), approve('bob'), paid] }, outside);
    expect(run?.entries.at(-1)?.value).toBe('ann and bob: P2');
    expect(run?.test).toContain(".on.event('payment', { reference: 'P2' }");
    expect(run?.test).toContain("by: 'bob'");
  });

  it('decide otherwise in a fork, and not at all after the deadline', async () => {
    const fork: Fork = { lane: 0, point: 0, answers: [{ id: 'manager', action: 'deny' }] };
    const [, forked] = await play(
      { answers: [approve(), approve(), paid], forks: [fork] },
      outside,
    );
    expect(forked?.entries.at(-1)?.value).toBe('denied');
    const others: Fork = { ...fork, answers: [approve('cy'), approve('dan'), paid] };
    const [, again] = await play(
      { answers: [approve(), approve(), paid], forks: [others] },
      outside,
    );
    expect(again?.entries.at(-1)?.value).toBe('cy and dan: P2');
    const [late] = await play({ answers: [{ action: 'wait', ms: 3_600_000 }] }, outside);
    expect(late?.entries.at(-1)?.value).toBe('timeout');
    expect(late?.test).toContain(".silent.approval('manager')");
  });

  it('decide each repetition of an approval, each person once', async () => {
    const twice: readonly SourceFile[] = [
      {
        name: 'twice.ts',
        text: `import { approval, saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
const twice = saga({ name: 'twice', version: '1' }, function* () {
  const one = yield* approval('boss', { message: 'One?', deliver: () => 'sent', of: 2, timeout: 3_600_000 });
  const two = yield* approval('boss', { message: 'Two?', deliver: () => 'sent', timeout: 3_600_000 });
  return String([one.approved, two.approved]);
});
export const script = testSaga(twice);
`,
      },
    ];
    const by = (id: string, name: string, action: 'approve' | 'deny' = 'approve'): OutsideAct => ({
      id,
      action,
      by: name,
    });
    const [same] = await play({ answers: [by('boss', 'ann'), by('boss', 'ann')] }, twice);
    expect(same?.pause?.outside).toMatchObject([{ id: 'boss' }]);
    const first = [by('boss', 'ann'), by('boss', 'bob')];
    const [waits] = await play({ answers: first }, twice);
    expect(waits?.pause?.outside).toMatchObject([{ id: 'boss#2', message: 'Two?' }]);
    const [run] = await play({ answers: [...first, by('boss#2', 'ann', 'deny')] }, twice);
    expect(run?.entries.at(-1)?.value).toBe('true,false');
  });

  it('decide nothing again by a used token, also after the clock has moved', async () => {
    const deny: OutsideAct = { id: 'manager', action: 'deny' };
    const answers = [{ action: 'wait', ms: 1_800_000 } as const, deny];
    const fork: Fork = { lane: 0, point: 0, answers: [approve()] };
    const guarded = outside.map(({ name, text }) => ({
      name,
      text: text.replace(", reuse: 'ok' }, f", ' }, f'),
    }));
    const [, forked] = await play({ answers, forks: [fork] }, guarded);
    expect(forked).toMatchObject({ status: 'completed', test: undefined });
    expect(forked?.entries.map(({ type }) => type)).toContain('repeated');
  });

  it('stay unnamed in a link without values', async () => {
    const redacted = redactAnswers({ answers: [approve('ann'), approve('bob'), paid], forks: [] });
    expect(isRedacted(redacted)).toBe(true);
    const [run] = await play(redacted, outside);
    expect(run?.entries.at(-1)?.value).toBe('person-1 and person-2: P1');
  });
});

describe('the clock', () => {
  const sleeping: readonly SourceFile[] = [
    {
      name: 'nap.ts',
      text: `import { elicit, saga, sleep } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';

const nap = saga({ name: 'nap', version: '1' }, function* () {
  yield* sleep(3_600_000);
  const { ok } = yield* elicit('ok', { message: 'Ok?', schema: z.object({ ok: z.boolean() }) });
  return String(ok);
});
export const script = testSaga(nap);
`,
    },
  ];

  it('passes by itself, or stops at each wait', async () => {
    const [free] = await play({}, sleeping);
    expect(free?.question?.id).toBe('ok');
    const [stopped] = await play({ isPaused: true }, sleeping);
    expect(stopped).toMatchObject({
      status: 'waiting',
      question: undefined,
      pause: { dueInMs: 3_600_000 },
    });
    const wait = { action: 'wait', ms: 1_800_000 } as const;
    const [half] = await play({ isPaused: true, answers: [wait] }, sleeping);
    expect(half?.pause?.dueInMs).toBe(1_800_000);
    const [awake] = await play({ isPaused: true, answers: [wait, wait] }, sleeping);
    expect(awake?.question?.id).toBe('ok');
  });

  it('advances before an answer, and the exported test, too', async () => {
    const ok: Given = { id: 'ok', action: 'accept', content: { ok: true } };
    const [run] = await play({ answers: [{ action: 'wait', ms: 60_000 }, ok] }, sleeping);
    expect(run?.entries.map(({ text }) => text)).toContain('waited 60000 ms (1 min)');
    expect(run?.test).toContain(".late.elicit('ok', 60000)");
  });
});

describe('the next version', () => {
  const edited = (change: (text: string) => string): readonly SourceFile[] =>
    refund.map((file) => (file.name === 'refund.ts' ? { ...file, text: change(file.text) } : file));
  const misfits = async (next: readonly SourceFile[], answers: Session['answers'] = [twenty]) =>
    await upgrade(
      ...((await evaluate(loadMachines, compile(refund), compile(next))) as [
        Playground,
        Playground,
      ]),
      {
        answers,
        forks: [],
      },
    );

  it('continues every token if only the outcome differs', async () => {
    expect(await misfits(edited((text) => text.replace('Refunded', 'Paid back')))).toEqual([]);
  });

  it('cannot continue a token without its question, and names the first difference', async () => {
    const next = edited((text) => text.replace("elicit('amount'", "elicit('sum'"));
    const found = await misfits(next);
    expect(found.map(({ point }) => point)).toEqual([0]);
    expect(found[0]?.lines).toEqual(["recorded: question 'amount'", "now asks: elicit 'sum'"]);
  });

  it.each([
    [
      'its form rejects the answer',
      ['.min(1)', '.min(50)'],
      "rejects the answer to 'amount', and asks again",
    ],
    ['it has another version', ["version: '1'", "version: '2'"], "does not serve version '1'"],
  ] as const)('cannot continue a token if %s', async (_, [before, after], line) => {
    const next = edited((text) => text.replace(before, after));
    expect(next).not.toEqual(refund);
    const found = await misfits(next);
    expect(found).toEqual([{ point: 0, lines: [expect.stringContaining(line)] }]);
  });

  it('is compared with the tokens of a run that the person made fail', async () => {
    const next = edited((text) => text.replace("elicit('amount'", "elicit('sum'"));
    expect(await misfits(next, [{ id: 'amount', action: 'decline' }])).toHaveLength(1);
  });

  it('fits a saga that ends in its first request', async () => {
    const [old, next] = (await evaluate(loadMachines, compile(atOnce), compile(atOnce))) as [
      Playground,
      Playground,
    ];
    expect(await upgrade(old, next, { answers: [], forks: [] })).toEqual([]);
  });

  it('is compared with every token of a question that was asked again', async () => {
    const wrong: Given = { ...twenty, content: { euros: 0 } };
    const next = edited((text) => text.replace("elicit('amount'", "elicit('sum'"));
    expect(await misfits(next, [wrong, twenty])).toHaveLength(2);
  });
});

describe('an export', () => {
  it('is a recording that the kit replays', async () => {
    const player = new SessionPlayer(await of(refund), { answers: [twenty], forks: [] });
    await player.play();
    const recording = JSON.parse(player.recording(0)) as Recording;
    await replayRecording(recording, [refundOrder.script.saga]);
    expect(recording.happened.map(({ id }) => id)).toEqual(['amount', 'pay', 'enter']);
  });
});

describe('the source', () => {
  it('may import only what the playground has', async () => {
    const files = [{ name: 'a.ts', text: "import 'node:fs';" }];
    await expect(play({}, files)).rejects.toThrow("imports 'node:fs'. This page provides only");
  });

  it('may use only names that the modules have', async () => {
    const text = `import { defineSaga, stp } from '@mcp-saga/server';
      export const script = stp(defineSaga);`;
    await expect(play({}, [{ name: 'a.ts', text }])).rejects.toThrow(
      "The page has no export 'stp' of '@mcp-saga/server'. Check the import in a.ts.",
    );
  });

  it('needs a script', async () => {
    await expect(play({}, [{ name: 'a.ts', text: 'export const a: number = 1;' }])).rejects.toThrow(
      'script',
    );
  });

  it('are ordered by the time of their fault', async () => {
    const cells = await cellsOf(refund);
    const inTime = cells.toSorted((one, other) => one.at - other.at).map(({ when }) => when);
    const places = [
      'When the response of turn 1 is lost',
      "When 'amount' is declined",
      "When the process dies before 'pay'",
      "When the process dies after 'pay'",
      "When the process dies before 'enter'",
      'When the response of turn 2 is lost',
    ].map((when) => inTime.indexOf(when));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places).not.toContain(-1);
  });

  it('sends a case without its events, and runs the case again to the same finding', async () => {
    const cells = await cellsOf(careless);
    const red = cells.find(({ when }) => when === "When 'enter' fails") as Cell;
    expect(Object.keys(red).toSorted()).toEqual([
      'at',
      'expects',
      'fact',
      'fault',
      'rules',
      'subject',
      'what',
      'when',
    ]);
    const { entries, test } = await playCase(await of(careless), structuredClone(red));
    expect(entries.map(({ type, id }) => `${type} ${id}`)).toContain('failed enter');
    expect(test).toContain(red.when.replace(/^When/, 'when'));
  });

  it('says in red cells what the check finds in the world that the case left', async () => {
    const cells = await cellsOf(careless);
    const factOf = (when: string): string | undefined =>
      cells.find((cell) => cell.when === when)?.fact;
    const fact = 'The bank paid 20 EUR, the books show 0, and nothing undid it.';
    expect(factOf("When 'enter' fails")).toBe(fact);
    expect(factOf("When 'pay' has its effect, and its response is lost")).toBe(fact);
    // The bank paid nothing, so its only problem is the error of the saga.
    expect(cells.find(({ when }) => when === "When 'pay' times out")?.what).toBeDefined();
    expect(factOf("When 'pay' times out")).toBeUndefined();
    expect(cells.filter((cell) => cell.what === undefined && cell.fact !== undefined)).toEqual([]);
    const red = cells.find(({ when }) => when === "When 'enter' fails") as Cell;
    const { test } = await playCase(await of(careless), red);
    expect(test).toMatch(/\n {2}await check\(\);\n {2}expect\(/);
  });

  it('sends a token without its text, and opens the token for the lens', async () => {
    const player = new SessionPlayer(await of(refund), { answers: [twenty], forks: [] });
    await player.play();
    const [token] = player.lanes[0]?.tokens ?? [];
    const lens = await player.lens(0, 0, false);
    expect(token).not.toHaveProperty('token');
    expect(lens.token).toHaveLength(token?.bytes ?? 0);
    expect(lens).toMatchObject({ ttlMs: 3_600_000, keyId: 'k1', timeline: [{ kind: 'input' }] });
    expect(lens.refusal).toBeUndefined();
    expect(lens.parts.map(({ part }) => part)).toEqual([
      'secrets',
      'structure',
      'client',
      'server',
    ]);
  });

  it('has failing cells without its undo', async () => {
    expect(careless).not.toEqual(refund);
    const cells = await cellsOf(careless);
    const red = cells.filter(({ what }) => what !== undefined);
    expect(red.map(({ subject }) => subject)).toContain('enter');
    expect(red.length).toBeLessThan(cells.length);
  });
});

describe('the lines of the source', () => {
  /** Events of a saga that starts and runs steps. */
  const startedAndRan = (saga: string, ...steps: readonly string[]): readonly EntryView[] =>
    [saga, ...steps].map((id, at) => ({
      turn: 1,
      type: at === 0 ? 'started' : 'ran',
      id,
      text: '',
      value: id,
    }));

  it('carry the last event of their step, the newest last', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const [file] = refund;
    const cells = await cellsOf(refund);
    const failing = cells.find(({ when }) => when === "When 'enter' fails");
    expect(failing).toBeDefined();
    const { entries } = await playCase(await of(refund), failing as Cell);
    const marks = findMarks(file?.text ?? '', entries, looks);
    const lines = file?.text.split('\n') ?? [];
    expect(
      marks.map(({ line, state }) => [/'(\w+)'/.exec(lines[line - 1] ?? '')?.[1], state]),
    ).toEqual([
      ['amount', 'done'],
      ['enter', 'bad'],
      ['pay', 'undone'],
    ]);
    expect(marks.map(({ facts }) => facts)).toEqual([
      'turn 2',
      expect.stringMatching(/^turn 2 · 3 attempts/),
      expect.stringMatching(/^turn 2 · undo:~pay$/),
    ]);
  });

  it.each(['"pay"', "'pay'", '`pay`'])('are marked with any quotes: %s', async (name) => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const [run] = await play({ answers: [twenty] });
    const text = `function* () {\n  yield* step<number>(\n    ${name}, pay);\n}`;
    expect(findMarks(text, run?.entries ?? [], looks)).toMatchObject([{ line: 2, state: 'done' }]);
  });

  it('are those of the shown saga, also with templates and in scopes', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const body = (
      name: string,
    ): string => `export const ${name} = saga({ name: '${name}' }, function* () {
  yield* step('pay', pay);
  yield* step(\`ship-\${item.id}\`, ship);
  yield* approval('manager', { deliver });
});
`;
    const events = ['pay', 'ship-7', 'trip/pay#2', 'manager/deliver', 'unknown'];
    const entries = ['second', ...events].map((id, at): EntryView => {
      const type = at === 0 ? 'started' : 'ran';
      return { turn: 1, attempt: undefined, type, id, text: '', value: id, key: undefined };
    });
    const marks = findMarks(body('first') + body('second') + body('third'), entries, looks);
    expect(marks.map(({ line, text }) => [line, text])).toEqual([
      [8, 'ship-7'],
      [7, 'trip/pay#2'],
      [9, 'manager/deliver'],
    ]);
  });

  it('are not those of comments, or of methods of other objects', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const text = `saga({ name: 'shop' }, function* () {
  // Then step('pay', …) takes the money: 'https://pay.example'
  /* step('pay') */ const url = 'https://pay.example'; prices.get('pay');
  yield* step('pay', () => charge(url));
});`;
    const entries = startedAndRan('shop', 'pay');
    expect(findMarks(text, entries, looks)).toMatchObject([{ line: 4, text: 'pay' }]);
    const namespace = text.replace('yield* step', 'yield* sagas.step');
    expect(findMarks(namespace, entries, looks)).toMatchObject([{ line: 4, text: 'pay' }]);
    // No comments: an expression, and the rest of a template.
    const alike = text.replace(
      "url = 'https://pay.example'",
      "url = base.replace(/\\/*$/, '') + `a${b ? `https://x` : ''}`",
    );
    expect(findMarks(alike, entries, looks)).toMatchObject([{ line: 4, text: 'pay' }]);
  });

  it('are not those of a template that fits each name', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const text = `saga({ name: 'shop' }, function* () {
  yield* step('pay', () => get(\`\${base}/pay/\${id}\`));
});`;
    const entries = startedAndRan('shop', 'pay', 'other', 'checkpoint');
    expect(findMarks(text, entries, looks)).toMatchObject([{ line: 2, text: 'pay' }]);
  });

  it('are also those of reads, sleeps, and checkpoints', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const [run] = await play({}, resting);
    expect(run?.entries[0]).toMatchObject({ type: 'started', id: 'resting' });
    const text = resting[0]?.text ?? '';
    const marks = findMarks(text, run?.entries ?? [], looks);
    expect(marks.map(({ line, state }) => [line, state])).toEqual([
      [5, 'done'],
      [6, 'done'],
      [7, 'done'],
      [8, 'done'],
    ]);
    expect(marks[0]?.text).toMatch(/^\d{4}-.*Z$/);
  });

  it('are not those of an answer that the host refuses', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const fork = { lane: 0, point: 0, answers: [{ ...twenty, content: { euros: 7 } }] };
    const [, refused] = await play({ answers: [twenty], forks: [fork] });
    expect(refused?.status).toBe('refused');
    const marks = findMarks(refund[0]?.text ?? '', refused?.entries ?? [], looks);
    expect(marks).toMatchObject([{ state: 'open', facts: 'turn 1' }]);
  });

  it('are also those of a question that the client cannot be asked', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const [run] = await play({ client: 'no-elicitation' });
    const [file] = refund;
    const [mark, ...others] = findMarks(file?.text ?? '', run?.entries ?? [], looks);
    expect(mark).toMatchObject({
      state: 'bad',
      text: expect.stringContaining("'amount' cannot be asked"),
    });
    expect(others).toEqual([]);
  });

  it('are not marked in a file without a saga', async () => {
    const { findMarks } = await import('../src/parts/line-marks.ts');
    const [run] = await play({ answers: [twenty] });
    expect(findMarks("step('pay')", run?.entries ?? [], looks)).toEqual([]);
  });
});
