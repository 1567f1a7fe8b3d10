import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { called, commandOf, isolate, toArguments } from './inspector.ts';
import type { Peer, Way } from './peer.ts';
import { type Load, runPeer } from './run-peer.ts';

interface Main {
  readonly runCli: (argv: readonly string[]) => Promise<void>;
}

const home = await mkdtemp(join(tmpdir(), 'inspector-'));
isolate(home);

/**
 * Connects the Inspector's `--cli`, which uses a new connection for each call and cannot be asked
 * questions.
 */
async function connect({ target, era }: Way, load: Load): Promise<Peer> {
  const file = '@modelcontextprotocol/inspector/clients/cli/build/index.js';
  const cli = commandOf(((await load(file)) as Main).runCli, ['--format', 'json', '--quiet']);
  const how = ['--protocol-era', era === 'modern' ? 'auto' : 'legacy', '--method', 'tools/call'];
  return {
    asked: [],
    call: async (tool, args) => {
      const what = ['--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
      const { result } = await cli([...how, ...what, ...toArguments(target)]);
      return called(result);
    },
    close: async () => undefined,
  };
}

runPeer(connect, () => rm(home, { recursive: true }));
