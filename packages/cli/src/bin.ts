#!/usr/bin/env node
/** `mcp-saga`. */
import { spawn } from 'node:child_process';
import { Console } from 'node:console';
import type { WriteStream } from 'node:tty';
import { problemOfNode } from './node-version.ts';
import type { TerminalLooks } from './terminal-text.ts';

const { stdin: input, stdout: output, stderr, env: environment } = process;
// Some terminals, such as serial lines, have no size.
if (output.columns === 0) output.columns = 80;
// Standard output has only the result of the command, and not the log of the user's code.
globalThis.console = new Console(stderr);
const print = (text: string): unknown => output.write(`${text}\n`);
const printError = (text: string): unknown => stderr.write(`${text}\n`);
const args = process.argv.slice(2);
const isJson = args.includes('--json');
const problem = problemOfNode(process.versions.node);
if (problem !== undefined) {
  if (isJson) print(JSON.stringify({ error: { code: 'failed', message: problem } }));
  else printError(problem);
  process.exit(1);
}
// An older Node cannot even load the modules of the program.
const { main } = await import('./main.ts');
const { commandIn, loadsUserCode } = await import('./commands/commands.ts');
let isDone = false;
process.on('exit', (status) => {
  if (isDone || status !== 0) return;
  const message = 'The code in the file ended the process, so the command has no result.';
  if (isJson) print(JSON.stringify({ error: { code: 'failed', message } }));
  else printError(message);
  process.exitCode = 1;
});
const stopped = new AbortController();
const command = await commandIn(args)?.load();
const { closesWithinMs, servesUntilInterrupted = false } = command ?? {};
// A server runs in a worker, which somebody may kill.
const isHelp = args.includes('--help') || args.includes('-h');
const supervising = servesUntilInterrupted && !isHelp ? await import('./supervise.ts') : undefined;
const isWorker = supervising?.isWorker === true;
if (supervising?.isWorker === false) {
  const status = await supervising.supervise(2_000);
  isDone = true;
  process.exit(status);
}
const runsUserCode = command !== undefined && loadsUserCode(command, args);
// Without a handler, Ctrl-C ends the process at once. This must stay so for a command that has
// nothing to close and runs code of the user, because endless code would never reach a handler. With
// `--json`, the other commands report that they were stopped.
const stop = (): void => {
  stopped.abort();
  // What stays open, such as a server over stdio, must not hold the process for longer. Another
  // Ctrl-C ends at once.
  setTimeout(() => process.exit(130), closesWithinMs ?? 6_000).unref();
};
if (closesWithinMs !== undefined || (isJson && !runsUserCode)) process.once('SIGINT', stop);
const supervisor = isWorker ? await supervising?.supervisorOf(stop) : undefined;
// A command that handles Ctrl-C and runs code of the user could be stuck in endless code. The
// terminal sends Ctrl-C to a second process, too, which then kills this one. It gets no
// NODE_OPTIONS, because they may load code of the user. A worker has its supervisor for that.
const ending = `process.on('SIGINT', () => setTimeout(() => process.kill(${process.pid}, 'SIGKILL'), 2_000));
process.stdin.resume().on('end', () => process.exit())`;
if (closesWithinMs !== undefined && runsUserCode && !isWorker)
  spawn(process.execPath, ['-e', ending], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { ...environment, NODE_OPTIONS: '' },
  });
// The reader has gone, as with `mcp-saga … | head`.
output.on('error', () => process.exit(141));
const looksOf = (stream: WriteStream): TerminalLooks | undefined =>
  // `hasColors` respects NO_COLOR.
  stream.isTTY ? { columns: stream.columns, hasColors: stream.hasColors() } : undefined;
const code = await main(args, {
  input,
  output,
  isInteractive: input.isTTY && output.isTTY,
  environment,
  signal: stopped.signal,
  ...(supervisor === undefined ? {} : { supervisor }),
  print,
  printError,
  looks: { output: looksOf(output), errors: looksOf(stderr) },
});
isDone = true;
// Modules of the user may hold connections, which keep the process running.
output.write('', (error) => stderr.write('', () => process.exit(error ? 141 : code)));
