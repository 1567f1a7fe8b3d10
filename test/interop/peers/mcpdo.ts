import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { called, commandOf, isolate, toArguments } from './inspector.ts';
import { type Peer, userAnswers, type Way } from './peer.ts';
import { type Load, runPeer } from './run-peer.ts';

interface Main {
  readonly runMcp: (argv: readonly string[]) => Promise<void>;
}
interface Pending {
  readonly elicitationPending?: { readonly elicitationId: string; readonly message: string };
}

const home = await mkdtemp(join(tmpdir(), 'mcpdo-'));
isolate(home);
let stopDaemon = async (): Promise<void> => undefined;

/**
 * Connects the Inspector's `mcpdo`: a daemon holds the connection, and with it a call that waits for
 * its user, who answers with a command of its own.
 */
async function connect({ target, era, elicitation }: Way, load: Load): Promise<Peer> {
  const file = '@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js';
  const mcpdo = commandOf(((await load(file)) as Main).runMcp, ['--format', 'json']);
  stopDaemon = async () => void (await mcpdo(['daemon', 'stop']));
  const how = [
    '--era',
    era === 'modern' ? 'auto' : 'legacy',
    '--elicit',
    elicitation ? 'form' : 'off',
  ];
  const { name } = await mcpdo(['connect', ...how, ...toArguments(target)]);
  const connection = String(name);
  const asked: string[] = [];
  return {
    asked,
    call: async (tool, args) => {
      const what = ['tools/call', tool, JSON.stringify(args)];
      let said = await mcpdo(['--connection', connection, ...what]);
      for (;;) {
        const { elicitationPending: pending } = said as Pending;
        if (pending === undefined) return called(said);
        asked.push(pending.message);
        const answer = JSON.stringify(userAnswers[pending.message]);
        said = await mcpdo(['elicitation/respond', pending.elicitationId, answer]);
      }
    },
    close: async () => void (await mcpdo(['disconnect', connection])),
  };
}

runPeer(connect, async () => {
  await stopDaemon();
  // The daemon may still write to its folder.
  await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});
