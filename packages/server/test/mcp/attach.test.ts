import { Client } from '@modelcontextprotocol/client';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTransport, McpServer as ServerV2, Server } from '@modelcontextprotocol/server';
import { callSaga, startSaga, type StepHandlers } from '@mcp-saga/client';
import { elicit, info, saga, step } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { connections, serverV1, serverV2 } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { asking, complexTool, Empty, telling } from '../fixtures/sagas.ts';

const extension = 'io.github.mcp-saga/saga';
const handlers: StepHandlers = {
  elicitation: () => ({ action: 'accept', content: { target: 'production' } }),
  sampling: () => ({ role: 'assistant', content: { type: 'text', text: 'Yes.' }, model: 'test' }),
};
const call = { name: 'complex_tool', arguments: { initial_arg: 'value' } };

const shaped = saga(
  {
    name: 'shaped',
    version: '1',
    title: 'Shaped',
    description: 'Has schemas',
    input: z.object({ size: z.number().int().default(3), tags: z.array(z.string()).optional() }),
    output: z.object({ doubled: z.number() }),
    annotations: { readOnlyHint: true },
  },
  function* ({ size }) {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return { doubled: size * 2 };
  },
);

describe.each(connections)('$name', ({ connect, stateless = false }) => {
  test('[W1] completes a saga with the same result', async () => {
    const keys: string[] = [];
    const { host, told } = hostOf(complexTool((key) => keys.push(key)));
    const { client, close } = await connect(host);
    const result = await callSaga(client, call, { handlers });
    expect(result).toMatchObject({
      content: [
        {
          type: 'text',
          text: 'Deployment to production initiated successfully based on confirmation.',
        },
      ],
    });
    expect(result.isError).toBeUndefined();
    expect(keys).toHaveLength(1);
    expect(told.turns.map(({ status }) => status)).toEqual(['suspended', 'suspended', 'completed']);
    expect(told.errors).toEqual([]);
    await close();
  });

  test('lists the tools with their schemas and the metadata of a saga', async () => {
    const { host } = hostOf([shaped, asking()]);
    const { client, close } = await connect(host);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'shaped',
        title: 'Shaped',
        description: 'Has schemas',
        inputSchema: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
        annotations: { readOnlyHint: true },
        _meta: { [extension]: { methods: ['tools/callSaga', 'tools/resumeSaga'] } },
      },
      {
        name: 'asking',
        inputSchema: { type: 'object' },
        _meta: { [extension]: { methods: ['tools/callSaga', 'tools/resumeSaga'] } },
      },
    ]);
    expect(tools[0]?.inputSchema.required ?? []).toEqual([]);
    // Not every call ends with a whole result.
    expect(tools[0]?.outputSchema).toMatchObject({
      type: 'object',
      anyOf: [
        { properties: { doubled: { type: 'number' } } },
        { properties: { unfinishedCall: { const: true } } },
      ],
    });
    expect(tools[1]).not.toHaveProperty('outputSchema');
    await close();
  });

  test('announces the methods when it connects', async () => {
    const { client, close } = await connect(hostOf(asking()).host);
    expect(client.getServerCapabilities()?.extensions?.[extension]).toMatchObject({
      methods: expect.arrayContaining(['tools/callSaga', 'tools/resumeSaga']),
    });
    await close();
  });

  test('returns structured results by the output schema, and applies defaults of the input schema', async () => {
    const { client, close } = await connect(hostOf(shaped).host);
    const accepted: StepHandlers = { elicitation: () => ({ action: 'accept', content: {} }) };
    const one = await callSaga(client, { name: 'shaped' }, { handlers: accepted });
    const two = await callSaga(
      client,
      { name: 'shaped', arguments: { size: 5 } },
      { handlers: accepted },
    );
    expect([one.structuredContent, two.structuredContent]).toEqual([
      { doubled: 6 },
      { doubled: 10 },
    ]);
    await close();
  });

  test('throws an error of a client step into the saga', async () => {
    const { client, close } = await connect(hostOf(asking()).host);
    const refusing: StepHandlers = {
      elicitation: () => {
        throw Object.assign(new Error('no screen'), { code: -32_001 });
      },
    };
    const result = await callSaga(client, { name: 'asking' }, { handlers: refusing });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: "'asking' failed at step 'target'." }],
    });
    await close();
  });

  test('[U4] aborts the signal of a step if the client cancels, and keeps the previous token valid', async () => {
    const started = deferred<AbortSignal>();
    const working = saga({ name: 'working', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Empty });
      yield* step('work', async ({ signal, attempt }) => {
        if (first) {
          first = false;
          started.resolve(signal);
          await new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => resolve(), { once: true });
            // Without sessions the cancellation reaches another server: nothing aborts here.
            if (stateless) resolve();
          });
        }
        return attempt;
      });
      return 'worked';
    });
    let first = true;
    const { host, told } = hostOf(working);
    const { client, close } = await connect(host);
    const turn = await startSaga(client, { name: 'working' });
    if (turn.status !== 'suspended') throw new Error(turn.status);
    const answers = [{ stepId: 'go', result: { action: 'accept' as const, content: {} } }];
    const aborting = new AbortController();
    const resumed = turn.saga.resume(answers, { signal: aborting.signal });
    const signal = await started.promise;
    expect(signal.aborted).toBe(false);
    aborting.abort();
    await expect(resumed).rejects.toMatchObject({ code: 'saga_call_aborted' });
    if (!stateless) {
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      expect(signal.aborted).toBe(true);
    }
    expect(await turn.saga.resume(answers)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'worked' }] },
    });
    expect(told.errors).toEqual([]);
    await close();
  });

  test('[W5] progress increases over all turns, and each value is sent once', async () => {
    const { host } = hostOf(telling());
    const { client, close } = await connect(host);
    const progressed: (readonly [number, string | undefined])[] = [];
    const accepted: StepHandlers = { elicitation: () => ({ action: 'accept', content: {} }) };
    await callSaga(
      client,
      { name: 'telling' },
      {
        handlers: accepted,
        requestOptions: {
          onprogress: ({ progress, message }) => progressed.push([progress, message]),
        },
      },
    );
    expect(progressed).toEqual([
      [1, 'begun'],
      [2, undefined],
      [3, 'done'],
    ]);
    await close();
  });

  test('passes capabilities to the saga, and auth info to the principal', async () => {
    const knowing = saga({ name: 'knowing', version: '1' }, function* () {
      const { capabilities } = yield* info();
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return JSON.stringify(capabilities ?? 'not known');
    });
    const seen: unknown[] = [];
    const { host } = hostOf(knowing, {
      auth: {
        principal: (authInfo) => {
          const { clientId, token } = authInfo as { clientId: string; token: string };
          seen.push(clientId);
          return { subject: token.length === 0 ? '' : 'ada', client: clientId };
        },
      },
    });
    const authInfo = { token: 'kq', clientId: 'app', scopes: [] };
    const { client, close } = await connect(host, { authInfo });
    const accepted: StepHandlers = { elicitation: () => ({ action: 'accept', content: {} }) };
    const result = await callSaga(client, { name: 'knowing' }, { handlers: accepted });
    const [block] = result.content;
    const known: unknown = JSON.parse(block?.type === 'text' ? block.text : '');
    if (stateless) expect(known).toBe('not known');
    else expect(known).toMatchObject({ elicitation: {}, sampling: {} });
    expect(seen).toEqual(['app', 'app']);
    await close();
  });

  test('passes the services to steps, made of the env of attach', async () => {
    const env = { database: 'kq' };
    const got: unknown[] = [];
    const using = saga({ name: 'using', version: '1' }, function* () {
      yield* step('use', ({ services: given }) => {
        got.push(given);
      });
      return 'used';
    });
    const { client, close } = await connect(
      hostOf(using, { services: (given: object) => ({ given }) }).host,
      { env },
    );
    await callSaga(client, { name: 'using' });
    expect(got[0]).toEqual({ given: env });
    await close();
  });

  test('hides internal errors from the client, and passes them to the hook', async () => {
    const { host, told } = hostOf(asking(), {
      anonymous: { calls: 'accept' },
      auth: {
        authorize: () => {
          throw new Error('kq-918273 policy at 10.0.0.7 down');
        },
      },
    });
    const { client, close } = await connect(host);
    await expect(callSaga(client, { name: 'asking' })).rejects.toMatchObject({
      message: expect.not.stringContaining('918273'),
      rpcCode: -32_603,
    });
    expect(told.errors).toMatchObject([{ message: 'kq-918273 policy at 10.0.0.7 down' }]);
    await close();
  });
});

