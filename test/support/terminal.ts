import { type Command, start } from './command.ts';

/**
 * Starts a Node script in a pseudo-terminal with the `script` command of util-linux or macOS.
 * `process.stdin.isTTY` is `true` there, and data written to `stdin` is typed. Fails if there is no
 * `script` command.
 */
export function startInTerminal(
  args: readonly string[],
  env: { readonly [name: string]: string | undefined } = {},
): Command {
  // A pseudo-terminal has no default size.
  const command = `stty cols 100 rows 40; exec ${[process.execPath, ...args].map(quoted).join(' ')}`;
  const own =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', 'sh', '-c', command]
      : ['--quiet', '--flush', '--return', '--command', command, '/dev/null'];
  return start('script', own, { TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env });
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`;
}
