import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import {
  callSaga,
  type McpClient,
  resumeSaga,
  SAGA_EXTENSION,
  SagaProtocolError,
  SagaRequestFailed,
  SagasNotSupported,
  startSaga,
} from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { deferred } from './fixtures/deferred.ts';
import { done, form, rpcError, ScriptedServer, suspended } from './fixtures/scripted-server.ts';
import { thrownBy } from './fixtures/thrown-by.ts';

const call = { name: 'ship' };

/** A client that fails every request like this. */
function failing(error: unknown): McpClient {
  return { request: () => Promise.reject(error), getServerCapabilities: () => ({}) };
}

test.for(connections)('keeps the saga when the connection closes: $name', async ({ connect }) => {
  const arrived = deferred<null>();
  const never = deferred<Record<string, unknown>>();
  const server = new ScriptedServer([
    suspended('t1', [form('first')]),
    () => {
      arrived.resolve(null);
      return never.promise;
    },
  ]);
  const { client, close } = await connect(server);
  const running = callSaga(client, call, {
    handlers: { elicitation: () => ({ action: 'decline' }) },
  });
  const outcome = thrownBy(SagaRequestFailed, running);

  await arrived.promise;
  await close();
  const error = await outcome;

  expect(error.saga?.answers).toStrictEqual([{ stepId: 'first', result: { action: 'decline' } }]);
  expect(error.cause).toBeInstanceOf(Error);
  never.resolve({});
});

test.for(connections)('passes its request options to every request: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', []), done('ok')]);
  const { client, close } = await connect(server);

  await callSaga(client, call, { requestOptions: { timeout: 5000, onprogress: () => {} } });

  expect(server.received.map(({ meta }) => meta['progressToken'])).toStrictEqual([
    expect.any(Number),
    expect.any(Number),
  ]);
  await close();
});

test('does not quote the body of an HTTP error, which only the cause contains', async () => {
  let broken = false;
  const handler = createMcpHandler(() => {
    const mcp = new McpServer(
      { name: 'test', version: '1' },
      { capabilities: { extensions: { [SAGA_EXTENSION]: {} } } },
    );
    mcp.server.setRequestHandler(
      'tools/callSaga',
      { params: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } } },
      () => suspended('t1', []),
    );
    return mcp;
  });
  const client = new ClientV2(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const url = new URL('http://localhost/mcp');
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      fetch: async (to, init) =>
        broken
          ? new Response('a stack trace', { status: 502 })
          : handler.fetch(new Request(to, init)),
    }),
  );
  const turn = await startSaga(client, call);
  if (turn.status !== 'suspended') throw new Error('completed');
  broken = true;

  const error = await thrownBy(SagaRequestFailed, resumeSaga(client, turn.saga));

  expect(error.message).toBe('tools/resumeSaga failed: HTTP 502');
  expect(error.rpcCode).toBeUndefined();
  expect(error.saga).toMatchObject({ turn: 1 });
  await client.close();
});

test.for([
  ['-32601 as a code', rpcError(-32601, 'Method not found')],
  [
    '404 with the code in the body',
    Object.assign(new Error(), {
      code: 'CLIENT_HTTP_NOT_IMPLEMENTED',
      data: {
        status: 404,
        text: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}',
      },
    }),
  ],
] as const)('detects a missing method by %s', async ([, cause]) => {
  const error = await thrownBy(SagasNotSupported, callSaga(failing(cause), call));
  expect(error.cause).toBe(cause);
});

test.for([
  [
    '404 of something else',
    { code: 'CLIENT_HTTP_NOT_IMPLEMENTED', data: { status: 404, text: '<html>' } },
    'HTTP 404',
  ],
  [
    '404 of a lost session',
    { code: 'X', data: { status: 404, text: '{"error":{"code":-32001}}' } },
    'HTTP 404',
  ],
  ['a code without a status', { code: 'REQUEST_TIMEOUT', message: 'body' }, 'REQUEST_TIMEOUT'],
  ['a status in the code, as SDK v1 has it', { code: 404, message: 'body' }, 'HTTP 404'],
  ['an error without a code', { message: 'Not connected' }, 'Not connected'],
  ['nothing to go by', 'oops', 'see the cause'],
] as const)('does not report a missing method for %s', async ([, cause, problem]) => {
  const error = await thrownBy(SagaRequestFailed, callSaga(failing(cause), call));
  expect(error).toMatchObject({
    message: `tools/callSaga failed: ${problem}`,
    rpcCode: undefined,
    cause,
  });
});