describe('log messages', () => {
  const accepted: StepHandlers = { elicitation: () => ({ action: 'accept', content: {} }) };
  const inMemory = connections.filter(({ name }) => name.includes('in memory'));

  test.for(inMemory)('reach the client once each: $name', async ({ connect }) => {
    const { client, close } = await connect(hostOf(telling()).host);
    const logged: unknown[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/message') logged.push(params);
    };
    await callSaga(client, { name: 'telling' }, { handlers: accepted });
    expect(logged).toMatchObject([
      { level: 'info', data: 'begun' },
      { level: 'warning', data: 'answered' },
    ]);
    await close();
  });

  test.for(inMemory)(
    'below the log level of the client are not sent: $name',
    async ({ connect }) => {
      const { client, close } = await connect(hostOf(telling()).host);
      const logged: unknown[] = [];
      client.fallbackNotificationHandler = async ({ method, params }) => {
        if (method === 'notifications/message') logged.push(params);
      };
      await client.setLoggingLevel('warning');
      await callSaga(client, { name: 'telling' }, { handlers: accepted });
      expect(logged).toMatchObject([{ level: 'warning' }]);
      await close();
    },
  );

  test.for(connections)(
    'cause no error on a server without logging: $name',
    async ({ connect }) => {
      const { host, told } = hostOf(telling());
      const { client, close } = await connect(host, { logging: false });
      const result = await callSaga(client, { name: 'telling' }, { handlers: accepted });
      expect(result).toMatchObject({ content: [{ text: 'told' }] });
      expect(told.errors).toEqual([]);
      await close();
    },
  );
});

