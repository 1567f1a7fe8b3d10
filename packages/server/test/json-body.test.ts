import { serveSagas } from '@mcp-saga/server/serve';
import { describe, expect, test, vi } from 'vitest';
import { hooksInto, newKey, nothingTold } from './fixtures/host.ts';
import { eras, post, postText, read } from './fixtures/raw.ts';
import { complexTool } from './fixtures/sagas.ts';

const limit = 2000;
const method = 'tools/callSaga';
const call = { name: 'complex_tool', arguments: { initial_arg: 'value' } };

const server = (told = nothingTold()): ReturnType<typeof serveSagas> =>
  serveSagas({
    name: 'deployer',
    version: '1.0.0',
    sagas: [complexTool()],
    keys: newKey,
    http: { handler: { maxRequestBodySize: limit } },
    hooks: hooksInto(told),
  });

const declared = (length: number): { readonly headers: Record<string, string> } => ({
  headers: { 'content-length': String(length) },
});

/** Sends the body of a request in chunks of some bytes. */
function chunked(whole: Request, size: number, pulled: number[] = []): Request {
  const { url, method: verb, headers } = whole;
  const reading = whole.arrayBuffer();
  let at = 0;
  const body = new ReadableStream({
    pull: async (controller) => {
      const bytes = new Uint8Array(await reading);
      pulled.push(at);
      controller.enqueue(bytes.slice(at, (at += size)));
      if (at >= bytes.length) controller.close();
    },
  });
  return new Request(url, { method: verb, headers, body, duplex: 'half' } as RequestInit);
}

describe.each(eras)('a posted body of the %s era', (era) => {
  test('is read without a copy if its length is declared', async () => {
    const request = post(era, method, call, 'one', declared(400));
    const copied = vi.spyOn(request, 'clone');
    const { last } = await read(await server().fetch(request));
    expect(last).toMatchObject({ id: 'one', result: { state: 'suspended' } });
    expect(copied).not.toHaveBeenCalled();
  });

  test('is read without a copy if it arrives in chunks, without a declared length', async () => {
    const request = chunked(post(era, method, call, 'one'), 7);
    const copied = vi.spyOn(request, 'clone');
    const { last } = await read(await server().fetch(request));
    expect(last).toMatchObject({ id: 'one', result: { state: 'suspended' } });
    expect(copied).not.toHaveBeenCalled();
  });

  test('is answered with 413 as soon as its chunks are over the size limit', async () => {
    const big = { ...call, arguments: { initial_arg: 'x'.repeat(10 * limit) } };
    const pulled: number[] = [];
    const request = chunked(post(era, method, big, 1), 500, pulled);
    expect((await server().fetch(request)).status).toBe(413);
    expect(pulled.length).toBeLessThan(10);
  });

  test.each([{}, declared(400)])(
    'is refused with 400 if it was already read, with %j',
    async (init) => {
      const request = post(era, method, call, 1, init);
      await request.text();
      expect((await server().fetch(request)).status).toBe(400);
    },
  );

  test.each([
    ['invalid JSON', '{'],
    ['zero bytes', ''],
    ['null', 'null'],
    ['JSON after a byte order mark', `\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}`],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
    ['an object without a method', '{"a":1}'],
  ])('of %s gets the same response with and without a declared length', async (_, body) => {
    const sent = [{}, declared(100)].map((init) => postText(era, method, body, init));
    const [without, once] = await Promise.all(
      sent.map(async (request) => read(await server().fetch(request))),
    );
    expect(once).toEqual(without);
  });

  test('is answered with 413 over the size limit, whatever length it declares', async () => {
    const told = nothingTold();
    const big = { ...call, arguments: { initial_arg: 'x'.repeat(limit) } };
    for (const length of [limit + 1, limit, 400]) {
      const { status } = await server(told).fetch(post(era, method, big, 1, declared(length)));
      expect(status).toBe(413);
    }
    expect(told.turns).toEqual([]);
  });
});

test.each([
  ['not a number', 'many', 0],
  ['negative', '-1', 0],
  ['over the limit', String(limit + 1), 2],
  ['the limit', String(limit), 0],
])('a declared length that is %s does not change the response', async (_, length, copies) => {
  const request = post('modern', method, call, 1, { headers: { 'content-length': length } });
  const copied = vi.spyOn(request, 'clone');
  const { status } = await server().fetch(request);
  expect(status).toBe(Number(length) > limit ? 413 : 200);
  expect(copied).toHaveBeenCalledTimes(copies);
});

test.each([
  ['by default', {}, 4 * 1024 * 1024],
  ['with a higher limit', { maxRequestBodySize: 5 * 1024 * 1024 }, 5 * 1024 * 1024],
  ['with a lower limit', { maxRequestBodySize: 1_000 }, 1_000],
])(
  'a body of a declared length is read up to the limit of the SDK %s',
  async (_, handler, most) => {
    const serve = serveSagas({
      name: 'deployer',
      version: '1.0.0',
      sagas: [complexTool()],
      keys: newKey,
      http: { handler },
    });
    const statusOf = async (length: number): Promise<number> =>
      (await serve.fetch(post('modern', method, call, 1, declared(length)))).status;
    expect(await statusOf(most)).toBe(200);
    expect(await statusOf(most + 1)).toBe(413);
  },
);

test('a body of strings, as a framework may make it, is refused with 400', async () => {
  const { url, headers } = post('modern', method, call);
  const body = new ReadableStream({
    start: (controller) => {
      controller.enqueue(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
      controller.close();
    },
  });
  const request = new Request(url, {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
  expect((await server().fetch(request)).status).toBe(400);
});

test('a body in chunks beyond 1 MiB is served, if the limit is higher', async () => {
  const serve = serveSagas({
    name: 'deployer',
    version: '1.0.0',
    sagas: [complexTool()],
    keys: newKey,
    http: { handler: { maxRequestBodySize: 4 * 1024 * 1024 } },
  });
  const padded = postText(
    'modern',
    method,
    `${await post('modern', method, call, 'padded').text()}${' '.repeat(1_200_000)}`,
  );
  const { last } = await read(await serve.fetch(chunked(padded, 65_536)));
  expect(last).toMatchObject({ id: 'padded', result: { state: 'suspended' } });
});

test('a GET request with a declared length is answered with 405', async () => {
  const headers = { accept: 'text/event-stream', 'content-length': '10' };
  const { status } = await server().fetch(new Request('http://localhost/mcp', { headers }));
  expect(status).toBe(405);
});

test('a body that ends early is refused with 400', async () => {
  const body = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': '400',
    },
    body,
    duplex: 'half',
  } as RequestInit);
  expect((await server().fetch(request)).status).toBe(400);
});
