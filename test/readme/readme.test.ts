import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createSagaHost, generateKey, memoryQueue, memoryStore } from '@mcp-saga/server';
import { describe, expect, it, vi } from 'vitest';
import { api } from './api.ts';
import { deployWeb } from './client.ts';
import { shipAll } from './parcels.ts';
import { happened } from './shop.ts';
import { takeTurns } from './turns.ts';
import { buy } from './undo.ts';
import { expectLogs } from '../support/logs.ts';
import { rejectionLog } from '../support/known-logs.ts';

describe('the code of the README and the guides', () => {
  it('ships each item of a loop with its own key', async () => {
    const host = createSagaHost({ sagas: [shipAll], keys: generateKey(), name: 'shop' });
    const items = [{ id: 'a' }, { id: 'b' }];
    expect(await host.start('ship-all', { items })).toMatchObject({ result: 'Shipped 2.' });
  });

  it('[P2] runs its saga in turns on two hosts that share only the key', async () => {
    api.released.clear();
    const said = vi.spyOn(console, 'log').mockReturnValue();
    const turn = await takeTurns(generateKey());
    expect(said).toHaveBeenCalledWith('Where shall web go?');
    said.mockRestore();
    expect(turn).toMatchObject({
      status: 'completed',
      result: 'Released web-production-1 to production.',
    });
  });

  it('serves its saga, and its client keeps the input of the user after an error', async () => {
    expectLogs(rejectionLog('malformed'));
    api.released.clear();
    vi.stubEnv('SAGA_KEYS', generateKey());
    const { default: sagas } = await import('./serve.ts');
    const client = new Client(
      { name: 'reader', version: '1' },
      { capabilities: { elicitation: {}, sampling: {} }, versionNegotiation: { mode: 'auto' } },
    );
    client.setRequestHandler('sampling/createMessage', async () => ({
      role: 'assistant',
      model: 'any',
      content: { type: 'text', text: 'Yes, all is green' },
    }));
    let online = true;
    const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
      online ? sagas.fetch(new Request(url, init)) : Promise.reject(new TypeError('offline'));
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
    );
    const drawer = new Map<string, string>();
    const elicitation = vi.fn(() => {
      online = false;
      return { action: 'accept', content: { target: 'production' } } as const;
    });
    // The user leaves the question open.
    const left = new AbortController();
    const leave = (): Promise<never> => {
      left.abort();
      return new Promise(() => undefined);
    };
    await expect(
      deployWeb(client, { elicitation: leave }, drawer, left.signal),
    ).rejects.toMatchObject({
      code: 'saga_call_aborted',
    });
    expect(drawer.size).toBe(1);
    const { signal } = new AbortController();
    await expect(deployWeb(client, { elicitation }, drawer, signal)).rejects.toThrow('offline');
    expect(drawer.size).toBe(1);
    online = true;
    const forget = new Map(drawer);
    expect(await deployWeb(client, { elicitation }, drawer, signal)).toMatchObject({
      content: [{ type: 'text', text: 'Released web-production-1 to production.' }],
    });
    // The answer was kept, so the user was asked once; and the next deployment is a new one.
    expect(elicitation).toHaveBeenCalledTimes(1);
    expect(drawer.size).toBe(0);
    // A saga that is over is not kept again.
    vi.stubEnv('SAGA_KEYS', generateKey());
    forget.set(
      'deploy',
      (forget.get('deploy') ?? '').replace(/"sagaToken":"[^"]*/, '"sagaToken":"over'),
    );
    await expect(deployWeb(client, { elicitation }, forget, signal)).rejects.toMatchObject({
      code: 'saga_gone',
    });
    expect(forget.size).toBe(0);
    await client.close();
    vi.unstubAllEnvs();
  });

  const accept = (sure: boolean) => [
    { stepId: 'sure', result: { action: 'accept', content: { sure } } } as const,
  ];

  it('[E3] [E5] undoes the charge if the user declines, and nothing after shipping', async () => {
    expectLogs(rejectionLog('used'));
    happened.length = 0;
    const host = createSagaHost({
      sagas: [buy],
      keys: generateKey(),
      name: 'shop',
      store: memoryStore(),
    });
    const one = await host.start('buy', {});
    if (one.status !== 'suspended') throw new Error('not asked');
    expect(await host.resume(one.token, accept(false))).toMatchObject({
      compensated: [{ stepId: 'charge' }],
    });
    const two = await host.start('buy', {});
    if (two.status !== 'suspended') throw new Error('not asked');
    expect(await host.resume(two.token, accept(true))).toMatchObject({ result: 'On its way' });
    expect(happened).toEqual(['charge 9', 'refund', 'charge 9', 'ship', 'Thank you']);
    await expect(host.resume(two.token, accept(false))).rejects.toThrow(
      'Invalid or expired sagaToken',
    );
  });

  it('[E8] undoes an abandoned saga by a queue', async () => {
    happened.length = 0;
    let time = 1_000_000;
    const clock = (): number => time;
    const queue = memoryQueue();
    const host = createSagaHost({
      sagas: [buy],
      keys: generateKey(),
      name: 'shop',
      store: memoryStore({ clock }),
      queue,
      testing: { clock },
    });
    const one = await host.start('buy', {});
    if (one.status !== 'suspended') throw new Error('not asked');
    await host.resume(one.token, accept(true));
    const left = await host.start('buy', {});
    if (left.status !== 'suspended') throw new Error('not asked');
    expect(queue.size).toBe(1);
    time = left.expiresAt;
    await queue.deliverDue();
    // Until its token has expired everywhere, the client may still answer.
    expect(happened).toEqual(['charge 9', 'ship', 'Thank you', 'charge 9']);
    time += 60_000;
    await queue.deliverDue();
    expect(queue.size).toBe(0);
    expect(happened).toEqual(['charge 9', 'ship', 'Thank you', 'charge 9', 'refund']);
  });

  it('attaches its saga to a server of the SDK', async () => {
    vi.stubEnv('SAGA_KEYS', generateKey());
    const { createServer } = await import('./attach.ts');
    expect(createServer().server.getCapabilities().extensions).toHaveProperty(
      'io.github.mcp-saga/saga',
    );
    vi.unstubAllEnvs();
  });
});
