import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateKey } from '@mcp-saga/server';
import { saveRecording } from '@mcp-saga/testing/node';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundlePackagesForImport } from '../../../test/support/bundle-for-node.ts';
import { fixture, run } from './command-line.ts';
import { host, keys, script } from './fixtures/sagas.ts';
import { expectLogs } from '../../../test/support/logs.ts';

beforeAll(bundlePackagesForImport);

const tokenOf = async (): Promise<string> => {
  const turn = await host.start('refund', { amount: 9 });
  if (turn.status !== 'suspended') throw new Error('The saga did not ask');
  return turn.token;
};

/** Writes a module that can import our packages. */
function moduleWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'module-'));
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
  );
  writeFileSync(join(folder, 'module.ts'), text);
  return join(folder, 'module.ts');
}

describe('mcp-saga inspect', () => {
  it('shows size and key ID without a key, and nothing else', async () => {
    const token = await tokenOf();
    const { code, printed } = await run(['inspect', token, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(printed)).toEqual({ tokenBytes: token.length, keyId: 'k1' });
  });

  it('shows the claims with the keys, and values only with --values', async () => {
    const environment = { SAGA_KEYS: keys };
    const args = ['inspect', '-', '--audience', 'shop', '--json'];
    const input = `  ${await tokenOf()}\n`;
    const { printed } = await run(args, { environment, input });
    expect(JSON.parse(printed)).toMatchObject({
      claims: { saga: { name: 'refund', version: '2' }, turn: 1 },
    });
    const entry = { kind: 'input', path: '', outcome: 'parsed', bytes: 12 };
    expect(JSON.parse(printed)).toMatchObject({ receipts: [] });
    expect((JSON.parse(printed) as { readonly timeline: unknown }).timeline).toEqual([entry]);
    expect(printed).not.toContain(keys.slice(3));
    const shown = await run([...args, '--values'], { environment, input });
    expect(JSON.parse(shown.printed)).toMatchObject({
      timeline: [{ ...entry, value: { amount: 9 } }],
    });
    const asText = await run([...args.slice(0, -1), '--values'], { environment, input });
    expect(asText.printed).toMatch(/input parsed, 12 bytes: \{"amount":9\}$/);
  });

  it('names a malformed key, and the missing keys or audience', async () => {
    const token = await tokenOf();
    const environment = { SAGA_KEYS: keys };
    const malformed = { SAGA_KEYS: `${keys},k2:short` };
    expect(await run(['inspect', token], { environment: malformed })).toMatchObject({
      code: 2,
      printed: '',
      errors: expect.stringContaining('key 2 of 2'),
    });
    expect(await run(['inspect', token], { environment })).toMatchObject({
      code: 0,
      printed: expect.stringContaining('Pass --host, or --audience.'),
    });
    expect(await run(['inspect', token, '--values'], { environment })).toMatchObject({
      code: 2,
      errors: expect.stringContaining('--audience'),
    });
    expect(await run(['inspect', token, '--audience', 'shop'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('SAGA_KEYS is not set'),
    });
    const byHost = ['--host', fixture('sagas.ts')];
    for (const ignored of [
      [...byHost, '--values'],
      [...byHost, '--values', '--audience', 'shop'],
    ])
      expect(await run(['inspect', token, ...ignored], { environment })).toMatchObject({
        code: 2,
        errors: expect.stringContaining('no --host'),
      });
    expect(await run(['inspect', '-'], { environment, input: '\n' })).toMatchObject({
      code: 2,
      errors: expect.stringContaining('empty'),
    });
    expect(await run(['inspect', token, '--host', fixture('charging.ts')])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('no host or server'),
    });
  });

  it.each(['sagas.ts', 'served.ts'])(
    'shows the timeline with the host or server of %s',
    async (file) => {
      const { code, printed, errors } = await run([
        'inspect',
        await tokenOf(),
        '--host',
        fixture(file),
      ]);
      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(printed).toContain('refund 2');
      expect(printed).toContain('input parsed');
    },
  );

  it('opens a token with a guarded server whose saga refuses forks', async () => {
    const file = moduleWith(`import { memoryStore, saga } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { keys } from '${fixture('sagas.ts')}';
const refund = saga({ name: 'refund', version: '2' }, function* () {});
export default serveSagas({ name: 'shop', version: '1', sagas: [refund], keys, store: memoryStore() });`);
    const { code, printed } = await run(['inspect', await tokenOf(), '--host', file]);
    expect(printed).toContain('refund 2');
    expect(code).toBe(0);
  });

  it('opens a token with the keys of the environment if the server of a module has none', async () => {
    expectLogs(/No keys: sagas end with this process/);
    const text = `import { serveSagas } from '@mcp-saga/server/serve';
import { refund } from '${fixture('sagas.ts')}';
export default serveSagas({ name: 'shop', version: '1', sagas: [refund] });`;
    const given = { environment: { SAGA_KEYS: keys } };
    const { code, printed } = await run(
      ['inspect', await tokenOf(), '--host', moduleWith(text)],
      given,
    );
    expect(code).toBe(0);
    expect(printed).toContain('refund 2');
  });

  it('rejects a token of other keys, an incomplete token, and a text that is not a token', async () => {
    const token = await tokenOf();
    const environment = { SAGA_KEYS: generateKey('k1') };
    const args = ['--audience', 'shop'];
    expect(await run(['inspect', token, ...args], { environment })).toMatchObject({
      code: 1,
      printed: '',
    });
    expect(await run(['inspect', token.slice(0, -9), ...args], { environment })).toMatchObject({
      code: 1,
    });
    expect(await run(['inspect', 'text'])).toMatchObject({ code: 2 });
    expect(await run(['inspect', token, '--audience='], { environment })).toMatchObject({
      code: 2,
    });
  });
});

describe('mcp-saga with a module', () => {
  it('tests sagas and scripts', async () => {
    const { code, printed } = await run([
      'test',
      fixture('sagas.ts'),
      '--input={"amount":9}',
      '--harmless=pay-back',
    ]);
    expect(printed).toContain('ok    refund: crash');
    expect(printed).toContain('ok    script: fork');
    expect(code).toBe(0);
  });

  it('tests a saga without arguments by its exported script only', async () => {
    const { code, printed } = await run(['test', fixture('sagas.ts'), '--harmless=pay-back']);
    expect(printed).toContain('ok    script: fork');
    expect(printed).not.toContain('refund:');
    // No script has arguments for the other saga of the file.
    expect(printed).toContain('FAIL  advise: crash');
    expect(code).toBe(2);
  });

  it.each(['test', 'crash', 'graph'])(
    '%s ends with exit code 2 for a saga without its arguments',
    async (name) => {
      const given = await run([name, fixture('charging.ts')]);
      expect(given.printed + given.errors).toContain("Invalid arguments for 'charging'");
      expect(given.code).toBe(2);
    },
  );

  it('fails for a saga that lacks its arguments if another one fails, or the script lacks them', async () => {
    const paying = `export { charging } from '${fixture('charging.ts')}'; export { paying } from '${fixture('losing.ts')}';`;
    expect(await run(['crash', moduleWith(paying)])).toMatchObject({ code: 1 });
    const scripted = `import { testSaga } from '@mcp-saga/testing'; import { charging } from '${fixture('charging.ts')}';
export const script = testSaga(charging);`;
    expect(await run(['crash', moduleWith(scripted)])).toMatchObject({ code: 1 });
  });

  it.each(['test', 'crash'])(
    '%s refuses an unknown step of --harmless, and names the known ones',
    async (name) => {
      const args = [name, fixture('sagas.ts'), '--export=script', '--json'];
      const { code, printed } = await run([...args, '--harmless=pay-bck', '--harmless=pay-back']);
      const message = '--harmless pay-bck: no such step ran. Steps: pay-back.';
      expect({ code, ...JSON.parse(printed) }).toMatchObject({
        code: 2,
        ok: false,
        error: { code: 'usage', message },
        runs: expect.arrayContaining([{ saga: 'script', explorer: 'crash', cases: 4 }]),
      });
      const read = await run([...args.slice(0, -1), '--harmless=pay-bck', '--harmless=pay-back']);
      expect(read).toMatchObject({
        code: 2,
        printed: expect.stringContaining('ok    script: crash'),
      });
      expect(read.errors.split('\n').at(-1)).toBe(message);
      for (const known of ['pay-*', 'pay-back#2', '*'])
        expect(await run([...args, `--harmless=${known}`]), known).not.toMatchObject({ code: 2 });
    },
  );

  it.each(['test', 'crash'])('%s refuses --input if only scripts are tried', async (name) => {
    const args = [name, fixture('sagas.ts'), '--export=script', '--input={"amount":9}'];
    const { code, printed, errors } = await run(args);
    expect({ code, printed }).toEqual({ code: 2, printed: '' });
    expect(errors).toMatch(/^A script \(testSaga\) has its own input: leave out --input\.\n/);
  });

  it('knows a step of --harmless that runs only after a failure', async () => {
    const text = `import { checkpoint, saga, step } from '@mcp-saga/server';
export const ship = saga({ name: 'ship', version: '1' }, function* () {
  yield* checkpoint();
  try { yield* step('ship', ({ idempotencyKey }) => idempotencyKey); }
  catch { yield* step('apologize', ({ idempotencyKey }) => idempotencyKey); }
  return 'done';
});`;
    const args = [moduleWith(text), '--harmless=apologize'];
    const { code, errors } = await run(['test', ...args]);
    expect(errors).not.toContain('no such step');
    expect(code).toBe(0);
    expect(await run(['crash', ...args])).toMatchObject({ code: 2 });
  });

  const failing = `import { elicit, saga, step } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const sure = { message: 'Sure?', schema: z.object({ sure: z.boolean() }) };
export const broken = saga({ name: 'broken', version: '1' }, function* () {
  yield* elicit('sure', sure);
  yield* step('charge', () => { throw new Error('no bank'); });
  return 'charged';
});`;

  it.each(['test', 'crash'])('%s fails for a saga that always fails', async (name) => {
    const { code, printed } = await run([name, moduleWith(failing), '--json']);
    expect(code).toBe(1);
    const { ok, runs } = JSON.parse(printed) as { ok: boolean; runs: readonly object[] };
    expect(ok).toBe(false);
    expect(runs).toEqual(runs.map(() => expect.objectContaining({ code: 'violated' })));
  });

  it('test shows an explorer without a case apart from those that passed', async () => {
    const declared = `${failing}
export const declared = testSaga(broken).expectFailure('no bank');`;
    const args = ['test', moduleWith(declared), '--export=declared'];
    const { code, printed } = await run(args);
    expect(code).toBe(0);
    expect(printed).toMatch(
      /^ok {4}declared: crash, .*\nnone {2}declared: fail, no case: no step of the saga succeeds/,
    );
    const { runs } = JSON.parse((await run([...args, '--json'])).printed) as {
      readonly runs: readonly object[];
    };
    expect(runs).toContainEqual({
      saga: 'declared',
      explorer: 'fail',
      cases: 0,
      reason: expect.any(String),
    });
  });

  it('tests one export', async () => {
    const args = ['test', fixture('sagas.ts'), '--harmless=pay-back', '--export'];
    const { code, printed } = await run([...args, 'script']);
    expect(printed).toMatch(
      /^ok {4}script: crash.*\n.*script: fail.*\n.*script: refuse.*\n.*script: fork.*$/,
    );
    expect(code).toBe(0);
    expect(await run([...args, 'other'])).toMatchObject({ code: 2, printed: '' });
  });

  it('fails for a saga that a crash breaks, with a test to paste', async () => {
    const { code, printed } = await run(['crash', fixture('losing.ts')]);
    expect(code).toBe(1);
    expect(printed).toContain('testSaga(');
  });

  it('prints a problem of all explorers once', async () => {
    const { code, printed } = await run(['test', fixture('charging.ts')]);
    expect(code).toBe(2);
    expect(printed).toMatch(
      /^FAIL {2}charging: crash, fail, refuse, fork\n {6}.*amount: expected number.*$/,
    );
    const { runs } = JSON.parse(
      (await run(['test', fixture('charging.ts'), '--json'])).printed,
    ) as {
      readonly runs: readonly object[];
    };
    expect(runs).toHaveLength(4);
  });

  it('draws a machine, and a run of a script', async () => {
    expect(await run(['graph', fixture('machine.ts')])).toMatchObject({
      code: 0,
      printed: expect.stringContaining('stateDiagram-v2'),
    });
    expect(await run(['graph', fixture('sagas.ts'), '--export', 'script'])).toMatchObject({
      code: 0,
      printed: expect.stringContaining('sequenceDiagram'),
    });
    expect(await run(['graph', fixture('sagas.ts')])).toMatchObject({ code: 2 });
  });

  it('draws a run of a saga with the arguments of --input', async () => {
    const graph = ['graph', fixture('charging.ts')];
    expect(await run([...graph, '--input', '{"amount":9}'])).toMatchObject({
      code: 0,
      printed: expect.stringContaining('sequenceDiagram'),
    });
    for (const [args, advice] of [
      [graph, "--input '{"],
      [[...graph, '--input', '9'], 'expected an object'],
      [
        ['graph', fixture('sagas.ts'), '-e', 'refund', '--input', '{"amount":9}'],
        'Export a script',
      ],
      [
        ['graph', fixture('sagas.ts'), '-e', 'script', '--input', '{"amount":9}'],
        'leave out --input',
      ],
      [['graph', fixture('machine.ts'), '--input', '{}'], 'takes no input: leave out --input.'],
    ] as const)
      expect(await run(args)).toMatchObject({ code: 2, errors: expect.stringContaining(advice) });
  });

  it('draws a machine with the package that its project has installed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-'));
    const installed = join(folder, 'node_modules/@mcp-saga/xstate');
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'package.json'), '{"type":"module","exports":"./index.js"}');
    writeFileSync(join(installed, 'index.js'), "export const toMermaid = () => 'of the project';");
    const machine = 'export const machine = { __xstatenode: true };';
    writeFileSync(join(folder, 'machine.mjs'), machine);
    expect(await run(['graph', join(folder, 'machine.mjs')])).toMatchObject({
      code: 0,
      printed: 'of the project',
    });
  });

  it('draws a machine as SVG, also in a project without our packages', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-'));
    const xstate = fileURLToPath(new URL('../node_modules/xstate', import.meta.url));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(xstate, join(folder, 'node_modules/xstate'));
    const source = readFileSync(fixture('machine.ts'), 'utf8');
    writeFileSync(join(folder, 'machine.ts'), source);
    const file = join(folder, 'machine.ts');
    expect(await run(['graph', file, '--svg'])).toMatchObject({
      code: 0,
      printed: expect.stringMatching(/^<svg .*Statechart of door.*SHUT/s),
    });
    expect(await run(['graph', file])).toMatchObject({
      code: 0,
      printed: expect.stringContaining('stateDiagram-v2'),
    });
  });

  it('replays recordings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-'));
    saveRecording(join(folder, 'refund.json'), (await script.run()).recording);
    const replayed = (sagas: string): ReturnType<typeof run> =>
      run(['replay', folder, '--sagas', fixture(sagas)]);
    expect(await replayed('sagas.ts')).toMatchObject({ code: 0 });
    expect(await replayed('losing.ts')).toMatchObject({ code: 1 });
    expect(await replayed('machine.ts')).toMatchObject({ code: 2 });
    writeFileSync(join(folder, 'broken.json'), '{');
    const { code, printed } = await replayed('sagas.ts');
    expect(code).toBe(1);
    expect(printed).toMatch(/FAIL .*broken\.json[^]*ok .*refund\.json/);
  });

  it('reports a file that does not exist', async () => {
    expect(await run(['test', 'nowhere.ts'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('nowhere.ts'),
    });
  });
});

