import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type Program,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eras, post, read, type Era, type RawAnswer } from '../fixtures/raw.ts';
import { overStdio, stdioVersions } from '../fixtures/stdio-lines.ts';

const ownField = 'io.github.mcp-saga/idempotencyKey';
const uuid = '6f1c2f0e-8f0b-4f4e-9c53-3f7e2b7c9a10';

type StartOptions = NonNullable<SagaHostOptions['starts']>;

/** A saga that charges and then asks, with the keys of its charges. */
function orders(): { readonly sagas: readonly Program[]; readonly charged: readonly string[] } {
  const charged: string[] = [];
  const order = saga({ name: 'order', version: '1', forks: 'refuse' }, function* () {
    yield* step('charge', ({ idempotencyKey }) => void charged.push(idempotencyKey), {
      compensate: () => undefined,
    });
    yield* elicit('size', { message: 'Size?', schema: z.object({ size: z.string() }) });
    return 'done';
  });
  return { sagas: [order], charged };
}

/** A server of such a saga, with a store and users. */
function serverOf(changes: Partial<ServeSagasOptions> = {}) {
  const { sagas, charged } = orders();
  const server = serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas,
    keys: 'ephemeral',
    store: memoryStore(),
    answers: { model: 'accept' },
    hooks: { onWarning: () => undefined },
    auth: {
      authenticate: ({ headers }) => {
        const subject = headers.get('x-user');
        return subject === null
          ? undefined
          : { issuer: 'https://id.example', subject, client: 'a' };
      },
      anonymous: 'accept',
    },
    http: { allowedHosts: ['localhost'] },
    ...changes,
  });
  return { server, charged };
}

