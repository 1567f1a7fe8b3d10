/**
 * `pnpm spec`: checks the model of a repeated start, as it was built and with faults, which the
 * check must find. Needs `spin` and `gcc` (Debian: `apt-get install spin gcc`).
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const model = fileURLToPath(new URL('start.pml', import.meta.url));

/** Options of the model, and whether the rules hold with them. */
const variants = [
  ['', true],
  ['QUEUE', true],
  ['DERIVED', true],
  ['NO_STORE NO_UNDO', true],
  ['NO_STORE', false],
  ['FORGETS', false],
  ['DERIVED FORGETS', false],
  ['NO_COMMIT', false],
  ['NO_FENCE', false],
];

const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-spec-'));

/** Runs a program in the folder of the check, and returns what it prints. */
function run(program, args) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined)
    throw new Error(`${program} cannot be run: install spin and gcc.`, { cause: error });
  if (status !== 0 && program !== './pan') throw new Error(`${program} failed: ${stdout}${stderr}`);
  return stdout;
}

let isRight = true;
try {
  for (const [options, holds] of variants) {
    const flags = options === '' ? [] : options.split(' ').map((name) => `-D${name}`);
    run('spin', ['-a', ...flags, model]);
    run('gcc', ['-w', '-O2', '-DSAFETY', '-o', 'pan', 'pan.c']);
    const printed = run('./pan', ['-m100000']);
    const errors = Number(/errors: (\d+)/.exec(printed)?.[1]);
    const states = Number(/([\d.e+]+) states, stored/.exec(printed)?.[1]);
    // A check that looked at nothing would hold as well.
    if (!(states > 0) || Number.isNaN(errors)) throw new Error(`Nothing was checked: ${printed}`);
    if (/search not completed|depth reached 1\d{5}/.test(printed) && errors === 0)
      throw new Error(`The search was not complete: ${printed}`);
    const isExpected = (errors === 0) === holds;
    isRight &&= isExpected;
    const verdict = errors === 0 ? 'holds' : 'is broken';
    const note = isExpected ? '' : '   NOT AS EXPECTED';
    console.log(
      `${(options || '(as built)').padEnd(20)} ${verdict.padEnd(10)} ${states} states${note}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (!isRight) process.exitCode = 1;
