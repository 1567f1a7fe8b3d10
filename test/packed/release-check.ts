/**
 * Checks a release: packs every package, prints what a process loads of them and what its start costs, tests the tarballs
 * (`packed.test.ts`), installs them as users do, runs the first tool, and makes, compiles, tests,
 * starts, and calls a project of each template.
 *
 * `pnpm release:check --public` also refuses a release without the addresses of the project.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bun } from '../runtimes/runtime.ts';
import { root } from '../support/command.ts';
import { callFirstTool } from './first-tool.ts';
import { consumerFolder, installConsumer, npmFlags } from './install-consumer.ts';
import { loadedModules, mostLoaded } from './loaded-modules.ts';
import { manifestIn, serveTarballs } from './local-registry.ts';
import { pack, packedFolder, tarballFolder } from './pack.ts';
import { run } from './run.ts';
import { startCosts } from './start-cost.ts';
import { callTools, checkTypes, createProjects, lint } from './template-projects.ts';

/** Dependencies of the first tool that are not packed here. */
const peers = [
  '@modelcontextprotocol/client@2.4.0',
  '@modelcontextprotocol/server@2.4.0',
  'srvx@1.0.8',
  'tsx@4.23.15',
  'zod@4.6.7',
];

const { values } = parseArgs({ options: { public: { type: 'boolean', default: false } } });
if (values.public) await assertAddresses();
const tarballs = await report('pack', pack);
if (values.public) {
  for (const { name, repository } of tarballs.map(manifestIn))
    if (repository === undefined)
      throw new Error(`The tarball of ${name} does not say where its source is.`);
}
const consumer = await report('install all packages', () => installConsumer(tarballs));
for (const start of Object.keys(mostLoaded)) {
  const { modules, bytes } = await loadedModules(consumer, start);
  console.log(`${start}: loads ${modules} modules, ${(bytes / 1000).toFixed(1)} kB`);
}
for (const [start, ms] of await startCosts(consumer))
  console.log(`${start}: ${ms.toFixed(1)} ms of processor time`);
const registry = await serveTarballs(tarballs);
try {
  // The tests compile most of the time, and installations wait: together they take as long as the
  // longer of both.
  await Promise.all([testTarballs(), checkInstallations()]);
} finally {
  registry.stop();
  await rm(consumer, { recursive: true });
}

/**
 * Installs the packages with each package manager, and calls the first tool and those of the
 * templates.
 */
async function checkInstallations(): Promise<void> {
  const installed = ['@mcp-saga/server', ...peers];
  await checkFirstTool('npm', ['npm', 'install', ...npmFlags, ...installed]);
  await checkFirstTool('pnpm', [
    'npx',
    '-y',
    'pnpm@12.21.0',
    'add',
    '--prefer-offline',
    ...installed,
  ]);
  const bunPath = await bun('1.4.5').executable();
  await checkFirstTool('bun', [bunPath, 'add', '--silent', ...installed], [bunPath]);
  await checkTemplates();
}

/** Tests the tarballs in a process of its own. */
async function testTarballs(): Promise<void> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const tests = spawn(process.execPath, [vitest, 'run', '--project', 'packed'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, [tarballFolder]: packedFolder, [consumerFolder]: consumer },
  });
  const [code] = (await once(tests, 'exit')) as [number | null];
  if (code !== 0) throw new Error('The packages do not pass their tests.');
}

/** Makes a project of each template, and tries all of them with one installation. */
async function checkTemplates(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-templates-'));
  const starter =
    tarballs.find(({ path }) => basename(path).startsWith('create-mcp-saga-'))?.path ?? '';
  try {
    const manifest = { private: true, type: 'module', workspaces: ['projects/*'] };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, '.npmrc'), `@mcp-saga:registry=${registry.url}\n`);
    await report('install create-mcp-saga', () =>
      run('npm', ['install', ...npmFlags, starter], folder),
    );
    const projects = await report('create a project of each template', () =>
      createProjects(folder),
    );
    await report('install the projects', () => run('npm', ['install', ...npmFlags], folder));
    await report('check the types of the projects', () => checkTypes(folder, projects));
    await report('lint the projects', () => lint(folder, projects));
    const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
    await report('test the projects', () => run(process.execPath, [vitest, 'run'], folder));
    await report('start the projects and call their tools', () => callTools(projects));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Installs the packages in an empty folder with a package manager, and calls the first tool. */
async function checkFirstTool(
  manager: string,
  [executable, ...args]: readonly [string, ...string[]],
  runtime?: readonly [string, ...string[]],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `mcp-saga-${manager}-`));
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    await writeFile(join(folder, '.npmrc'), `@mcp-saga:registry=${registry.url}\n`);
    // pnpm fails until each build script is allowed or denied.
    await writeFile(join(folder, 'pnpm-workspace.yaml'), 'allowBuilds:\n  esbuild: false\n');
    await cp(fileURLToPath(new URL('first', import.meta.url)), join(folder, 'first'), {
      recursive: true,
    });
    await report(`install with ${manager}`, () => run(executable, args, folder));
    await report(`call the first tool, installed with ${manager}`, async () => {
      const { output, note } = await callFirstTool(folder, runtime);
      if (note !== 'Buy milk') throw new Error(`The first tool wrote '${note}':\n${output}`);
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @throws Error if the root's package.json does not say where the project is */
async function assertAddresses(): Promise<void> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const missing = ['repository', 'homepage', 'bugs'].filter((field) => !manifest[field]);
  if (missing.length === 0) return;
  console.error(
    `Cannot publish: set ${missing.join(', ')} in the package.json of the repository's root.`,
  );
  process.exit(1);
}

/** Prints how long a part took. */
async function report<T>(part: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  console.log(`${part}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}
