import { randomBytes } from 'node:crypto';
import type { Called, Json, Target, ToolResult } from './peer.ts';

/** Runs one command of the Inspector, and returns its JSON output. */
export type Command = (args: readonly string[]) => Promise<Json>;

/**
 * Keeps the tests apart from the developer's settings, servers, and secrets of the Inspector, which
 * commands of this process then find in `home`.
 */
export function isolate(home: string): void {
  const own = {
    HOME: home,
    MCP_STORAGE_DIR: home,
    MCP_INSPECTOR_SECRET_STORE: 'file',
    // Without a key, each start prints that secrets are not encrypted.
    MCP_INSPECTOR_SECRET_KEY: randomBytes(32).toString('base64'),
  };
  Object.assign(process.env, own);
}

/**
 * A program of the Inspector, called as its executable calls it. A process for each command would
 * load the Inspector again for each.
 *
 * @param program - takes the arguments of a process
 */
export function commandOf(
  program: (argv: readonly string[]) => Promise<void>,
  flags: readonly string[],
): Command {
  return async (args) => {
    let printed = '';
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (chunk: unknown, ...rest: readonly unknown[]): boolean => {
      printed += String(chunk);
      const done = rest.at(-1);
      if (typeof done === 'function') process.nextTick(done);
      return true;
    };
    try {
      await program([process.execPath, 'inspector', ...flags, ...args]);
    } catch (error) {
      // The command also prints error results, and then throws its exit code.
      if (printed.trim() === '') throw error;
    } finally {
      process.stdout.write = write;
    }
    return JSON.parse(printed) as Json;
  };
}

/** The server as arguments of a command. */
export function toArguments(target: Target): readonly string[] {
  if ('url' in target) return [target.url];
  const env = Object.entries(target.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return [...env, '--', target.command, ...target.args];
}

/** The printed result of a tool. */
export function called(result: unknown): Called {
  return { result: result as ToolResult, shown: JSON.stringify(result) };
}
