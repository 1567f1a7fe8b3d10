import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { bundleForNode, runBundles } from '../../../../test/support/bundle-for-node.ts';

const server = new URL('../fixtures/stdio-server.ts', import.meta.url).pathname;
beforeAll(() => bundleForNode(server));

describe.each(['1', '2'])(
  'a client that dies while its user is asked over stdio, version %s',
  (version) => {
    test('[E3] has its saga undone before the process of the server ends', async () => {
      const child = spawn(process.execPath, [...runBundles, server, version]);
      const said = text(child.stderr);
      const say = (message: object): void =>
        void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: {} },
        clientInfo: { name: 'c', version: '1' },
      };
      say({ id: 0, method: 'initialize', params });
      say({ method: 'notifications/initialized' });
      say({ id: 1, method: 'tools/call', params: { name: 'order', arguments: {} } });
      for await (const line of child.stdout) if (String(line).includes('elicitation/create')) break;
      // A dead process has neither end of its pipes.
      child.stdin.destroy();
      child.stdout.destroy();
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect((await said).trim().split('\n')).toEqual(['hold', 'release']);
    });
  },
);
