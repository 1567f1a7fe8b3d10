import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '../support/command.ts';
import { install } from '../support/install.ts';
import { bun, node } from '../runtimes/runtime.ts';
import { suite } from './suite.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const titles = Object.keys(suite);
// Long enough for a runner to be downloaded.

async function output(file: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  // A runner would use these variables of the parent runner.
  for (const name of ['NODE_OPTIONS', 'VITEST', 'NODE_TEST_CONTEXT', 'VITEST_WORKER_ID'])
    delete (env as NodeJS.ProcessEnv)[name];
  const { stdout, stderr } = await run(file, args, { cwd: root, env });
  return stripVTControlCharacters(stdout + stderr);
}

/** Runs the tests with the vitest that is installed in a folder. */
async function withVitest(executable: string, vitest: string): Promise<string> {
  const folder = await mkdtemp(join(here, '.vitest-'));
  try {
    const config = join(folder, 'vitest.config.mjs');
    // The matchers of the kit must use the running Vitest, and not the one of the workspace.
    const alias = [{ find: /^vitest$/.source, replacement: join(vitest, 'dist/index.js') }];
    await writeFile(
      config,
      `const alias = ${JSON.stringify(alias)}.map((each) => ({ ...each, find: new RegExp(each.find) }));\n` +
        `export default { resolve: { alias }, test: { root: ${JSON.stringify(here)}, include: ['vitest.spec.ts'] } };\n`,
    );
    const cli = join(vitest, 'vitest.mjs');
    return await output(executable, [cli, 'run', '--config', config, '--reporter=verbose']);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the test kit', () => {
  it('works under the vitest of the workspace', async () => {
    const said = await withVitest(process.execPath, join(root, 'node_modules/vitest'));
    expect(said).toMatch(/v4\./);
    for (const title of [...titles, 'a Vitest test has the matchers'])
      expect(said).toContain(`> ${title}`);
  });

  it('works under vitest 5', async () => {
    const folder = await install('runners', 'vitest@5.1.1');
    const said = await withVitest(
      await node('22.23.3').executable(),
      join(folder, 'node_modules/vitest'),
    );
    expect(said).toMatch(/v5\.1\.1/);
    for (const title of [...titles, 'a Vitest test has the matchers'])
      expect(said).toContain(`> ${title}`);
  });

  it.each(['22.23.3', '24.21.0'])('works under the test runner of Node %s', async (version) => {
    const said = await output(await node(version).executable(), [
      '--test',
      '--test-reporter=tap',
      join(here, 'node.spec.ts'),
    ]);
    for (const title of titles) expect(said).toMatch(new RegExp(`^\\s*ok \\d+ - ${title}`, 'm'));
    expect(said).toContain('# fail 0');
  });

  it("works under Bun's test runner", async () => {
    const said = await output(await bun('1.4.5').executable(), ['test', `${here}bun.spec.ts`]);
    for (const title of [...titles, 'a Bun test has the matchers'])
      expect(said).toContain(`(pass) ${title}`);
    expect(said).toContain('0 fail');
  });
});
