/**
 * `pnpm check [NAME …]`: what a compiler or a linter can know of the code and the docs. Two checks
 * run at a time. Prints a line for each, and the output of those that fail.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const projects = [
  'test/tsconfig.json',
  'packages/studio/test',
  'test/readme/services',
  'test/readme/whole',
  'docs',
  'packages/create-mcp-saga/test/templates',
];

/** Commands of each check, which run one after the other. */
const checks = {
  types: ['tsc -b', ...projects.map((project) => `tsc -p ${project}`)],
  lint: ['oxlint --type-aware --deny-warnings'],
  docs: ['tsx test/docs/gates/check.ts'],
  architecture: ['vitest run --project architecture'],
  unused: ['knip --no-config-hints'],
  format: ['oxfmt --check .'],
};

const names = process.argv.slice(2);
for (const name of names)
  if (!Object.hasOwn(checks, name))
    throw new Error(`There is no check '${name}'. The checks: ${Object.keys(checks).join(', ')}`);
const pending = names.length > 0 ? names : Object.keys(checks);
await Promise.all([runPending(), runPending()]);

async function runPending() {
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) await run(name);
}

async function run(name) {
  const start = performance.now();
  const outputs = [];
  let isGood = true;
  for (const command of checks[name]) {
    const { code, output } = await ended(command);
    isGood &&= code === 0;
    outputs.push(output);
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${isGood ? 'ok  ' : 'FAIL'}  ${name}  ${seconds} s`);
  if (isGood) return;
  console.log(outputs.join('\n'));
  process.exitCode = 1;
}

async function ended(command) {
  const [program, ...args] = command.split(' ');
  const file = fileURLToPath(new URL(`../node_modules/.bin/${program}`, import.meta.url));
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  const [code, ...output] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, output: output.join('') };
}
