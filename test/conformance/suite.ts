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
  /** What it looked at; the answer of a tool, where it was one. */
  readonly details?: { readonly result?: { readonly isError?: boolean; readonly content?: unknown } };
}

/** How a scenario went. */
export interface Report {
  readonly exitCode: number;
  readonly checks: readonly Check[];
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

/** Runs one scenario of the official suite against a server. */
export async function runScenario(scenario: string, url: string): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const args = [suite, 'server', '--url', url, '--scenario', scenario, '--output-dir', folder];
    const { exitCode, output } = await run(await executable(), args);
    return { exitCode, output, checks: await readChecks(folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function run(file: string, args: readonly string[]): Promise<Pick<Report, 'exitCode' | 'output'>> {
  return new Promise((resolve) => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const child = execFile(file, args, { env, maxBuffer: 64 * 1024 * 1024 }, (_, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, output: stripVTControlCharacters(stdout + stderr) });
    });
  });
}

/** Reads the results of the one scenario that was run; none where the suite ended before it had any. */
async function readChecks(folder: string): Promise<readonly Check[]> {
  const [results] = await readdir(folder);
  if (results === undefined) return [];
  try {
    return JSON.parse(await readFile(join(folder, results, 'checks.json'), 'utf8')) as Check[];
  } catch {
    return [];
  }
}
