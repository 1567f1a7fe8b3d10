import { serveSagas } from '@mcp-saga/server/serve';
import { serve, type Server } from 'srvx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../../test/support/command.ts';
import { startInTerminal } from '../../../test/support/terminal.ts';
import { pay } from './fixtures/pay.ts';
import { advise, keys, refund } from './fixtures/sagas.ts';

let server: Server;
let url = '';

beforeAll(async () => {
  server = serve({
    ...serveSagas({ name: 'shop', version: '1', sagas: [refund, pay, advise], keys }),
    port: 0,
    hostname: '127.0.0.1',
    silent: true,
  });
  await server.ready();
  url = new URL('/mcp', server.url).href;
});
afterAll(() => server.close(true));

function call(...args: readonly string[]): Command {
  return startInTerminal(['--import', 'tsx', 'packages/cli/src/bin.ts', 'call', `--url=${url}`, ...args]);
}

describe('mcp-saga call in a terminal', () => {
  it('asks the user, and prints the result', async () => {
    const command = call('refund', '--arg=amount=9');
    await command.printed(/'confirm' asks: Refund 9\?[^]*◆ {2}sure/);
    command.stdin.write('y');
    expect(await command.ended).toMatchObject({ code: 0, output: expect.stringContaining('refunded 9') });
  });

  it.each(['saga-methods', 'tool'])(
    'asks the user, with the reason, if the server refuses an option: %s',
    async (way) => {
      const command = call('pay', '--answer=amount=0', `--as=${way}`);
      await command.printed(/Asked again: .*not free/);
      await command.printed(/◆ {2}amount/);
      command.stdin.write('0\r');
      await command.printed(/Asked again: .*not free[^]*Asked again: .*not free[^]*◆ {2}amount/);
      command.stdin.write('7\r');
      expect(await command.ended).toMatchObject({ code: 0, output: expect.stringContaining('paid 7') });
    },
  );

  it('shows the person who plays the model what the saga asks', async () => {
    const command = call('advise', '--arg=amount=9');
    await command.printed(/'opinion' asks the model: Is 9 EUR much\?[^]*You play the client's model/);
    command.stdin.write('No\r');
    expect(await command.ended).toMatchObject({ code: 0, output: expect.stringContaining('advised: No') });
  });

  it('ends at once with Ctrl-C', async () => {
    const command = call('refund', '--arg=amount=9');
    await command.printed(/◆ {2}sure/);
    command.stdin.write('\u0003');
    expect(await command.ended).toMatchObject({ code: 130 });
  });
});
