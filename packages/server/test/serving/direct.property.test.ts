import * as fc from 'fast-check';
import { elicit, log, memoryStore, progress, saga, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { bothServers } from '../fixtures/both-servers.ts';
import { start } from '../fixtures/clock.ts';
import { prefix, toMessage, toRequest, toSent, withMeta, type Sent } from '../fixtures/sent.ts';

const deploys = saga(
  { name: 'deploys', version: '1', input: z.object({ service: z.string().optional() }) },
  function* ({ service = 'none' }) {
    yield* step('build', () => undefined);
    const { target } = yield* elicit('target', {
      message: 'Where?',
      schema: z.object({ target: z.string() }),
    });
    return `${service} ${target}`;
  },
);

const guarded = saga({ name: 'guarded', version: '1' }, function* () {
  const { name } = yield* elicit('name', {
    message: 'Who?',
    schema: z.object({ name: z.string() }),
  });
  return { content: [{ type: 'text' as const, text: name }] };
});

const region = saga(
  {
    name: 'region',
    version: '1',
    input: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }),
  },
  function* ({ region: given = 'none' }) {
    return yield* step('take', () => given);
  },
);

/** Tells its client about everything that it does, before and after its question. */
const telling = saga(
  { name: 'telling', version: '1', input: z.object({ service: z.string().optional() }) },
  function* ({ service = 'none' }) {
    yield* progress(1, 3, service);
    yield* log('info', { service });
    const { target } = yield* elicit('target', {
      message: 'Where?',
      schema: z.object({ target: z.string() }),
    });
    yield* log('warning', target);
    yield* progress(2);
    yield* step('check', () => {
      if (target === 'nowhere') throw new Error('nowhere');
    });
    yield* progress(3);
    return target;
  },
);

/** JSON, and what `JSON.parse` makes of numbers that are too large. */
const json = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1.5,
    '',
    'x',
    [],
    {},
    [{}],
    { a: { b: [1] } },
    '@infinite@',
  ),
  fc.json({ maxDepth: 3 }).map((text): unknown => JSON.parse(text)),
);

/** Mostly a valid value, sometimes another value or none. */
function mostly<T>(
  usual: fc.Arbitrary<T>,
  other: fc.Arbitrary<unknown> = json,
): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 80, arbitrary: usual },
    { weight: 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: other },
  );
}

const rarely = mostly(fc.constant(undefined));

