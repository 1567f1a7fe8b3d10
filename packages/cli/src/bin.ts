#!/usr/bin/env node
/** `mcp-saga`. */
import { main } from './main.ts';

const { stdin: input, stdout: output, stderr, env: environment } = process;
// Some terminals, such as serial lines, have no size.
if (output.columns === 0) output.columns = 80;
const stopped = new AbortController();
process.once('SIGINT', () => stopped.abort());
// The reader has gone, as with `mcp-saga … | head`.
output.on('error', () => process.exit(141));
const code = await main(process.argv.slice(2), {
  input,
  output,
  isInteractive: input.isTTY && output.isTTY,
  environment,
  signal: stopped.signal,
  print: (text) => output.write(`${text}\n`),
  printError: (text) => stderr.write(`${text}\n`),
});
// Modules of the user may hold connections, which keep the process running.
output.write('', () => stderr.write('', () => process.exit(code)));
