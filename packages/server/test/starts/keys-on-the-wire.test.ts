import {
  createSagaHost,
  generateKey,
  memoryStore,
  promptSaga,
  saga,
  step,
  type SagaHostOptions,
} from '@mcp-saga/server';
import type { ServeSagasOptions } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eras, post, read, type Era } from '../fixtures/raw.ts';
import { overStdio, stdioVersions } from '../fixtures/stdio-lines.ts';
import { ada, callShop, keyField, ordering, shopOf, type ShopCall } from './shop.ts';

const uuid = '6f1c2f0e-8f0b-4f4e-9c53-3f7e2b7c9a10';
const ofClaude = { 'claudecode/toolUseId': 'toolu_01A09q90qw90lq917835lq9' };
const ofCodex = {
  callId: 'call_cd254af1-2764-4546-98b3-43f4a25b03ae',
  itemId: 'fc_466b1a4a-0ebd-4169-9a5b-f427aea72ac3',
  threadId: '01a2293d-2f7a-7cc0-8d7d-8a8e9feca76f',
};

type StartOptions = NonNullable<SagaHostOptions['starts']>;

const ways = eras.flatMap((era) =>
  ['tools/call', 'tools/callSaga'].map((method) => [era, method] as const),
);
const names: readonly (readonly [string, ShopCall])[] = [
  [`_meta['${keyField}']`, { meta: { [keyField]: 'call-1' } }],
  ['the header Idempotency-Key', { headers: { ...ada, 'idempotency-key': 'call-1' } }],
  ['the ID of a tool use of Claude Code', { meta: ofClaude }],
  ['the ID of a call of Codex in its thread', { meta: ofCodex }],
];

/** Number of sagas that two calls begin: each has keys of its own. */
async function begunBy(
  first: ShopCall,
  second: ShopCall,
  changes: Pick<SagaHostOptions, 'anonymous' | 'starts'> = {},
): Promise<{ readonly sagas: number; readonly charges: number }> {
  const { order, acted } = ordering();
  // What runs in the first request is to be counted.
  const server = shopOf(
    { order },
    {
      starts: { unkeyed: 'run', ...changes.starts },
      anonymous: { calls: 'accept', ...changes.anonymous },
    },
  );
  for (const call of [first, second]) {
    const { last, text } = await callShop(server, call);
    expect(last.error).toBeUndefined();
    expect(text).toContain('size?');
  }
  return { sagas: new Set(acted).size, charges: acted.length };
}

const once = { sagas: 1, charges: 1 };
const twice = { sagas: 2, charges: 2 };

describe.each(ways)('%s %s', (era: Era, method) => {
  const way = { era, method };
  const named = { ...way, meta: { [keyField]: 'call-1' } };

  test.each(names)('named by %s acts once when it is repeated', async (_, how) => {
    expect(await begunBy({ ...way, ...how }, { ...way, ...how })).toEqual(once);
  });

  test('without a key acts twice', async () => {
    expect(await begunBy(way, way)).toEqual(twice);
  });

  test.each([
    ['another user', { 'x-user': 'bob' }],
    ['an anonymous caller', {}],
  ])('is not given to %s with the same key', async (_, headers) => {
    expect(await begunBy(named, { ...named, headers })).toEqual(twice);
  });

  test.each([
    ['counts if the host lets it, and it has 128 bits', uuid, { starts: 'accept' }, once],
    ['does not count without the option', uuid, {}, twice],
    ['does not count if it can be guessed', 'call-1', { starts: 'accept' }, twice],
  ] as const)('by an anonymous caller: the key %s', async (_, key, anonymous, expected) => {
    const call = { ...way, meta: { [keyField]: key }, headers: {} };
    expect(await begunBy(call, call, { anonymous })).toEqual(expected);
  });

  test.each([
    ['a key of 1 MB', 'x'.repeat(1024 * 1024)],
    ['an empty key', ''],
    ['a number', 7],
    ['half a character', 'call-\ud800'],
  ])('refuses %s by name, and runs nothing', async (_, key) => {
    const { order, acted } = ordering();
    const { last } = await callShop(shopOf({ order }), { ...way, meta: { [keyField]: key } });
    expect(last.error).toMatchObject({ code: -32_602, data: { reason: 'invalid_params' } });
    expect(last.error?.message).toContain('idempotencyKey');
    expect(acted).toEqual([]);
  });
});

