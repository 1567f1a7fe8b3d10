import { fork } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { installPeers } from './peers/install.ts';
import { rows } from './rows/rows.ts';
import { toTable } from './table.ts';
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

const findings: Finding[] = [];
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  // oxlint-disable-next-line no-await-in-loop -- two at once would measure each other
  findings.push(...(await run(name)));
}
console.log(toTable(findings));

async function run(name: string): Promise<readonly Finding[]> {
  const child = fork(file, [name, peers ?? ''], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as readonly Finding[]));
    child.once('exit', () => reject(new Error(`The row '${name}' ended without a figure`)));
  });
}
