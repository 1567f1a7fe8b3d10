import { request as httpRequest } from 'node:http';
import { elicit, generateKey, memoryStore, saga, step, type SagaStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { askingModels } from '../support/asking-models.ts';

const Go = z.object({ go: z.boolean() });
const accept = { action: 'accept', content: { go: true } };

/** A saga with a step in each of its three turns, and the runs of the steps. */
function work(reuse?: 'ok') {
  const runs: { readonly id: string; readonly key: string }[] = [];
  const gate: { cut: (() => void) | undefined } = { cut: undefined };
  const effect = (id: string) =>
    step(id, async ({ idempotencyKey, signal }) => {
      runs.push({ id, key: idempotencyKey });
      const { cut } = gate;
      if (cut === undefined) return;
      gate.cut = undefined;
      cut();
      // The effect has run, but the connection drops its result.
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        setTimeout(resolve, 200);
      });
    });
  const made = saga({ name: 'work', version: '1', reuse }, function* () {
    yield* effect('before');
    yield* elicit('first', { message: 'First?', schema: Go });
    yield* effect('between');
    yield* elicit('second', { message: 'Second?', schema: Go });
    yield* effect('after');
    return 'done';
  });
  return { made, runs, gate };
}

type Result = Record<string, unknown>;
type Send = (method: string, params: object) => Promise<Result>;

/** A dialect that drives the saga, request by request. */
interface Way {
  readonly name: string;
  readonly era: 'modern' | 'legacy';
  readonly capabilities: object;
  see(send: Send): Promise<Result>;
}

const ways: readonly Way[] = [
  ...(['modern', 'legacy'] as const).map((era): Way => ({
    name: `saga methods, ${era}`,
    era,
    capabilities: {},
    see: async (send) => {
      let result = await send('tools/callSaga', { name: 'work', arguments: {} });
      while (result['state'] === 'suspended') {
        const [{ stepId }] = result['steps'] as [{ stepId: string }];
        result = await send('tools/resumeSaga', {
          sagaToken: result['sagaToken'],
          completedSteps: [{ stepId, result: accept }],
        });
      }
      return result;
    },
  })),
  {
    name: 'multi round-trip',
    era: 'modern',
    capabilities: { elicitation: {} },
    see: async (send) => {
      const call = { name: 'work', arguments: {} };
      let result = await send('tools/call', call);
      while (result['resultType'] === 'input_required') {
        const [key] = Object.keys(result['inputRequests'] as object) as [string];
        const { requestState } = result;
        result = await send('tools/call', {
          ...call,
          requestState,
          inputResponses: { [key]: accept },
        });
      }
      return result;
    },
  },
  {
    name: 'resume token',
    era: 'legacy',
    capabilities: {},
    see: async (send) => {
      let result = await send('tools/call', { name: 'work', arguments: {} });
      for (const key of ['first', 'second']) {
        const { nextResumeToken: resumeToken } = result;
        result = await send('tools/call', {
          name: 'work',
          arguments: { resumeToken, answers: { [key]: accept } },
        });
      }
      return result;
    },
  },
];

describe.each(ways)('a connection that is cut, $name', (way) => {
  const { era, capabilities } = way;
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });

  async function served(made: ReturnType<typeof work>['made'], store?: SagaStore): Promise<URL> {
    const sagas = serveSagas({
      name: 'cut',
      version: '1',
      sagas: askingModels([made]),
      keys: generateKey(),
      answerers: { model: 'accept' },
      hooks: { onTurn: () => undefined, onError: () => undefined },
      ...(store === undefined ? {} : { store, limits: { lease: 500 } }),
    });
    const server = serve({
      fetch: (request) => sagas.fetch(request),
      hostname: '127.0.0.1',
      port: 0,
      silent: true,
    });
    await server.ready();
    stops.push(() => server.close(true));
    return new URL('/mcp', server.url);
  }

  it.each([0, 1, 2])(
    '[E1] [R1] a repeated request in turn %i keeps one idempotency key for each effect',
    async (turn) => {
      const { made, runs, gate } = work('ok');
      const url = await served(made);
      let sent = 0;
      const result = await way.see(async (method, params) => {
        const again = (): Promise<Result> => post(url, era, capabilities, method, params);
        if (sent++ !== turn) return await again();
        await cutWhileItRuns(url, era, capabilities, method, params, gate);
        return await again();
      });
      expect(result).toMatchObject({ content: [{ text: 'done' }] });
      const keys = new Map<string, Set<string>>();
      for (const { id, key } of runs) keys.set(id, (keys.get(id) ?? new Set()).add(key));
      // The first request has no token yet, so its retry starts another saga.
      const expected = (id: string): number => (turn === 0 && id === 'before' ? 2 : 1);
      expect([...keys].map(([id, used]) => [id, used.size])).toEqual(
        ['before', 'between', 'after'].map((id) => [id, expected(id)]),
      );
      // Only the step with the dropped result ran again.
      expect(runs).toHaveLength(4);
    },
  );

  it.each([1, 2])(
    '[T13] a guarded saga cut in turn %i completes, and rejects other answers',
    async (turn) => {
      const { made, runs, gate } = work();
      const url = await served(made, memoryStore());
      let sent = 0;
      const result = await way.see(async (method, params) => {
        if (sent++ === turn) await cutWhileItRuns(url, era, capabilities, method, params, gate);
        return await post(url, era, capabilities, method, params);
      });
      expect(result).toMatchObject({ content: [{ text: 'done' }] });
      expect(new Set(runs.map(({ key }) => key)).size).toBe(3);
    },
  );
});

const prefix = 'io.modelcontextprotocol/';

function wire(era: Way['era'], capabilities: object, method: string, params: object) {
  const meta = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { name: 'cut', version: '1' },
    [`${prefix}clientCapabilities`]: capabilities,
  };
  const isModern = era === 'modern';
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': isModern ? '2026-07-28' : '2025-11-25',
      ...(isModern
        ? { 'mcp-method': method, ...(method === 'tools/call' ? { 'mcp-name': 'work' } : {}) }
        : {}),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: isModern ? { ...params, _meta: meta } : params,
    }),
  };
}

async function post(
  url: URL,
  era: Way['era'],
  capabilities: object,
  method: string,
  params: object,
) {
  const response = await fetch(url, { method: 'POST', ...wire(era, capabilities, method, params) });
  const text = await response.text();
  const message = JSON.parse(/^data: ?(.*)$/m.exec(text)?.[1] ?? text) as {
    result?: Result;
    error?: unknown;
  };
  if (message.result === undefined) throw new Error(JSON.stringify(message.error));
  return message.result;
}

/** Sends a request, and destroys its socket while one of its steps runs. */
async function cutWhileItRuns(
  url: URL,
  era: Way['era'],
  capabilities: object,
  method: string,
  params: object,
  gate: ReturnType<typeof work>['gate'],
): Promise<void> {
  await new Promise<void>((resolve) => {
    const { headers, body } = wire(era, capabilities, method, params);
    const request = httpRequest(url, { method: 'POST', headers });
    gate.cut = () => request.destroy();
    request.once('error', () => resolve());
    request.end(body);
  });
}
