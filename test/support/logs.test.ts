import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from './command.ts';

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Whether each test and each file passed, and what the files printed. */
let tests: readonly { readonly title: string; readonly passed: boolean; readonly why: string }[];
let files: { readonly [name: string]: { readonly passed: boolean; readonly why: string } };
let printed: string;
let code: unknown;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-logs-'));
  try {
    const file = join(folder, 'report.json');
    const config = fileURLToPath(new URL('logs/vitest.config.ts', import.meta.url));
    const env = { ...process.env, NO_COLOR: '1' };
    // A runner would use these variables of the parent runner.
    for (const name of ['NODE_OPTIONS', 'VITEST', 'VITEST_WORKER_ID', 'VITEST_POOL_ID'])
      delete (env as NodeJS.ProcessEnv)[name];
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${file}`];
    const runner = spawn(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', config, ...reporters],
      { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    printed = '';
    for (const stream of [runner.stdout, runner.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    [code] = (await once(runner, 'close')) as [unknown];
    printed = stripVTControlCharacters(printed);
    const { testResults } = JSON.parse(await readFile(file, 'utf8')) as Report;
    tests = testResults.flatMap(({ assertionResults }) =>
      assertionResults
        .filter(({ status }) => status !== 'skipped')
        .map(({ title, status, failureMessages }) => ({
          title,
          passed: status === 'passed',
          why: failureMessages.join('\n'),
        })),
    );
    files = Object.fromEntries(
      testResults.map(({ name, status, message }) => [
        basename(name, '.spec.ts'),
        { passed: status === 'passed', why: message },
      ]),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

function whyFailed(title: string): string {
  return tests.find((test) => test.title === title)?.why ?? '';
}

describe('a log of a test', () => {
  it('fails the test unless it is expected or spied on, as the title of each fixture says', () => {
    expect(tests.length).toBeGreaterThan(15);
    expect(tests.filter(({ title, passed }) => passed !== title.startsWith('pass'))).toEqual([]);
  });

  it('is in the error of the test that it fails, with its place', () => {
    expect(whyFailed('fails with a log')).toMatch(/unexpected 1[^]*at .*unexpected\.spec\.ts:7/);
    expect(whyFailed('fails with another log than the expected one')).toMatch(
      /unexpected 2[^]*expectLogs\('busy-or-not'\)[^]*No log links to '#busy'/,
    );
    expect(whyFailed('fails without the expected log')).toMatch(
      /No log matches \/missing 3\/[^]*at .*unexpected\.spec\.ts:14/,
    );
    expect(whyFailed('fails with a log after its end')).toContain('unexpected 4');
    expect(whyFailed('fails with a warning of the process')).toContain('Warning: unexpected 5');
    expect(whyFailed('fails with the log of another block')).toContain('7 of the block');
  });

  it('is printed if the test failed for another reason', () => {
    expect(printed).toMatch(/^expected 6$/m);
  });

  it('is not printed if it is expected', () => {
    expect(files['expected']).toEqual({ passed: true, why: '' });
    expect(printed).not.toMatch(/stderr \| expected|stdout \| expected|of many tests/);
  });
});

describe('a log between tests', () => {
  it.each([
    ['in a hook', 'between-tests', 'before the first test'],
    ['at import', 'import', 'while the file was imported'],
    ['at the same time', 'concurrent', 'among tests at the same time'],
  ])('fails its file: %s', (where, name, when) => {
    expect(files[name]).toMatchObject({
      passed: false,
      why: expect.stringMatching(new RegExp(`${when}[^]*unexpected ${where}`)),
    });
  });

  it('fails the run if no file is left', () => {
    expect(printed).toMatch(/Unhandled [^]*unexpected after the file/);
    expect(code).toBe(1);
  });
});

describe('an expected log of a file that is not made', () => {
  it('fails the file, and the block', () => {
    expect(files['unmet']?.passed).toBe(false);
    expect(printed).toContain('No log matches /missing in the block/');
  });

  it('fails nothing if a test of the file did not run', () => {
    expect(files['partly-run']).toEqual({ passed: true, why: '' });
  });
});
