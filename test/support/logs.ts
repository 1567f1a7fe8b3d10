import { format } from 'node:util';
import {
  aroundAll,
  aroundEach,
  TestRunner,
  type RunnerTestCase,
  type RunnerTestSuite,
} from 'vitest';

/**
 * What a log contains: a string is the code at the end of its link to the documentation
 * (`docs/reference/errors.md#CODE`), a pattern is for logs without a link.
 */
export type ExpectedLog = string | RegExp;

interface Expectation {
  readonly log: ExpectedLog;
  /** Thrown if no log meets it. Created where it was declared, so that it shows the place. */
  readonly unmet: Error;
  isMet: boolean;
}

interface Log {
  readonly text: string;
  /** Thrown if nobody expects the log. Created where it was made, so that it shows the place. */
  readonly unexpected: Error;
  readonly print: () => void;
}

/** A test, a `describe` block with expectations of its own, or a file. */
interface Scope {
  readonly outer: Scope | undefined;
  readonly expected: Expectation[];
  readonly logs: Log[];
}

const methods = ['error', 'warn', 'log', 'info', 'debug'] as const;

/** Where a worker is. `undefined` between two files. */
interface Position {
  readonly file: Scope;
  /** `true` while the file is imported, and its tests are declared. */
  isDeclaring: boolean;
  /** The innermost scope, which gets the logs. */
  scope: Scope;
  /** Says in the error of a log when it was made. */
  when: string;
}

interface Worker {
  readonly print: { readonly [method in (typeof methods)[number]]: (text: string) => void };
  position: Position | undefined;
}

/** More unexpected logs of one scope are counted only. */
const most = 5;

// Outlives this module, which is evaluated again after `vi.resetModules()`: tests and the code that
// they test must share it.
const key = Symbol.for('mcp-saga: logs of tests');

function worker(): Worker {
  const place = globalThis as { [key]?: Worker };
  if (place[key] === undefined) {
    const print = Object.fromEntries(
      methods.map((method) => [method, console[method].bind(console, '%s')]),
    ) as Worker['print'];
    place[key] = { print, position: undefined };
    catchWarnings(print.warn);
  }
  return place[key];
}

/** Takes the warnings of Node.js and of dependencies from the function of Node.js that prints them. */
function catchWarnings(print: (text: string) => void): void {
  for (const listener of process.listeners('warning'))
    if (listener.name === 'onWarning') process.off('warning', listener);
  process.on('warning', ({ name, message }) => {
    const text = `${name}: ${message}`;
    // These depend on the version of Node.js, or on how the queries of pg-boss meet, and not on the
    // code under test.
    if (/^ExperimentalWarning|NodeVersionSupportWarning|Calling client\.query\(\)/.test(text))
      return;
    record(catchWarnings, 'a warning of the process', () => print(text), text);
  });
}

/**
 * Declares logs that a test makes, and that are not printed. In a test: at least one log of the
 * test meets each. At the top of a file or in a `describe` block: at least one log of its tests and
 * hooks does, if all of them run. Whatever else is logged fails the test, or the file.
 *
 * @example
 *   expectLogs('replay_mismatch'); // Its link is docs/reference/errors.md#replay_mismatch.
 *   expectLogs(/A token was rejected: used/);
 */
export function expectLogs(...logs: readonly ExpectedLog[]): void {
  const { position } = worker();
  if (position === undefined) throw new Error('expectLogs belongs in a test file.');
  const expected = logs.map((log) => expectationOf(log));
  if (!position.isDeclaring) {
    position.scope.expected.push(...expected);
  } else if (TestRunner.getCurrentSuite().name === '') {
    position.file.expected.push(...expected);
  } else {
    // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern from the code
    aroundAll(async (runSuite, {}, suite) => {
      // The logs of blocks that run at the same time cannot be told apart.
      if (suite.concurrent === true) {
        position.file.expected.push(...expected);
        await runSuite();
        return;
      }
      const scope = innerScope(position.scope, expected);
      await within(position, scope, runSuite);
      judge(scope, resultOf(suite));
    });
  }
}

