import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { start } from '../support/command.ts';
import { run } from './run.ts';

/**
 * Starts the newcomer's first tool and calls it with the official client, which its user answers.
 *
 * @param folder - project that installed the packages; `first` holds the tool
 * @param runtime - executable and its arguments in front of a file
 * @param by - calls the tool at an address, and returns what it printed: by default the official
 * client
 * @returns what the client printed, and the note that the tool has written
 */
export async function callFirstTool(
  folder: string,
  runtime: readonly [executable: string, ...args: string[]] = [process.execPath, '--import', 'tsx'],
  by?: (url: string) => Promise<string>,
): Promise<{ readonly output: string; readonly note: string }> {
  const [executable, ...args] = runtime;
  const file = (name: string): string[] => [...args, join('first', name)];
  // If TEST is set, srvx does not print its address.
  const env = { PORT: '0', NODE_ENV: 'development', TEST: undefined };
  const server = start(executable, file('server.ts'), env, folder);
  try {
    const [, url = ''] = await server.printed(/Listening on: (\S+)/);
    const address = `${url}mcp`;
    const output = await (by?.(address) ??
      run(executable, [...file('client.ts'), address], folder));
    const note = join(folder, 'note.txt');
    const text = await readFile(note, 'utf8');
    await rm(note);
    return { output, note: text };
  } finally {
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
  }
}