describe('a module that does not load', () => {
  // `dev` sets a missing variable for the modules that it imports.
  beforeEach(() => vi.stubEnv('SAGA_KEYS', keys));
  afterEach(() => vi.unstubAllEnvs());

  const codeOf = async (...args: readonly string[]): Promise<readonly [number, string]> => {
    const { code, printed } = await run([...args, '--json']);
    const { error } = JSON.parse(printed) as { readonly error: { readonly code: string } };
    return [code, error.code];
  };

  it.each(['test', 'graph', 'dev'])(
    'is a missing file if an import is missing: %s',
    async (name) => {
      for (const imported of ['./nowhere.ts', 'no-such-package'])
        expect(await codeOf(name, moduleWith(`import '${imported}';`))).toEqual([2, 'no_file']);
      const required = moduleWith(
        "import { createRequire } from 'node:module'; createRequire(import.meta.url)('no-such-package');",
      );
      expect(await codeOf(name, required)).toEqual([2, 'no_file']);
    },
  );

  it.each(['test', 'dev'])(
    'names the command that makes a key, also for a key of the module: %s',
    async (name) => {
      const file = moduleWith(`import { createSagaHost } from '@mcp-saga/server';
import { refund } from '${fixture('sagas.ts')}';
export const host = createSagaHost({ sagas: [refund], name: 'shop', keys: 'k1:c2hvcnQ' });`);
      expect(await codeOf(name, file)).toEqual([2, 'no_keys']);
      const { errors } = await run([name, file]);
      expect(errors).toContain('mcp-saga keys new');
      expect(errors).not.toMatch(/node -p|c2hvcnQ/);
    },
  );
});

