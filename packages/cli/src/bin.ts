#!/usr/bin/env node
/** `mcp-saga`. */
import { spawn } from 'node:child_process';
import { Console } from 'node:console';
import { problemOfNode } from './node-version.ts';

const { stdin: input, stdout: output, stderr, env: environment } = process;
// Some terminals, such as serial lines, have no size.
if (output.columns === 0) output.columns = 80;
// Standard output has only the result of the command, and not the log of the user's code.
globalThis.console = new Console(stderr);
const print = (text: string): unknown => output.write(`${text}\n`);
const printError = (text: string): unknown => stderr.write(`${text}\n`);
const [, , name = ''] = process.argv;
const isJson = process.argv.includes('--json');
const problem = problemOfNode(process.versions.node);
if (problem !== undefined) {
  if (isJson) print(JSON.stringify({ error: { code: 'failed', message: problem } }));
  else printError(problem);
  process.exit(1);
}
// An older Node cannot even load the modules of the program.
const { main } = await import('./main.ts');
let isDone = false;
process.on('exit', (status) => {
  if (isDone || status !== 0) return;
  const message = 'The code in the file ended the process, so the command has no result.';
  if (isJson) print(JSON.stringify({ error: { code: 'failed', message } }));
  else printError(message);
  process.exitCode = 1;
});
const stopped = new AbortController();
// Commands that run code of the user have nothing to close, and end at once, also in endless code.
const runsFile =
  /^(?:test|crash|replay|graph)$/.test(name) || process.argv.some((arg) => /^--host\b/.test(arg));
if (/^(?:call|dev)$/.test(name) || (isJson && !runsFile))
  process.once('SIGINT', () => {
    stopped.abort();
    // A task of `call` is cancelled within five seconds. Another Ctrl-C ends at once.
    setTimeout(() => process.exit(130), name === 'dev' ? 1_000 : 6_000).unref();
  });
// The terminal sends Ctrl-C to a second process, too, to end endless code in `dev`. NODE_OPTIONS
// may load code of the user.
const ending = `process.on('SIGINT', () => setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), 2_000));
process.stdin.resume().on('end', () => process.exit())`;
const env = { ...environment, NODE_OPTIONS: '' };
if (name === 'dev')
  spawn(process.execPath, ['-e', ending], { stdio: ['pipe', 'ignore', 'ignore'], env });
// The reader has gone, as with `mcp-saga … | head`.
output.on('error', () => process.exit(141));
const code = await main(process.argv.slice(2), {
  input,
  output,
  isInteractive: input.isTTY && output.isTTY,
  environment,
  signal: stopped.signal,
  print,
  printError,
});
isDone = true;
// Modules of the user may hold connections, which keep the process running.
output.write('', (error) => stderr.write('', () => process.exit(error ? 141 : code)));