/** How a client names its call. */
interface Named {
  readonly meta?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

async function call(
  server: ReturnType<typeof serverOf>['server'],
  [era, method]: readonly [Era, string],
  { meta, headers = { 'x-user': 'ada' } }: Named,
  args: object = {},
): Promise<RawAnswer> {
  const params = { name: 'order', arguments: args, ...(meta && { _meta: meta }) };
  const mcpName = method === 'tools/call' && era === 'modern' ? { 'mcp-name': 'order' } : {};
  return read(
    await server.fetch(post(era, method, params, 1, { headers: { ...mcpName, ...headers } })),
  );
}

const ways = [
  ['modern', 'tools/call'],
  ['modern', 'tools/callSaga'],
  ['legacy', 'tools/call'],
  ['legacy', 'tools/callSaga'],
] as const satisfies readonly (readonly [Era, string])[];

const user = { 'x-user': 'ada' };
const ofCodex = {
  callId: 'call_cd254af1-2764-4546-98b3-43f4a25b03ae',
  itemId: 'fc_466b1a4a-0ebd-4169-9a5b-f427aea72ac3',
  threadId: '01a2293d-2f7a-7cc0-8d7d-8a8e9feca76f',
};
const names: readonly (readonly [string, Named])[] = [
  [`_meta['${ownField}']`, { meta: { [ownField]: 'call-1' }, headers: user }],
  ['the header Idempotency-Key', { headers: { ...user, 'idempotency-key': 'call-1' } }],
  [
    'the ID of a tool use of Claude Code',
    { meta: { 'claudecode/toolUseId': 'toolu_01A09q90qw90lq917835lq9' }, headers: user },
  ],
  ['the ID of a call of Codex in its thread', { meta: ofCodex, headers: user }],
];

describe.each(ways)('%s %s', (...way) => {
  test.each(names)('named by %s acts once when it is repeated', async (_, named) => {
    const { server, charged } = serverOf();
    const first = await call(server, way, named);
    const again = await call(server, way, named);
    expect(first.last.error).toBeUndefined();
    expect(again.last.error).toBeUndefined();
    expect(again.text).toContain('Size?');
    expect(charged).toHaveLength(1);
  });

  test('acts twice without a key', async () => {
    const { server, charged } = serverOf();
    await call(server, way, {});
    await call(server, way, {});
    expect(new Set(charged).size).toBe(2);
  });

  test.each([
    ['another user', { meta: { [ownField]: 'call-1' }, headers: { 'x-user': 'bob' } }],
    ['an anonymous caller', { meta: { [ownField]: 'call-1' }, headers: {} }],
  ])('is not given to %s with the same key', async (_, other) => {
    const { server, charged } = serverOf();
    await call(server, way, { meta: { [ownField]: 'call-1' }, headers: user });
    await call(server, way, other);
    expect(new Set(charged).size).toBe(2);
  });

  test.each([
    ['counts if the host lets it, and it has 128 bits', uuid, { bearer: 'accept' }, 1],
    ['counts not without the option', uuid, undefined, 2],
    ['counts not if it can be guessed', 'call-1', { bearer: 'accept' }, 2],
  ] as const)('the key of an anonymous caller %s', async (_, key, starts, sagas) => {
    const { server, charged } = serverOf(starts === undefined ? {} : { starts });
    const named = { meta: { [ownField]: key }, headers: {} };
    await call(server, way, named);
    await call(server, way, named);
    expect(charged).toHaveLength(sagas);
  });

  test.each([
    ['a key of 1 MB', 'x'.repeat(1024 * 1024)],
    ['an empty key', ''],
    ['a number', 7],
    ['half a character', 'call-\ud800'],
  ])('refuses %s by name, and runs nothing', async (_, key) => {
    const { server, charged } = serverOf();
    const { last, text } = await call(server, way, { meta: { [ownField]: key }, headers: user });
    expect(last.error).toMatchObject({ code: -32_602, data: { reason: 'invalid_params' } });
    expect(last.error?.message).toContain('idempotencyKey');
    expect(text).not.toContain('Size?');
    expect(charged).toEqual([]);
  });
});

test.each([
  ['in another thread', { ...ofCodex, threadId: '01a2293d-46cc-7861-9c55-76ba2d33d34e' }],
  ['without a thread', { callId: ofCodex.callId }],
  ['that a client counts', { ...ofCodex, callId: 'call_1' }],
])('the ID of a call of Codex %s is another key, or none', async (_, meta) => {
  const { server, charged } = serverOf();
  await call(server, ways[0], { meta: ofCodex, headers: user });
  await call(server, ways[0], { meta, headers: user });
  expect(new Set(charged).size).toBe(2);
});

test('a key of one way does not name the same key of another way', async () => {
  const { server, charged } = serverOf();
  await call(server, ways[0], {
    meta: { 'claudecode/toolUseId': 'toolu_01A09q90qw90lq917835lq9' },
  });
  await call(server, ways[0], { meta: { [ownField]: 'toolu_01A09q90qw90lq917835lq9' } });
  expect(new Set(charged).size).toBe(2);
});

describe.each(stdioVersions)('over stdio by %s', (version) => {
  test.each(['toolu_01A09q90qw90lq917835lq9', 'call-1'])(
    'the only client of a process repeats its call by the key %s',
    async (key) => {
      const { sagas, charged } = orders();
      const host = createSagaHost({
        sagas,
        keys: generateKey(),
        audience: 'shop',
        store: memoryStore(),
        hooks: { onWarning: () => undefined, onReject: () => undefined },
      });
      const client = await overStdio(host, version, { elicitation: {} });
      const field = key === 'call-1' ? ownField : 'claudecode/toolUseId';
      const params = { name: 'order', arguments: {}, _meta: { [field]: key } };
      const isQuestion = ({ method }: { method?: string }) => method === 'elicitation/create';
      client.send({ id: 'first', method: 'tools/call', params });
      const { id: lost } = await client.first(isQuestion);
      client.send({ id: 'again', method: 'tools/call', params });
      const { id } = await client.first((message) => isQuestion(message) && message.id !== lost);
      client.send({ id, result: { action: 'accept', content: { size: 'L' } } });
      const { result } = await client.first((message) => message.id === 'again');
      expect(JSON.stringify(result)).toContain('done');
      expect(charged).toHaveLength(1);
      client.end();
    },
  );
});

describe('starts.key', () => {
  const meta = { 'claudecode/toolUseId': 'toolu_01A09q90qw90lq917835lq9' };

  test('lets a host ignore the IDs of other hosts, and learns the tool', async () => {
    const sent: object[] = [];
    const key: StartOptions['key'] = (of) => {
      sent.push(of);
      return of.from === 'host' ? undefined : of.key;
    };
    const { server, charged } = serverOf({ starts: { key } });
    await call(server, ways[0], { meta, headers: user });
    await call(server, ways[0], { meta, headers: user });
    expect(new Set(charged).size).toBe(2);
    expect(sent[0]).toEqual({ key: meta['claudecode/toolUseId'], from: 'host', tool: 'order' });
  });

  test('must be a function', () => {
    expect(() => serverOf({ starts: { key: 'none' as never } })).toThrow('starts.key');
  });
});

test.each(eras)('a browser of another origin may send the header (%s)', async (era) => {
  const { server } = serverOf({ http: { cors: true, allowedOrigins: ['https://app.example'] } });
  const preflight = await server.fetch(
    new Request('http://localhost/mcp', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'idempotency-key',
        'mcp-protocol-version': era,
      },
    }),
  );
  expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain(
    'idempotency-key',
  );
});