test('the ID of a call of Codex in another thread is another key', async () => {
  const meta = { ...ofCodex, threadId: '01a2293d-46cc-7861-9c55-76ba2d33d34e' };
  expect(await begunBy({ meta: ofCodex }, { meta })).toEqual(twice);
});

test.each([
  ['of a call of Codex without its thread', { callId: ofCodex.callId }],
  ['of a thread of Codex without its call', { threadId: ofCodex.threadId }],
  ['of a call that is only a number', { ...ofCodex, callId: 'call_1' }],
  ['of a tool use that is only a number', { 'claudecode/toolUseId': 'toolu_1' }],
])('the ID %s is no key', async (_, meta) => {
  expect(await begunBy({ meta }, { meta })).toEqual(twice);
});

test('a key of one way does not name the same key of another way', async () => {
  const [key] = Object.values(ofClaude);
  expect(await begunBy({ meta: ofClaude }, { meta: { [keyField]: key } })).toEqual(twice);
});

test.each([
  ['the field, not the header', { ...ada, 'idempotency-key': 'another' }, ofClaude],
  ['the field, not the ID of the host', ada, { 'claudecode/toolUseId': 'toolu_01B09q90qw90lq91' }],
])('of several keys, a client is known by %s', async (_, headers, meta) => {
  const field = { [keyField]: 'call-1' };
  const second = { headers, meta: { ...meta, ...field } };
  expect(await begunBy({ meta: field }, second)).toEqual(once);
});

test('answers that come with a call are part of its name', async () => {
  const named = { meta: { [keyField]: 'call-1' } };
  const inputResponses = { color: { action: 'accept', content: { color: 'red' } } };
  const answered = { ...named, more: { inputResponses } };
  expect(await begunBy(named, answered)).toEqual(twice);
  expect(await begunBy(answered, answered)).toEqual(once);
});

test.each([
  ['can be guessed', 'call-1', twice],
  ['has 128 bits, if the host lets it', uuid, once],
])('a key of a principal that many users share counts if it %s', async (_, key, expected) => {
  const { order, acted } = ordering();
  const server = shopOf(
    { order },
    {
      auth: { authenticate: () => ({ clientId: 'gateway' }), principal: 'client-only' },
      anonymous: { calls: 'accept', starts: 'accept' },
      starts: { unkeyed: 'run' },
    },
  );
  for (let calls = 0; calls < 2; calls += 1) await callShop(server, { meta: { [keyField]: key } });
  expect(acted).toHaveLength(expected.charges);
});

describe('a key that a client sends with other arguments', () => {
  const input = z.object({ cents: z.number() });

  function counting(changes: Partial<ServeSagasOptions> = {}) {
    const acted: number[] = [];
    const warned: string[] = [];
    const order = saga({ name: 'order', version: '1', input }, function* ({ cents }) {
      yield* step('charge', () => void acted.push(cents));
      return 'done';
    });
    let now = 1_760_000_000_000;
    const clock = (): number => now;
    const server = shopOf(
      { order },
      {
        testing: { clock, environment: 'production' },
        store: memoryStore({ clock }),
        hooks: {
          onWarning: (message) => void (message.includes('starts.key') && warned.push(message)),
        },
        ...changes,
      },
    );
    const pay = async (cents: number, headers = ada): Promise<void> => {
      const call = { meta: { [keyField]: '1' }, more: { arguments: { cents } }, headers };
      expect((await callShop(server, call)).last.error).toBeUndefined();
    };
    return { acted, warned, pay, wait: (ms: number) => void (now += ms) };
  }

  test('may be a counter: the operator is told once, and each call is still repeated', async () => {
    const { acted, warned, pay } = counting();
    for (const cents of [1, 1, 2, 2, 2, 1]) await pay(cents);
    expect(acted).toEqual([1, 2]);
    expect(warned).toHaveLength(1);
  });

  test('is nothing to tell if another hour has begun', async () => {
    const { acted, warned, pay, wait } = counting();
    for (const cents of [1, 2, 2]) {
      await pay(cents);
      wait(cents === 1 ? 3_600_000 : 0);
    }
    expect({ acted, warned }).toEqual({ acted: [1, 2], warned: [] });
  });

  test('is another key for another user, and for a host that chooses the keys', async () => {
    const users = counting();
    await users.pay(1);
    await users.pay(2, { 'x-user': 'bob' });
    await users.pay(2, { 'x-user': 'bob' });
    const chosen = counting({ starts: { key: ({ key }) => key } });
    for (const cents of [1, 2, 2]) await chosen.pay(cents);
    for (const { acted, warned } of [users, chosen])
      expect({ acted, warned }).toEqual({ acted: [1, 2], warned: [] });
  });
});