test.for(['INVALID_RESULT', 'UNSUPPORTED_RESULT_TYPE'])(
  'reports a malformed result if SDK v2 does: %s',
  async (code) => {
    const error = await thrownBy(SagaProtocolError, callSaga(failing({ code }), call));
    expect(error).toMatchObject({ field: 'resultType', cause: { code } });
  },
);

test('refuses an answer that is not an object', async () => {
  const client: McpClient = {
    request: () => Promise.resolve('text'),
    getServerCapabilities: () => undefined,
  };
  await expect(callSaga(client, call)).rejects.toMatchObject({ field: 'result' });
});

test('accepts handlers for a client that stores its own handlers differently', async () => {
  const answers = [suspended('t1', [{ type: 'roots', stepId: 'where' }]), done('ok')];
  const client: McpClient = {
    request: () => Promise.resolve(answers.shift()),
    getServerCapabilities: () => undefined,
  };
  await expect(
    callSaga(client, call, { handlers: { roots: () => ({ roots: [] }) } }),
  ).resolves.toMatchObject(done('ok'));
});

test.for(connections)('passes no peer to a registered handler: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', [form('first')]), done('ok')]);
  const { client, close } = await connect(server, {
    elicitation: async (_params, context) => {
      const sends = findFunctions(context).filter(([name]) => name !== 'requestState');
      expect(sends).toHaveLength(2);
      for (const [, send] of sends)
        await expect(send()).rejects.toThrow('cannot send related messages');
      return { action: 'accept', content: { value: 'asked nobody' } };
    },
  });

  await callSaga(client, call);

  expect(server.sent.at(-1)?.params['completedSteps']).toMatchObject([
    { result: { action: 'accept' } },
  ]);
  await close();
});

function findFunctions(context: unknown): [string, () => Promise<unknown>][] {
  if (typeof context !== 'object' || context === null) return [];
  return Object.entries(context).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === 'function')
      return [[name, async () => Reflect.apply(value, undefined, [])]];
    return value instanceof AbortSignal ? [] : findFunctions(value);
  });
}

test.for([
  ['version_gone', true],
  ['replay_mismatch', true],
  ['guard_down', true],
  [undefined, false],
] as const)(
  '[E10] keeps the saga, and reports if a retry can succeed: reason %s, %s',
  async ([reason, isRetryable]) => {
    const later = Object.assign(rpcError(-32603, 'Send the request again later.'), {
      data: { reason },
    });
    const kept = {
      format: 'mcp-saga/client@1',
      name: 'ship',
      turn: 1,
      steps: [],
      completedSteps: [],
    } as const;
    const resumed = resumeSaga(failing(later), { ...kept, sagaToken: 't1' });
    const error = await thrownBy(SagaRequestFailed, resumed);
    expect(error).toMatchObject({ rpcCode: -32603, reason, isRetryable });
    expect(error.saga?.toJSON()).toMatchObject({ sagaToken: 't1' });
  },
);

test('[E10] a rejected request is not retryable', async () => {
  const refused = Object.assign(rpcError(-32602, 'Invalid params'), {
    data: { reason: 'invalid_params' },
  });
  const error = await thrownBy(SagaRequestFailed, callSaga(failing(refused), call));
  expect(error).toMatchObject({ reason: 'invalid_params', isRetryable: false });
});

const overHttp = connections.filter(({ name }) => name.includes('HTTP'));

test.for(overHttp)(
  '[E10] can resume after an overloaded or absent server: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([suspended('t1', [form('first')]), done('ok')]);
    const { client, close } = await connect(server);
    const turn = await startSaga(client, call);
    if (turn.status !== 'suspended') throw new Error('completed');
    const handlers = { elicitation: () => ({ action: 'decline' }) as const };

    for (const [status, isRetryable] of [
      [429, true],
      [502, true],
      [503, true],
      [504, true],
      [400, false],
      [413, false],
      [500, false],
    ] as const) {
      server.proxyStatus = status;
      const error = await thrownBy(SagaRequestFailed, resumeSaga(client, turn.saga, { handlers }));
      expect(error).toMatchObject({ httpStatus: status, isRetryable, rpcCode: undefined });
      expect(error.message).not.toContain('proxy answers');
      expect(error.saga?.toJSON()).toMatchObject({
        sagaToken: 't1',
        completedSteps: [{ stepId: 'first' }],
      });
    }
    server.proxyStatus = undefined;
    await expect(resumeSaga(client, turn.saga, { handlers })).resolves.toMatchObject(done('ok'));
    await close();
  },
);
