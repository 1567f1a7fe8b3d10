import { fork } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { installPeers } from './peers/install.ts';
import { figures } from './figures.ts';
import { writePages } from './report/write-pages.ts';
import { writeResults } from './report/results.ts';
import { rows } from './rows/rows.ts';
import { toResults, toTable, type Result } from './table.ts';
import type { Finding } from './row.ts';

// `pnpm bench`, or `pnpm bench <row> …`. With `--write`, the results go into
// MEASUREMENTS.md and docs/operate/performance.md. Node runs the rows from bundles, because the TypeScript loader wraps
// functions to keep their names, and users of the library do not pay that cost.
const folder = import.meta.dirname;
const cache = join(folder, 'node_modules', '.cache');
const { values: flags, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const names = positionals.length === 0 ? Object.keys(rows) : positionals;
const unknown = names.filter((name) => rows[name] === undefined);
if (unknown.length > 0) {
  console.error(
    `There is no row ${unknown.join(', ')}. There are: ${Object.keys(rows).join(', ')}.`,
  );
  process.exit(2);
}

const peers = names.some((name) => name === 'replay' || name === 'resume')
  ? installPeers(cache)
  : undefined;
const file = join(cache, 'run-row.mjs');
await build({
  entryPoints: [join(folder, 'run-row.ts')],
  outfile: file,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['@modelcontextprotocol/server', 'esbuild', 'pg', 'redis', 'vitest', 'zod'],
  logLevel: 'error',
});

// Every run must reach the goal.
const runs = 3;

const results: Result[] = [];
for (const name of names) {
  const found: (readonly Finding[])[] = [];
  for (let count = 1; count <= runs; count += 1) {
    process.stderr.write(`${name}, ${count} of ${runs} …\n`);
    found.push(await run(name));
  }
  results.push(...toResults(found));
  // A stopped bench keeps the results measured so far.
  if (flags.write) writeResults(Object.keys(figures), results);
}
console.log(`Node ${process.version}, processor times, ${runs} runs in processes of their own.\n`);
console.log(toTable(results));
if (flags.write) writePages();

async function run(name: string): Promise<readonly Finding[]> {
  const child = fork(file, [name, peers ?? ''], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as readonly Finding[]));
    child.once('exit', () => reject(new Error(`The row '${name}' ended without a figure`)));
  });
}