describe('attach', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an object', {}],
    ['the protocol server inside', new Server({ name: 'a', version: '1' }, { capabilities: {} })],
  ])('refuses %s', (_, server) => {
    const { host } = hostOf(asking());
    expect(() => host.attach(server as never)).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
    expect(() => host.attach(server as never)).toThrow('attach() needs an McpServer');
  });

  test.each([
    ['v1', serverV1],
    ['v2', serverV2],
  ])('refuses a server of %s that already has sagas, also of another host', (_, make) => {
    const { host } = hostOf(asking());
    const server = make(host);
    expect(() => host.attach(server)).toThrow('already has sagas');
    expect(() => hostOf(asking('other')).host.attach(server)).toThrow('already has sagas');
  });

  test.each([
    ['v1', () => new ServerV1({ name: 'a', version: '1' })],
    ['v2', () => new ServerV2({ name: 'a', version: '1' })],
  ])('refuses a server of %s that is connected, and registers nothing', async (_, make) => {
    const server = make();
    const [, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    const { host } = hostOf(asking());
    expect(() => host.attach(server)).toThrow('already connected');
    await server.close();
    host.attach(server);
  });

  test('keeps the tools of the server', async () => {
    const { host } = hostOf(asking());
    const server = new ServerV2({ name: 'a', version: '1' });
    server.registerTool('own', { inputSchema: z.object({}) }, () => ({
      content: [{ type: 'text', text: 'own' }],
    }));
    host.attach(server);
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    const client = new Client({ name: 'c', version: '1' });
    await client.connect(near);
    expect(await client.callTool({ name: 'own', arguments: {} })).toMatchObject({
      content: [{ text: 'own' }],
    });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['own', 'asking']);
    await client.close();
  });
});
