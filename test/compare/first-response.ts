import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from '@mcp-saga/server';
import { node } from '../runtimes/runtime.ts';
import { install } from '../support/install.ts';
import type { Contender } from './contender.ts';
import { contenders } from './contenders.ts';
import { writePage } from './page.ts';
import { Provider, serveProvider } from './provider.ts';
import { play, type Outcome } from './scenario.ts';
import { startProcess } from './start-process.ts';
import { faults, toTables, type Row } from './tables.ts';

// Mastra and the AI SDK need Node 22 or later, which also runs TypeScript.
const server = node('24.21.0');

/** Contenders that run at a time. Two of them wait most of the time. */
const lanes = 4;

/** Plays each fault with each contender, prints the tables, and writes the page. */
export async function compareFirstResponse(): Promise<void> {
  console.log(
    'The compared libraries are installed once, into node_modules/.cache/compare (270 MB): they ' +
      'are too large for the workspace. Two runs wait half a minute for the lease of a dead process.',
  );
  const executable = await server.executable();
  const rows: Row[] = [];
  const pending = contenders.map((contender, index) => async (): Promise<void> => {
    rows[index] = await rowOf(contender, executable);
    console.error(contender.name);
  });
  // The last contenders come first: some wait for a lease, and the others go on meanwhile.
  pending.reverse();
  const runPending = async (): Promise<void> => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) await next();
  };
  await Promise.all(Array.from({ length: lanes }, runPending));
  const tables = toTables(rows);
  console.log(tables);
  if (rows.some(({ notRun }) => notRun !== undefined)) {
    console.log('The page is not written, since contenders are missing.');
    process.exitCode = 1;
  } else await writePage(tables, server.version, new Date());
}

const installs = new Map<string, Promise<string>>();

/** Installs packages for the first contender that needs them. Returns their folder, if any. */
async function installOnce(packages: readonly string[]): Promise<string> {
  if (packages.length === 0) return '';
  const name = packages.join(' ');
  const installed = installs.get(name) ?? install('compare', ...packages);
  installs.set(name, installed);
  return await installed;
}

/** Plays all faults with a contender. */
async function rowOf(contender: Contender, executable: string): Promise<Row> {
  const outcomes: Outcome[] = [];
  try {
    const installed = await installOnce(contender.packages ?? []);
    for (const { fault } of faults)
      outcomes.push(await playInProcesses(contender, fault, executable, installed));
    return { contender, outcomes };
  } catch (error) {
    return { contender, outcomes, notRun: (error as Error).message };
  }
}

/** Plays a fault with servers in processes of their own, which share a database and keys. */
async function playInProcesses(
  contender: Contender,
  fault: (typeof faults)[number]['fault'],
  executable: string,
  packages: string,
): Promise<Outcome> {
  const provider = new Provider();
  const { url, stop } = await serveProvider(provider);
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-compare-'));
  const options = {
    name: contender.name,
    provider: url,
    database: join(folder, 'kept.db'),
    keys: generateKey(),
    packages,
  };
  try {
    const start = () => startProcess(executable, options);
    return await play(contender, fault, { provider, start });
  } finally {
    stop();
    await rm(folder, { recursive: true });
  }
}
