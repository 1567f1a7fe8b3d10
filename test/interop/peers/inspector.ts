import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compileCache } from '../support/run-in-node.ts';
import {
  type Called,
  type Json,
  type Peer,
  type Target,
  type ToolResult,
  userAnswers,
  type Way,
} from './peer.ts';

const run = promisify(execFile);

/** Runs one command of the Inspector, and returns its JSON output. */
type Command = (args: readonly string[]) => Promise<Json>;

interface Pending {
  readonly elicitationPending?: { readonly elicitationId: string; readonly message: string };
}

/**
 * The Inspector's `mcpdo`: a daemon holds the connection, and with it a call that waits for its
 * user, who answers with a command of its own.
 */
export async function connectMcpdo(
  command: readonly [node: string, script: string],
  { target, era, elicitation }: Way,
): Promise<Peer> {
  const home = await mkdtemp(join(tmpdir(), 'mcpdo-'));
  const mcpdo = commandOf(command, ['--format', 'json'], home);
  const close = async (): Promise<void> => {
    await mcpdo(['daemon', 'stop']);
    // The daemon may still write to its folder.
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  const asked: string[] = [];
  try {
    const how = [
      '--era',
      era === 'modern' ? 'auto' : 'legacy',
      '--elicit',
      elicitation ? 'form' : 'off',
    ];
    const { name } = await mcpdo(['connect', ...how, ...toArguments(target)]);
    return {
      asked,
      call: async (tool, args) => {
        let said = await mcpdo([
          '--connection',
          String(name),
          'tools/call',
          tool,
          JSON.stringify(args),
        ]);
        for (;;) {
          const { elicitationPending: pending } = said as Pending;
          if (pending === undefined) return called(said);
          asked.push(pending.message);
          const answer = JSON.stringify(userAnswers[pending.message]);
          said = await mcpdo(['elicitation/respond', pending.elicitationId, answer]);
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Connects the Inspector's `--cli`, which uses a new connection for each call and cannot be asked
 * questions.
 */
export async function connectCli(
  command: readonly [node: string, script: string],
  { target, era }: Way,
): Promise<Peer> {
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  const cli = commandOf(command, ['--cli', '--format', 'json', '--quiet'], home);
  const how = ['--protocol-era', era === 'modern' ? 'auto' : 'legacy', '--method', 'tools/call'];
  return {
    asked: [],
    call: async (tool, args) => {
      const what = ['--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
      const { result } = await cli([...how, ...what, ...toArguments(target)]);
      return called(result);
    },
    close: () => rm(home, { recursive: true }),
  };
}

function commandOf(
  [node, script]: readonly [node: string, script: string],
  flags: readonly string[],
  home: string,
): Command {
  // Isolates the test from the developer's Inspector settings, servers, and secrets.
  const own = { HOME: home, MCP_STORAGE_DIR: home, MCP_INSPECTOR_SECRET_STORE: 'file' };
  const env = { ...process.env, ...compileCache, ...own };
  return async (args) => {
    try {
      const { stdout } = await run(node, [script, ...flags, ...args], { env, timeout: 30_000 });
      return JSON.parse(stdout) as Json;
    } catch (error) {
      // The command also prints error results.
      const { stdout } = error as { readonly stdout?: string };
      if (stdout === undefined || stdout.trim() === '') throw error;
      return JSON.parse(stdout) as Json;
    }
  };
}

function toArguments(target: Target): readonly string[] {
  if ('url' in target) return [target.url];
  const env = Object.entries(target.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return [...env, '--', target.command, ...target.args];
}

function called(result: unknown): Called {
  return { result: result as ToolResult, shown: JSON.stringify(result) };
}
