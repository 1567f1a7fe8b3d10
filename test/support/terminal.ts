import { type Command, start } from './command.ts';

/**
 * Starts a Node script in a pseudo-terminal, by the `script` command of util-linux or of macOS: `process.stdin.isTTY`
 * holds there, and what is written to `stdin` is typed. Fails where there is no `script`.
 */
export function startInTerminal(
  args: readonly string[],
  env: { readonly [name: string]: string | undefined } = {},
): Command {
  // A pseudo-terminal has no size of its own.
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
