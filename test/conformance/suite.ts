import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { node } from '../runtimes/runtime.ts';

/** One check of a scenario, as the suite writes it down. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly description?: string;
  readonly errorMessage?: string;
  /** Details of the check, such as the result of a tool. */
  readonly details?: {
    readonly result?: { readonly isError?: boolean; readonly content?: unknown };
  };
}

/** How the suite went. */
export interface Report {
  /** The checks of each scenario that was run. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
  /** What the suite printed. */
  readonly output: string;
}

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

// The suite calls globSync, which Node 20 does not have.
const { executable } = node('22.23.3');

/** Installs the runtime that the suite needs, unless it is there. */
export async function prepareSuite(): Promise<void> {
  await executable();
}

/**
 * Runs the whole official suite against a server, in one process.
 *
 * @param version - the specification whose scenarios are run, and spoken. Default: each scenario at
 * its own, extensions included
 */
export async function runSuite(url: string, version?: string): Promise<Report> {
  const spoken = version === undefined ? [] : ['--spec-version', version];
  return await report(url, ['--suite', 'all', ...spoken]);
}

/** Runs one scenario of the official suite against a server. */
export async function runScenario(scenario: string, url: string): Promise<Report> {
  return await report(url, ['--scenario', scenario], [scenario]);
}

async function report(
  url: string,
  what: readonly string[],
  only?: readonly string[],
): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const args = [suite, 'server', '--url', url, ...what, '--output-dir', folder];
    const output = await run(await executable(), args);
    const names = only ?? scenariosIn(output);
    const written = await readdir(folder);
    const reports = names.map(async (name) => {
      // Folders are named by scenario and time.
      const results = written.find((entry) => entry.startsWith(`server-${name}-20`));
      return [name, results === undefined ? [] : await readChecks(join(folder, results))] as const;
    });
    return { scenarios: new Map(await Promise.all(reports)), output };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The scenarios that the suite says it runs. */
function scenariosIn(output: string): readonly string[] {
  return [...output.matchAll(/^=== Running scenario: (\S+) ===$/gm)].map(([, name = '']) => name);
}

function run(file: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    execFile(file, args, { env, maxBuffer: 64 * 1024 * 1024 }, (_, stdout, stderr) => {
      resolve(stripVTControlCharacters(stdout + stderr));
    });
  });
}

/** Reads the checks of one scenario; empty if it threw early. */
async function readChecks(folder: string): Promise<readonly Check[]> {
  try {
    return JSON.parse(await readFile(join(folder, 'checks.json'), 'utf8')) as Check[];
  } catch {
    return [];
  }
}
