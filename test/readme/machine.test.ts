import { callSaga, type ElicitationResult } from '@mcp-saga/client';
import { generateKey } from '@mcp-saga/server';
import { toMermaid } from '@mcp-saga/xstate';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createActor } from 'xstate';
import { api } from './api.ts';

describe('the machine of the README', () => {
  beforeEach(() => {
    api.released.clear();
    vi.stubEnv('SAGA_KEYS', generateKey());
  });
  afterEach(() => vi.unstubAllEnvs());

  async function call(answer: ElicitationResult): Promise<unknown> {
    const { default: sagas } = await import('./machine.ts');
    const client = new Client(
      { name: 'reader', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
    );
    const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
      sagas.fetch(new Request(url, init));
    await client.connect(
      new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
    );
    const asked = vi.fn(() => answer);
    const { content } = await callSaga(
      client,
      { name: 'deploy', arguments: {} },
      { handlers: { elicitation: asked } },
    );
    expect(asked).toHaveBeenCalledTimes(1);
    await client.close();
    return content;
  }

  it('is served as a tool: an answer continues it, and a decline is an event', async () => {
    expect(await call({ action: 'accept', content: { target: 'production' } })).toEqual([
      { type: 'text', text: 'web is in production.' },
    ]);
    expect(api.released.size).toBe(1);
    expect(await call({ action: 'decline' })).toEqual([{ type: 'text', text: 'Not now.' }]);
    expect(api.released.size).toBe(1);
  });

  it('works with a live actor', async () => {
    const { machine } = await import('./machine.ts');
    vi.useFakeTimers();
    const actor = createActor(machine).start();
    expect(actor.getSnapshot().value).toBe('asking');
    vi.advanceTimersByTime(3_600_000);
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', output: 'Not now.' });
    vi.useRealTimers();
  });

  it('is drawn with its questions while it waits', async () => {
    const { machine } = await import('./machine.ts');
    const picture = toMermaid(machine, { value: 'asking' });
    expect(picture).toContain('asking : elicit askTarget');
    expect(picture).toContain('class asking active');
  });
});
