import { callSaga, SagaRequestFailed } from '@mcp-saga/client';
import { memoryStore, type SagaStore } from '@mcp-saga/server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ServeSagasOptions } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { post, read } from '../fixtures/raw.ts';
import { ada, ordering, shopOf, type Order } from './shop.ts';

type Cut = (served: Response) => Response | Promise<Response>;

/** How a response is lost, after the server has acted. */
const cuts: readonly (readonly [string, Cut])[] = [
  [
    'the connection breaks before the response',
    () => {
      throw new TypeError('fetch failed');
    },
  ],
  [
    'the connection breaks in the response',
    (served) => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new TypeError('terminated')),
      });
      return new Response(body, served);
    },
  ],
  ['a proxy gives up', () => new Response('Bad gateway', { status: 502 })],
];

const clients = [
  ['2.0, modern', '2026-07-28'],
  ['2.0, legacy', 'legacy'],
  ['1.0', undefined],
] as const;

const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };
const accepted = { action: 'accept', content: { size: 'L' } } as const;
const handlers = { elicitation: () => accepted };

/** Calls `order`, whose first response is lost as often as `times` says. */
async function called(
  { order }: Order,
  era: (typeof clients)[number][1],
  cut: Cut,
  { times = 1, ...changes }: Partial<ServeSagasOptions> & { readonly times?: number } = {},
): Promise<unknown> {
  const server = shopOf({ order }, { store: storeThatStays(), ...changes });
  let lost = 0;
  const fetch = async (to: URL | string, init?: RequestInit): Promise<Response> => {
    const request = new Request(to, init);
    for (const [name, value] of Object.entries(ada)) request.headers.set(name, value);
    const isStart = typeof init?.body === 'string' && init.body.includes('"tools/callSaga"');
    const served = await server.fetch(request);
    if (!isStart || lost === times) return served;
    lost += 1;
    // The server has acted, whatever the client reads.
    await served.text();
    return await cut(new Response(null, { status: 200, headers: served.headers }));
  };
  const url = new URL('http://localhost/mcp');
  const info = { name: 'test', version: '1' };
  const client =
    era === undefined
      ? new ClientV1(info)
      : new Client(info, {
          versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: era } },
        });
  const transport =
    era === undefined
      ? new HttpV1(url, { fetch })
      : new StreamableHTTPClientTransport(url, { fetch });
  await client.connect(transport);
  try {
    return await callSaga(client, { name: 'order' }, { clock, handlers });
  } finally {
    await client.close();
  }
}

const ways = clients.flatMap(([sdk, era]) =>
  cuts.flatMap(([how, cut], index) =>
    // Clients of MCP 2025-11-25 wait for a stream to go on, until they time out.
    index === 1 && era !== '2026-07-28' ? [] : [{ sdk, how, era, cut }],
  ),
);

describe.each(ways)('a call of SDK $sdk, of which $how,', ({ era, cut }) => {
  test('is repeated, and acts once', async () => {
    const shop = ordering();
    const result = await called(shop, era, cut, { auth: { authenticate: users } });
    expect(result).toMatchObject({ content: [{ text: 'done' }] });
    expect(shop.acted).toHaveLength(1);
  });

  test.each<[string, Partial<ServeSagasOptions>]>([
    ['callers may be anonymous', {}],
    ['the host chooses keys', { auth: { authenticate: users }, starts: { key: ({ key }) => key } }],
  ])('is not repeated if %s', async (_, changes) => {
    const shop = ordering({ reuse: 'ok' });
    await expect(called(shop, era, cut, changes)).rejects.toBeInstanceOf(SagaRequestFailed);
  });
});

const named = { authenticate: users };
const key = ({ key: sent }: { readonly key: string }): string => sent;

test.each<[boolean, string, Partial<ServeSagasOptions>]>([
  [true, 'each caller is a user', { auth: named }],
  [false, 'some callers are anonymous', { anonymous: { calls: 'accept' }, auth: { ...named } }],
  [false, 'nobody signs in', { auth: {} }],
  [false, 'users share a principal', { auth: { ...named, principal: 'client-only' } }],
  [
    false,
    'anonymous callers may choose keys',
    { auth: named, anonymous: { calls: 'accept', starts: 'accept' } },
  ],
  [false, 'the host chooses the key', { auth: named, starts: { key } }],
  [false, 'a restart forgets the calls', { auth: named, store: memoryStore() }],
])('a server announces that it knows the keys of all callers: %s if %s', async (is, _, changes) => {
  const server = shopOf(ordering(), { store: storeThatStays(), ...changes });
  const { last } = await read(
    await server.fetch(post('modern', 'server/discover', {}, 1, { headers: ada })),
  );
  const offer = { methods: expect.any(Array) as unknown, ...(is ? { idempotencyKeys: true } : {}) };
  const capabilities = { extensions: { 'io.github.mcp-saga/saga': offer } };
  expect(last.result).toMatchObject({ capabilities });
  if (!is) expect(JSON.stringify(last.result)).not.toContain('idempotencyKeys');
});

test('a call is repeated three times at most', async () => {
  const shop = ordering();
  const cut: Cut = () => new Response(null, { status: 503 });
  const auth = { authenticate: users };
  expect(await called(shop, '2026-07-28', cut, { auth, times: 3 })).toMatchObject({
    content: [{ text: 'done' }],
  });
  await expect(called(shop, '2026-07-28', cut, { auth, times: 4 })).rejects.toBeInstanceOf(
    SagaRequestFailed,
  );
});

/** A store that the server does not know as one in memory. */
function storeThatStays(): SagaStore {
  const memory = memoryStore();
  return {
    write: (...given) => memory.write(...given),
    remove: (...given) => memory.remove(...given),
    read: (entry) => memory.read(entry),
    append: (...given) => memory.append(...given),
    list: (group) => memory.list(group),
    discard: (...given) => memory.discard(...given),
    close: (...given) => memory.close(...given),
  };
}

function users({ headers }: Request): { readonly subject: string } | undefined {
  const subject = headers.get('x-user');
  return subject === null ? undefined : { subject };
}
