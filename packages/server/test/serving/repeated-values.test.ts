import { elicit, saga, type SagaTelemetry } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { expect, test } from 'vitest';
import { hooksInto, nothingTold, oldKey } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { post } from '../fixtures/raw.ts';
import { prefix, toMessage, toRequest, toSent, withMeta } from '../fixtures/sent.ts';

const asking = saga({ name: 'asking', version: '1' }, function* () {
  yield* elicit('go', { message: 'Go?', schema: Empty });
  return 'done';
});

const capabilitiesKey = `${prefix}clientCapabilities`;
const call = toMessage('tools/call', { name: 'asking', arguments: {} });

/** Sends a request. Returns what was answered, and how many requests the SDK served. */
async function answerTo(request: Request) {
  let bySdk = 0;
  const span = { parent: undefined, within: (work: () => void) => work(), event() {}, end() {} };
  const telemetry: SagaTelemetry = {
    turn: () => ({ ...span, step: () => ({ within: (work) => work(), end() {} }) }),
    refused() {},
    servedBySdk: () => void (bySdk += 1),
  };
  const server = serveSagas({
    name: 'test',
    version: '1',
    sagas: [asking],
    keys: oldKey,
    hooks: hooksInto(nothingTold()),
    telemetry,
  });
  const response = await server.fetch(request);
  return { status: response.status, text: await response.text(), bySdk };
}

const many = <T>(count: number, value: T): { readonly [name: string]: T } =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`com.example/${index}`, value]));

/** Requests of a client that repeats `count` values in one part of them. */
const parts: readonly (readonly [part: string, (count: number) => object])[] = [
  ['_meta', (count) => withMeta(call, many(count, 1))],
  ['_meta', (count) => withMeta(call, { [capabilitiesKey]: { extensions: many(count, {}) } })],
  [
    '_meta',
    (count) => withMeta(call, { [capabilitiesKey]: { experimental: { a: many(count, 1) } } }),
  ],
  [
    '_meta',
    (count) =>
      withMeta(call, {
        [capabilitiesKey]: {
          elicitation: { form: { list: Array.from({ length: count }, () => 1) } },
        },
      }),
  ],
  ['params', (count) => ({ ...call, params: { ...call.params, ...many(count, 1) } })],
  ['request', (count) => ({ ...call, ...many(count, 1) })],
  [
    'inputResponses',
    (count) => ({
      ...call,
      params: { ...call.params, inputResponses: many(count, { action: 'decline' }) },
    }),
  ],
];

test.each(parts)(
  '[T12] a request with 2,001 values in %s is refused before the SDK sees it',
  async (part, toBody) => {
    const { status, text, bySdk } = await answerTo(toRequest(toSent(toBody(2_001) as typeof call)));
    expect({ status, bySdk }).toEqual({ status: 400, bySdk: 0 });
    expect(JSON.parse(text)).toMatchObject({
      id: call.id,
      error: { code: -32_602, message: expect.stringContaining(part) },
    });
  },
);

test.each(parts.slice(0, 4))(
  '[T12] a request with 1,900 values in %s is answered',
  async (_, toBody) => {
    const { status, text } = await answerTo(toRequest(toSent(toBody(1_900) as typeof call)));
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ id: call.id });
  },
);

test('[T12] a value that is nested 2,001 times in _meta is refused', async () => {
  const nested = JSON.parse(`${'{"a":'.repeat(2_001)}1${'}'.repeat(2_001)}`) as object;
  const { status } = await answerTo(toRequest(toSent(withMeta(call, { nested }))));
  expect(status).toBe(400);
});

test('[T12] capabilities of 2,001 values are refused in an initialization of MCP 2025', async () => {
  const params = {
    protocolVersion: '2025-11-25',
    clientInfo: { name: 'client', version: '1' },
    capabilities: { experimental: many(2_001, {}) },
  };
  const { status, text, bySdk } = await answerTo(post('legacy', 'initialize', params));
  expect({ status, bySdk }).toEqual({ status: 400, bySdk: 0 });
  expect(text).toContain('capabilities');
});

const zeros = (count: number): readonly number[] => Array.from({ length: count }, () => 0);

test('[T12] 2,001 icons of a client are refused in an initialization of MCP 2025', async () => {
  const params = {
    protocolVersion: '2025-11-25',
    clientInfo: { name: 'client', version: '1', icons: zeros(2_001) },
    capabilities: {},
  };
  const { status, bySdk } = await answerTo(post('legacy', 'initialize', params));
  expect({ status, bySdk }).toEqual({ status: 400, bySdk: 0 });
});

test('[T12] 2,001 subscriptions are refused', async () => {
  const params = { notifications: { resourceSubscriptions: zeros(2_001) } };
  const { status, bySdk } = await answerTo(post('modern', 'subscriptions/listen', params));
  expect({ status, bySdk }).toEqual({ status: 400, bySdk: 0 });
});

test.each([true, false])(
  '[T12] 2,001 values are refused in a body of more than 1 MiB, with a declared length: %s',
  async (isDeclared) => {
    const { url, method, headers } = toRequest(toSent(call));
    const text = JSON.stringify(withMeta(call, many(2_001, 1))) + ' '.repeat(1024 * 1024);
    headers.delete('content-length');
    if (isDeclared) headers.set('content-length', String(text.length));
    const body = isDeclared ? text : new Blob([text]).stream();
    const init = { method, headers, body, duplex: 'half' };
    const { status, bySdk } = await answerTo(new Request(url, init));
    expect({ status, bySdk }).toEqual({ status: 400, bySdk: 0 });
  },
);

test('[T12] arguments of more than 2,000 values are for their tool to refuse', async () => {
  const { status } = await answerTo(
    toRequest(toSent({ ...call, params: { ...call.params, arguments: many(2_001, 1) } })),
  );
  expect(status).toBe(200);
});

test('[T12] 100 messages of a batch may each have 100 values', async () => {
  const batch = Array.from({ length: 100 }, (_, id) => ({ ...withMeta(call, many(100, 1)), id }));
  const { url, method, headers } = toRequest(toSent(call));
  headers.delete('content-length');
  const { text } = await answerTo(
    new Request(url, { method, headers, body: JSON.stringify(batch) }),
  );
  expect(text).not.toContain('values');
});

test('[T12] a batch of 2,001 messages is refused', async () => {
  const batch = Array.from({ length: 2_001 }, (_, id) => ({ ...call, id }));
  const request = toRequest(toSent(call));
  const { headers, method, url } = request;
  const body = JSON.stringify(batch);
  headers.delete('content-length');
  const { status } = await answerTo(new Request(url, { method, headers, body }));
  expect(status).toBe(400);
});