/** Catches the logs of a file and judges them. Called before each file is imported. */
export function catchLogs(): void {
  const state = worker();
  const file = innerScope(undefined, []);
  const position: Position = {
    file,
    isDeclaring: true,
    scope: file,
    when: 'while the file was imported',
  };
  state.position = position;
  for (const method of methods) {
    const log = (...parts: unknown[]): void => {
      const text = format(...parts);
      record(log, `console.${method}`, () => state.print[method](text), text);
    };
    // A spy that a test puts in its place answers for its logs.
    console[method] = log;
  }
  // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern from the code
  aroundAll(async (runFile, {}, suite) => {
    position.isDeclaring = false;
    position.when = 'before the first test';
    try {
      await runFile();
    } finally {
      state.position = undefined;
    }
    judge(file, resultOf(suite));
  });
  aroundEach(async (runTest, { task }) => {
    // The logs of tests that run at the same time cannot be told apart: the file is judged.
    if (task.concurrent === true) {
      position.when = 'among tests at the same time';
      await runTest();
      return;
    }
    const test = innerScope(position.scope, []);
    position.when = 'in the test';
    await within(position, test, runTest);
    position.when = `after the test '${task.name}'`;
    judge(test, resultOfTest(task));
  });
}

function expectationOf(log: ExpectedLog): Expectation {
  const unmet = new Error(
    typeof log === 'string'
      ? `No log links to '#${log}', which is expected here.`
      : `No log matches ${log}, which is expected here.`,
  );
  Error.captureStackTrace(unmet, expectLogs);
  return { log, unmet, isMet: false };
}

function meets(text: string, log: ExpectedLog): boolean {
  return typeof log === 'string' ? codesIn(text).includes(log) : log.test(text);
}

/** The codes at the ends of links to the documentation. */
function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/\.md#([\w-]+)/g)].map(([, code]) => code ?? '');
}

function innerScope(outer: Scope | undefined, expected: Expectation[]): Scope {
  return { outer, expected, logs: [] };
}

async function within(position: Position, scope: Scope, run: () => Promise<void>): Promise<void> {
  position.scope = scope;
  try {
    await run();
  } finally {
    position.scope = scope.outer ?? position.file;
  }
}

/** @param caller - the function that the code under test called */
function record(
  caller: (...parts: never[]) => void,
  how: string,
  print: () => void,
  text: string,
): void {
  const { position } = worker();
  const when = position?.when ?? 'after the last test of a file';
  const unexpected = new Error(
    `No test expects this log (${how}, ${when}):\n\n${text}\n\n` +
      `If it belongs there: expectLogs(${suggestion(text)}) of test/support/logs.ts.`,
  );
  Error.captureStackTrace(unexpected, caller);
  if (position === undefined) {
    // No test is left that could fail: an unhandled rejection fails the run.
    void Promise.reject(unexpected);
    return;
  }
  const { file, scope, isDeclaring } = position;
  // If the import fails, nobody judges its logs.
  const isPrinted = isDeclaring && !file.expected.some(({ log }) => meets(text, log));
  if (isPrinted) print();
  scope.logs.push({ text, unexpected, print: isPrinted ? () => undefined : print });
}

function suggestion(text: string): string {
  const code = codesIn(text).at(-1);
  return code === undefined ? '/…/' : `'${code}'`;
}

type Result = 'passed' | 'failed' | 'partly run';

/** Throws if a log of the scope is unexpected, or if the scope passed without an expected one. */
function judge(scope: Scope, result: Result): void {
  const unexpected = scope.logs.filter(({ text }) => !claim(text, scope));
  const unmet = result === 'passed' ? scope.expected.filter(({ isMet }) => !isMet) : [];
  if (result === 'failed' || unexpected.length + unmet.length > 0)
    for (const { print } of scope.logs) print();
  // A scope that failed has shown its logs, and needs no further reason.
  if (result === 'failed' || unexpected.length + unmet.length === 0) return;
  const errors = [...unexpected.map((log) => log.unexpected), ...unmet.map((each) => each.unmet)];
  throw new AggregateError(errors.slice(0, most), `${errors.length} logs differ`);
}

/** Finds who expects a log: the innermost scope first. */
function claim(text: string, scope: Scope): boolean {
  const met = scope.expected.filter(({ log }) => meets(text, log));
  for (const expectation of met) expectation.isMet = true;
  return met.length > 0 || (scope.outer !== undefined && claim(text, scope.outer));
}

function resultOf(suite: Readonly<RunnerTestSuite>): Result {
  const results = suite.tasks.map((task): Result => {
    if (task.type === 'suite') return resultOf(task);
    return resultOfTest(task);
  });
  if (suite.result?.state === 'fail' || results.includes('failed')) return 'failed';
  return results.every((result) => result === 'passed') ? 'passed' : 'partly run';
}

function resultOfTest({ result }: Readonly<RunnerTestCase>): Result {
  if (result?.state === 'fail') return 'failed';
  return result?.state === 'pass' ? 'passed' : 'partly run';
}