describe('mcp-saga doctor --host', () => {
  it('finds stores that answer, and tells when old versions can be removed', async () => {
    const { code, printed } = await run(['doctor', '--host', fixture('hosts.ts')]);
    const lines = printed.split('\n');
    expect(lines.filter((line) => !line.startsWith('note  limits: '))).toEqual([
      'ok    store: none: used tokens can be used again',
      'ok    versions: ship 1 can be removed: its last sagas have ended',
      'ok    versions: ship 2 is needed until 2999-01-01T00:00:00.000Z',
      'ok    versions: ship 3 has no `until`: its last sagas end 7 days after the rollout of 4',
      'ok    store: answers',
      'ok    queue: answers',
    ]);
    expect(code).toBe(0);
  });

  it('names the options that decide what a host cannot do for some clients', async () => {
    const { printed } = await run(['doctor', '--host', fixture('hosts.ts')]);
    const [without, withStore] = printed.split('ok    store: answers');
    const optionsIn = (text = ''): readonly string[] =>
      [...text.matchAll(/^note {2}limits: .* Set `(.*)` to change this\.$/gm)].map(
        ([, option = '']) => option,
      );
    const always = ['answerers.model', 'answerers.sampling'];
    expect(optionsIn(without)).toEqual([...always, 'store', 'queue', 'url']);
    expect(optionsIn(withStore)).toEqual([...always, 'url']);
  });

  it('fails for a store and a queue that cannot be reached, without their credentials', async () => {
    vi.stubEnv('STORES', 'down');
    const { code, printed } = await run(['doctor', '--host', fixture('hosts.ts')]);
    vi.unstubAllEnvs();
    expect(printed).toContain('FAIL  store: cannot be reached (ECONNREFUSED)');
    expect(printed).toContain('FAIL  queue: cannot be reached (ECONNREFUSED)');
    expect(printed).not.toContain('password');
    expect(code).toBe(1);
  });

  it.each(['doctor', 'inspect'])(
    'gives the module the variables of --env-file: %s',
    async (name) => {
      vi.stubEnv('STORES', undefined);
      const file = join(mkdtempSync(join(tmpdir(), 'env-')), '.env');
      writeFileSync(file, 'STORES=down\n');
      const token = name === 'inspect' ? [await tokenOf()] : [];
      const { printed } = await run([
        name,
        ...token,
        '--host',
        fixture('hosts.ts'),
        '--env-file',
        file,
      ]);
      expect(process.env['STORES']).toBe('down');
      if (name === 'doctor')
        expect(printed).toContain('FAIL  store: cannot be reached (ECONNREFUSED)');
      vi.unstubAllEnvs();
    },
  );

  it('names a module without a host', async () => {
    expect(await run(['doctor', '--host', fixture('machine.ts')])).toMatchObject({ code: 2 });
  });
});