test('the header goes before the ID of the host', async () => {
  const headers = { ...ada, 'idempotency-key': 'call-1' };
  expect(await begunBy({ headers }, { headers, meta: ofClaude })).toEqual(once);
});

test('a prompt ignores the key of its request', async () => {
  let runs = 0;
  const greet = promptSaga({ name: 'greet', version: '1' }, function* () {
    yield* step('read', () => void (runs += 1));
    return 'Hello';
  });
  const server = shopOf({ order: greet });
  const get = async (key: unknown): Promise<unknown> => {
    const params = { name: 'greet', _meta: { [keyField]: key } };
    const init = { headers: { ...ada, 'mcp-name': 'greet' } };
    const { last } = await read(await server.fetch(post('modern', 'prompts/get', params, 1, init)));
    return last.error;
  };
  expect([await get('call-1'), await get('call-1'), await get(7)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(runs).toBe(3);
});

describe.each(stdioVersions)('over stdio by %s', (version) => {
  test.each([
    ['its own key', { [keyField]: 'call-1' }],
    ['the ID of its host', ofClaude],
  ])('the only client of a process repeats its call by %s', async (_, meta) => {
    const { order, acted } = ordering();
    const host = createSagaHost({
      sagas: [order],
      keys: generateKey(),
      name: 'shop',
      store: memoryStore(),
      hooks: { onWarning: () => undefined, onReject: () => undefined },
    });
    const client = await overStdio(host, version, { elicitation: {} });
    const params = { name: 'order', arguments: {}, _meta: meta };
    const isQuestion = ({ method }: { method?: string }) => method === 'elicitation/create';
    client.send({ id: 'first', method: 'tools/call', params });
    const { id: lost } = await client.first(isQuestion);
    client.send({ id: 'again', method: 'tools/call', params });
    const { id } = await client.first((message) => isQuestion(message) && message.id !== lost);
    client.send({ id, result: { action: 'accept', content: { size: 'L' } } });
    const { result } = await client.first((message) => message.id === 'again');
    expect(JSON.stringify(result)).toContain('done');
    expect(acted).toHaveLength(1);
    client.end();
  });
});

describe('starts.key', () => {
  test('lets a host ignore the IDs of other hosts, and learns the tool', async () => {
    const sent: object[] = [];
    const key: StartOptions['key'] = (of) => {
      sent.push(of);
      return of.from === 'host' ? undefined : of.key;
    };
    expect(await begunBy({ meta: ofClaude }, { meta: ofClaude }, { starts: { key } })).toEqual(
      twice,
    );
    const [id] = Object.values(ofClaude);
    expect(sent[0]).toEqual({ key: id, from: 'host', tool: 'order' });
  });

  test('must be a function', () => {
    expect(() => shopOf(ordering(), { starts: { key: 'none' as never } })).toThrow('starts.key');
  });
});

test('a browser of another origin may send the header', async () => {
  const http = { allowedHosts: ['localhost'], allowedOrigins: ['https://app.example'] };
  const preflight = await shopOf(ordering(), { http }).fetch(
    new Request('http://localhost/mcp', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'idempotency-key',
      },
    }),
  );
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase();
  expect(allowed).toContain('idempotency-key');
});