/** Some of these fields. */
function some(fields: { readonly [name: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<object> {
  return fc.record(fields, { requiredKeys: [] });
}

const forms = { elicitation: {} };
const capabilities = fc.oneof(
  fc.constantFrom<object>({}, forms, {
    elicitation: { form: {}, url: {} },
    sampling: {},
    roots: {},
  }),
  some({
    elicitation: mostly(
      some({ form: mostly(some({ applyDefaults: mostly(fc.boolean()) })), url: json }),
    ),
    sampling: mostly(some({ context: json, tools: json })),
    roots: mostly(some({ listChanged: mostly(fc.boolean()) })),
    experimental: mostly(some({ resumableRequests: json, own: json })),
    extensions: mostly(some({ own: json, [`${prefix}tasks`]: json })),
    resumableRequests: json,
    tasks: json,
    own: json,
  }),
);
const icons = fc.array(
  fc
    .tuple(
      fc.record({ src: mostly(fc.constant('https://example.com/icon.png')) }),
      some({
        mimeType: mostly(fc.constant('image/png')),
        sizes: mostly(fc.constant(['48x48', 'any'])),
        theme: mostly(fc.constantFrom('light', 'dark'), fc.constantFrom<unknown>('blue', 1)),
        own: json,
      }),
    )
    .map(([needed, more]) => ({ ...needed, ...more })),
  { maxLength: 2 },
);
const clientInfo = fc
  .tuple(
    fc.record({ name: mostly(fc.constant('raw')), version: mostly(fc.constant('1')) }),
    some({
      title: mostly(fc.string()),
      websiteUrl: mostly(fc.string()),
      description: json,
      icons: mostly(icons),
    }),
  )
  .map(([needed, more]) => ({ ...needed, ...more }));
const meta = fc
  .tuple(
    fc.record({
      [`${prefix}protocolVersion`]: mostly(
        fc.constant('2026-07-28'),
        fc.constantFrom('2025-11-25', '2027-01-01', 7),
      ),
      [`${prefix}clientInfo`]: mostly(
        fc.oneof(fc.constant({ name: 'raw', version: '1' }), clientInfo),
      ),
      [`${prefix}clientCapabilities`]: mostly(capabilities),
    }),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      {
        weight: 3,
        arbitrary: some({
          progressToken: mostly(fc.oneof(fc.string(), fc.integer())),
          [`${prefix}logLevel`]: mostly(fc.constantFrom('debug', 'warning', 'error')),
        }),
      },
      {
        weight: 1,
        arbitrary: some({
          progressToken: json,
          [`${prefix}logLevel`]: mostly(fc.constantFrom('debug', 'error')),
          [`${prefix}related-task`]: json,
          traceparent: fc.constant(`00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`),
          resumeToken: json,
          own: json,
        }),
      },
    ),
  )
  .map(([envelope, more]) => ({ ...envelope, ...more }));

const byStep = some({
  target: mostly(
    fc.constantFrom({ action: 'accept', content: { target: 'x' } }, { action: 'decline' }),
  ),
  name: mostly(fc.constant({ action: 'accept', content: { name: 'Ada' } })),
  '@proto@': json,
  wrapped: fc.constantFrom({ method: 'x' }, { result: {} }),
});
const steps = fc.array(
  fc.record({
    stepId: fc.constantFrom('target', 'name', 'other'),
    result: fc.constantFrom(
      { action: 'accept', content: { target: 'x', name: 'y' } },
      { action: 'cancel' },
    ),
  }),
  { maxLength: 2 },
);
const args = mostly(
  some({ service: mostly(fc.constant('shop')), region: mostly(fc.constant('eu')) }),
);
const names = fc.constantFrom(
  'deploys',
  'deploys',
  'telling',
  'guarded',
  'region',
  'nobody',
  '=?base64?ZGVwbG95cw==?=',
);

/** Params of each method. */
const methods: {
  readonly [method: string]: (token: fc.Arbitrary<unknown>) => fc.Arbitrary<object>;
} = {
  'tools/call': (token) =>
    fc.record({
      name: mostly(names),
      arguments: fc.oneof(args, some({ resumeToken: token, answers: byStep })),
      requestState: fc.oneof(fc.constant(undefined), mostly(token)),
      inputResponses: fc.oneof(fc.constant(undefined), mostly(byStep)),
    }),
  'tools/callSaga': () => fc.record({ name: mostly(names), arguments: args, requestState: rarely }),
  'tools/resumeSaga': (token) =>
    fc.record({ sagaToken: mostly(token), completedSteps: mostly(steps), inputResponses: rarely }),
  'tools/cancelSaga': (token) =>
    fc.record({ sagaToken: mostly(token), reason: mostly(fc.string()) }),
  'tools/list': () => fc.constant({}),
  'server/discover': () => fc.constant({}),
  'unknown/method': () => fc.constant({}),
};

function sent(token: fc.Arbitrary<unknown>): fc.Arbitrary<Sent> {
  const each = Object.entries(methods).map(([method, params]) =>
    fc.tuple(fc.constant(method), params(token)),
  );
  const id = mostly(
    fc.oneof(fc.integer(), fc.string()),
    fc.constantFrom<unknown>(null, 1.5, 2 ** 53, {}, '@infinite@'),
  );
  const message = fc
    .record({
      call: fc.oneof(...each.map((arbitrary, index) => ({ arbitrary, weight: index < 4 ? 6 : 1 }))),
      meta: mostly(meta),
      id,
      jsonrpc: mostly(fc.constant('2.0')),
      own: fc.oneof(
        { weight: 15, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: some({ extra: json, result: json }) },
      ),
    })
    .map(({ call: [method, params], meta: _meta, own, ...rest }) => ({
      ...rest,
      method,
      params: { ...params, _meta },
      ...own,
    }));
  return message.chain((whole) => {
    const { method, params } = whole;
    const { name } = params as { readonly name?: unknown };
    const headers = fc.record({
      'content-type': mostly(
        fc.constant('application/json'),
        fc.constantFrom(
          'application/json; charset=utf-8',
          'application/json;charset=UTF-8',
          'application/json; charset="utf-8"',
          'application/json; charset=latin1',
          'application/json;',
          'text/plain',
          'application/json, x',
        ),
      ),
      accept: mostly(fc.constant('application/json, text/event-stream'), fc.constant('text/html')),
      'mcp-protocol-version': mostly(
        fc.constant('2026-07-28'),
        fc.constantFrom('2025-11-25', '2027-01-01', 'x'),
      ),
      'mcp-method': mostly(fc.constant(method), fc.constantFrom('tools/call', 'x')),
      'mcp-name': mostly(
        fc.constant(typeof name === 'string' ? name : 'x'),
        fc.constantFrom('deploys', '=?base64?ZGVwbG95cw==?=', '=?base64?*?='),
      ),
      'mcp-param-region': mostly(fc.constantFrom('eu', 'us')),
      'content-length': fc.oneof(
        {
          weight: 3,
          arbitrary: mostly(fc.constant('@length@'), fc.constantFrom('0', '7', '99999999')),
        },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
    });
    const verb = fc.oneof(
      { weight: 20, arbitrary: fc.constant('POST') },
      { weight: 1, arbitrary: fc.constantFrom('GET', 'PUT', 'DELETE') },
    );
    const text = JSON.stringify(whole)
      .replaceAll('@proto@', '__proto__')
      .replaceAll('"@infinite@"', '1e999');
    const body = fc.oneof(
      { weight: 20, arbitrary: fc.constant(text) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          `[${text}]`,
          text.slice(1),
          '',
          'null',
          text.replace('"id"', '"x"'),
          text + ' '.repeat(9000),
        ),
      },
    );
    return fc.record({ verb, headers, body }).map(({ headers: given, ...rest }) => ({
      ...rest,
      headers: Object.fromEntries(
        Object.entries(given).flatMap(([header, value]) =>
          typeof value === 'string'
            ? [[header, value.replace('@length@', String(Buffer.byteLength(rest.body)))]]
            : [],
        ),
      ),
    }));
  });
}

test('[W1] [W2] any request gets the same response directly and from the SDK', async () => {
  const both = bothServers(
    {
      sagas: [deploys, guarded, region, telling],
      answerers: { model: 'accept' },
      limits: { maxHold: 0 },
      http: { handler: { maxRequestBodySize: 8000 } },
    },
    () => ({ store: memoryStore({ clock: () => start }), shortTokens: false }),
  );
  const tokens: string[] = [];
  for (const [method, field, declared] of [
    ['tools/callSaga', 'sagaToken', {}],
    ['tools/call', 'requestState', forms],
    ['tools/call', 'nextResumeToken', {}],
  ] as const)
    for (const name of ['deploys', 'guarded', 'telling']) {
      const { text, isDirect } = await both.ask(() =>
        toRequest(toSent(toMessage(method, { name }, declared))),
      );
      expect(isDirect).toBe(true);
      tokens.push(
        (JSON.parse(text) as { readonly result: Record<string, string> }).result[field] ?? '',
      );
    }
  expect(tokens.every((token) => token.length > 50)).toBe(true);
  const token = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...tokens) },
    { weight: 1, arbitrary: fc.constantFrom(...tokens).map((text) => text.slice(0, -4)) },
    { weight: 1, arbitrary: json },
  );
  // Random requests are rarely accepted.
  const accepted = ['deploys', 'guarded', 'region', 'telling'].flatMap((name) =>
    ['tools/call', 'tools/callSaga'].flatMap((method) =>
      [{}, forms, { ...forms, sampling: {} }, { experimental: { resumableRequests: {} } }].flatMap(
        (declared): [Sent][] => [
          [toSent(toMessage(method, { name }, declared))],
          [toSent(withMeta(toMessage(method, { name }, declared), { progressToken: 7 }))],
          [
            toSent(
              withMeta(toMessage(method, { name }, declared), { [`${prefix}logLevel`]: 'debug' }),
            ),
          ],
        ],
      ),
    ),
  );
  const seen = { direct: 0, bySdk: 0, answered: 0, streamed: 0 };
  await fc.assert(
    fc.asyncProperty(sent(token), async (request) => {
      const { isDirect, text } = await both.ask(() => toRequest(request));
      seen[isDirect ? 'direct' : 'bySdk'] += 1;
      if (isDirect && text.includes('"result"')) seen.answered += 1;
      if (isDirect && text.startsWith('event: ')) seen.streamed += 1;
    }),
    { numRuns: Number(process.env['SAGA_RUNS'] ?? 1500), examples: accepted },
  );
  expect(both.told.direct).toEqual(both.told.sdk);
  expect(seen.direct).toBeGreaterThan(300);
  expect(seen.bySdk).toBeGreaterThan(50);
  expect(seen.answered).toBeGreaterThan(25);
  expect(seen.streamed).toBeGreaterThan(10);
});

test('[W1] any tool result of an author is encoded as by the SDK', async () => {
  const returns = saga(
    { name: 'returns', version: '1', input: z.object({ result: z.unknown() }) },
    function* ({ result }) {
      return yield* step('return', () => ({ content: [], ...(result as object) }));
    },
  );
  const both = bothServers({ sagas: [returns] });
  const result = some({
    content: fc.constant([{ type: 'text', text: 'x' }]),
    structuredContent: json,
    isError: fc.boolean(),
    resultType: fc.constantFrom('complete', 'input_required', 'task', 7),
    capabilities: fc.constantFrom<unknown>({ tools: {} }, {}, 7),
    // The SDK never answers a result with another `_meta`.
    _meta: some({ [`${prefix}serverInfo`]: json, own: json }),
    ttlMs: json,
    own: json,
  });
  await fc.assert(
    fc.asyncProperty(
      result,
      fc.constantFrom('tools/call', 'tools/callSaga'),
      async (given, method) => {
        const { isDirect } = await both.ask(() =>
          toRequest(
            toSent(toMessage(method, { name: 'returns', arguments: { result: given } }, forms)),
          ),
        );
        expect(isDirect).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
  expect(both.told.direct.turns.length).toBeGreaterThan(300);
});
