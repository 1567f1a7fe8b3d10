#!/usr/bin/env node
/** `npm create mcp-saga`. */
import { problemOfNode } from './node-version.ts';

const problem = problemOfNode(process.versions.node);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
// An older Node cannot even load the modules of the program.
const { main } = await import('./main.ts');
// Some terminals, such as serial lines, have no size.
if (process.stdout.columns === 0) process.stdout.columns = 80;
process.exitCode = await main(process.argv.slice(2), {
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  print: (text) => process.stdout.write(`${text}\n`),
  printError: (text) => process.stderr.write(`${text}\n`),
  userAgent: process.env['npm_config_user_agent'],
});
