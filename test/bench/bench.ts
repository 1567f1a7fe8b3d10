import { fork } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { installPeers } from './peers/install.ts';
import { rows } from './rows/rows.ts';
import { toResults, toTable, type Result } from './table.ts';
import type { Finding } from './row.ts';

// `pnpm bench`, or `pnpm bench <row> …`. The rows are bundled and run by node alone: the loader of TypeScript wraps
// functions to keep their names, which nobody who uses the library pays for.
const folder = import.meta.dirname;
const cache = join(folder, 'node_modules', '.cache');
const names = process.argv.slice(2).length === 0 ? Object.keys(rows) : process.argv.slice(2);
const unknown = names.filter((name) => rows[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no row ${unknown.join(', ')}. There are: ${Object.keys(rows).join(', ')}.`);
  process.exit(2);
}

const peers = names.some((name) => name === 'replay' || name === 'resume') ? installPeers(cache) : undefined;
const file = join(cache, 'run-row.mjs');
await build({
  entryPoints: [join(folder, 'run-row.ts')],
  outfile: file,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['@modelcontextprotocol/server', 'esbuild', 'zod'],
  logLevel: 'error',
});

// A goal is reached if each of them reaches it.
const runs = 3;

const results: Result[] = [];
for (const name of names) {
  const found: (readonly Finding[])[] = [];
  for (let count = 1; count <= runs; count += 1) {
    process.stderr.write(`${name}, ${count} of ${runs} …\n`);
    // oxlint-disable-next-line no-await-in-loop -- two at once would measure each other
    found.push(await run(name));
  }
  results.push(...toResults(found));
}
console.log(`Node ${process.version}, processor times, ${runs} runs in processes of their own.\n`);
console.log(toTable(results));

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
