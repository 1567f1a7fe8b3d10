import { continueAs, elicitUrl, saga, step } from '@mcp-saga/server';
import type { Client as ClientV2 } from '@modelcontextprotocol/client';
import type { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitationCompleteNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { toCallResult } from '../fixtures/calling.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';

const byUrl = { elicitation: { url: {} } };

const paying = saga({ name: 'paying', version: '1' }, function* () {
  yield* elicitUrl('pay', { message: 'Pay here', url: 'https://pay.example/1' });
  yield* step('check', () => 'paid');
  yield* elicitUrl.complete('pay');
  return 'paid';
});

const paysLater = saga({ name: 'pays_later', version: '1' }, function* () {
  return yield* continueAs(paying, {});
});

/** Records the IDs of completed pages, with a client of either version. */
function watch(client: ClientV1 | ClientV2): string[] {
  const told: string[] = [];
  const note = ({ params }: { readonly params: { readonly elicitationId: string } }): void =>
    void told.push(params.elicitationId);
  const watching = client as unknown as {
    setNotificationHandler(...args: readonly unknown[]): void;
  };
  watching.setNotificationHandler(
    'getProtocolEra' in client
      ? 'notifications/elicitation/complete'
      : ElicitationCompleteNotificationSchema,
    note,
  );
  return told;
}

test.each(connections.filter(({ stateless }) => stateless !== true))(
  '[W1] a client of MCP 2025-11-25 in a session is told that a page is done, by the ID of its question: $name',
  async ({ name, connect }) => {
    const { host } = hostOf([paying, paysLater]);
    const { client, close } = await connect(host, { capabilities: byUrl });
    const asked: string[] = [];
    answerBy(client, {
      elicit: (params) => {
        asked.push((params as unknown as { readonly elicitationId: string }).elicitationId);
        return { action: 'accept' };
      },
    });
    const told = watch(client);
    for (const tool of ['paying', 'pays_later'])
      expect(toCallResult(await client.callTool({ name: tool, arguments: {} })).text).toBe('paid');
    expect(asked).toHaveLength(2);
    // MCP 2026-07-28 has no such notification.
    expect(told).toEqual(name.includes('2026') ? [] : asked);
    await close();
  },
);
