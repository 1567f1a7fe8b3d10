import * as fc from 'fast-check';
import { TokenRefused } from '@mcp-saga/seal';
import { expect, test } from 'vitest';
import { suspended, type TestHost } from '../fixtures/host.ts';
import { orderResource, reviewPrompt } from '../fixtures/prompts.ts';
import { knowsTasks } from '../fixtures/task-client.ts';
import { deploys, comparedHost, proto, send, ways } from '../fixtures/ways.ts';
import { coreOf } from '../../src/saga-host.ts';

/** A token, and what chance makes of it. */
function changed(token: string): fc.Arbitrary<string> {
  const at = fc.nat(token.length);
  const base64 = fc.string({
    unit: fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '.', '=', '+', '/'),
    maxLength: 8,
  });
  return fc.oneof(
    fc
      .tuple(at, fc.nat(8), base64)
      .filter(
        ([from, cut, text]) => token.slice(0, from) + text + token.slice(from + cut) !== token,
      )
      .map(([from, cut, text]) => token.slice(0, from) + text + token.slice(from + cut)),
    fc
      .shuffledSubarray(token.split('.'))
      .map((parts) => parts.join('.'))
      .filter((text) => text !== token),
    fc
      .record({
        alg: fc.string(),
        enc: fc.string(),
        kid: fc.string(),
        sid: fc.string(),
        zip: fc.string(),
      })
      .map((header) =>
        token.replace(/^[^.]*/, Buffer.from(JSON.stringify(header)).toString('base64url')),
      ),
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.anything().map((value) => value as string),
  );
}

test('[T4] [T5] every method of a host rejects a value that is not a token with the same error', async () => {
  const { host, told } = comparedHost([deploys()]);
  const anonymous = { caller: 'anonymous' } as const;
  const { token } = suspended(await host.start('deploys', {}, anonymous));
  const methodsOfHost: readonly ((text: string) => Promise<unknown>)[] = [
    (text) => host.resume(text, [], anonymous),
    (text) => coreOf(host).status(text, { principal: 'anonymous' }),
    (text) => host.cancel(text, anonymous),
    (text) => host.inspect(text),
  ];
  await fc.assert(
    fc.asyncProperty(changed(token), async (text) => {
      for (const open of methodsOfHost) {
        const error: unknown = await open(text).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(TokenRefused);
        expect((error as Error).message).toBe('Invalid or expired sagaToken');
      }
    }),
    { numRuns: 400 },
  );
  expect(told.errors).toEqual([]);
  expect(told.turns).toHaveLength(1);
});

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.double({ noNaN: true }),
      fc.boolean(),
    ),
    fc.constantFrom(null, '', -0, 2 ** 53, 1e308, proto, 'accept', 'target', 'deploys', 'review'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        proto,
        'constructor',
        'action',
        'content',
        'target',
        'stepId',
        'result',
        'error',
        'a',
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

const accepts = fc.constantFrom<unknown>(
  { action: 'accept', content: { target: 'x' } },
  { action: 'decline' },
  { action: 'accept' },
);
const byStep = fc.dictionary(
  fc.constantFrom('target', 'user_context', 'reason', 'target~2', proto, 'a.b', ''),
  fc.oneof(accepts, json),
  { maxKeys: 3 },
);
const steps = fc.array(
  fc.oneof(
    json,
    fc.record({ stepId: fc.constantFrom('target', 'a', proto), result: fc.oneof(accepts, json) }),
    fc.record({
      stepId: fc.constantFrom('target', 'a'),
      error: fc.oneof(json, fc.record({ code: fc.integer(), message: fc.string(), data: json })),
    }),
  ),
  { maxLength: 3 },
);

/** Params with some of these fields, of the right shape or of another one. */
function params(fields: { readonly [name: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<object> {
  const each = Object.entries(fields).map(([name, value]) => [
    name,
    fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: json }),
  ]);
  return fc.record(Object.fromEntries(each) as typeof fields, { requiredKeys: [] });
}

/** Params with fields that the SDK looks at itself, before anything is asked of a saga. */
function beside(
  fields: { readonly [name: string]: fc.Arbitrary<unknown> },
  rest: fc.Arbitrary<object>,
): fc.Arbitrary<object> {
  return fc.tuple(fc.record(fields), rest).map(([own, more]) => ({ ...own, ...more }));
}

/**
 * The codes that methods may answer with: what clients do wrong, and what the SDK refuses before.
 */
const documented = [
  -32_602, // invalid params
  -32_601, // method not found
  -32_600, // invalid request
  -32_021, // a capability is missing
  -32_020, // header and body disagree
  -32_002, // no such resource
];

const asArguments = fc.record({ service: fc.string() }, { requiredKeys: [] });
const reviews = fc.record({ language: fc.constantFrom('ts', '', proto) }, { requiredKeys: [] });

const name = fc.constant('deploys');
const methods: {
  readonly [method: string]: (token: fc.Arbitrary<string>) => fc.Arbitrary<object>;
} = {
  'tools/call': (token) =>
    params({
      name,
      arguments: fc.oneof(
        asArguments,
        fc.record({ resumeToken: token, answers: byStep }, { requiredKeys: [] }),
      ),
      requestState: token,
      inputResponses: byStep,
    }),
  'tools/callSaga': () => params({ name, arguments: asArguments }),
  'tools/resumeSaga': (token) => params({ sagaToken: token, completedSteps: steps }),
  'tools/cancelSaga': (token) => params({ sagaToken: token, reason: fc.string() }),
  'requests/resume': (token) => params({ resumeToken: token, inputResponses: byStep }),
  'requests/getStatus': (token) => params({ requestId: fc.integer(), resumeToken: token }),
  'tasks/get': (token) => params({ taskId: token }),
  'tasks/update': (token) => params({ taskId: token, inputResponses: byStep }),
  'tasks/cancel': (token) => params({ taskId: token }),
  'prompts/get': (token) =>
    beside(
      { name: fc.constant('review') },
      params({ arguments: reviews, requestState: token, inputResponses: byStep }),
    ),
  'resources/read': (token) =>
    beside(
      {
        uri: fc.oneof(
          { weight: 3, arbitrary: fc.constant('orders://eu/7') },
          fc.webUrl(),
          fc.string(),
        ),
      },
      params({ requestState: token, inputResponses: byStep }),
    ),
};

/** Params that a method accepts. */
const goodOf: { readonly [method: string]: (token: string) => object } = {
  'tools/call': () => ({ name: 'deploys' }),
  'tools/callSaga': () => ({ name: 'deploys' }),
  'tools/resumeSaga': (sagaToken) => ({ sagaToken, completedSteps: [] }),
  'requests/resume': (resumeToken) => ({ resumeToken, inputResponses: {} }),
  'requests/getStatus': (resumeToken) => ({ requestId: 1, resumeToken }),
  'tasks/get': (taskId) => ({ taskId }),
  'tasks/update': (taskId) => ({ taskId, inputResponses: {} }),
  'tasks/cancel': (taskId) => ({ taskId }),
  'prompts/get': () => ({ name: 'review', arguments: { language: 'ts' } }),
  'resources/read': () => ({ uri: 'orders://eu/7' }),
};

/** A token of each dialect, and of prompts and resources in rounds. */
async function tokensOf(server: TestHost): Promise<{ readonly [of: string]: string }> {
  const tokens: Record<string, string> = {};
  for (const way of ways) tokens[way.name] = await way.begin(server);
  for (const [method, asks] of Object.entries({
    'prompts/get': { name: 'review', arguments: { language: 'ts' } },
    'resources/read': { uri: 'orders://eu/7' },
  })) {
    const { last } = await send(server, method, asks, { capabilities: { elicitation: {} } });
    tokens[method] = last.result?.['requestState'] as string;
  }
  return tokens;
}

/** Whose tokens a method takes. */
const ownOf: { readonly [method: string]: string } = {
  'tools/call': 'multi round-trip',
  'tools/resumeSaga': 'saga methods',
  'tools/cancelSaga': 'saga methods',
  'requests/resume': 'resumable requests',
  'requests/getStatus': 'resumable requests',
  'tasks/get': 'tasks',
  'tasks/update': 'tasks',
  'tasks/cancel': 'tasks',
};

test.each(Object.entries(methods))(
  '[T5] [T9] [W4] %s answers any params with a result or with a documented error',
  async (method, make) => {
    const server = comparedHost([deploys(), reviewPrompt(), orderResource()]);
    const tokens = await tokensOf(server);
    const own = tokens[ownOf[method] ?? method] ?? '';
    const token = fc.oneof(
      { weight: 6, arbitrary: fc.constant(own) },
      { weight: 4, arbitrary: fc.constantFrom(...Object.values(tokens)) },
      { weight: 1, arbitrary: fc.constant(own.slice(1)) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    );
    const declarations = [
      {},
      { elicitation: {} },
      { elicitation: {}, resumableRequests: {} },
      knowsTasks,
    ];
    const capabilities = fc.constantFrom<object>(...declarations, knowsTasks);
    // Random params of some methods rarely come through to the sagas.
    const good = declarations.map((declared): [object, object] => [
      goodOf[method]?.(own) ?? {},
      declared,
    ]);
    const codes = new Set<number | undefined>();
    await fc.assert(
      fc.asyncProperty(make(token), capabilities, async (sent, declared) => {
        const { last, messages } = await send(server, method, sent, { capabilities: declared });
        const { error } = last;
        codes.add(error?.code);
        expect(messages.length).toBeGreaterThan(0);
        if (error === undefined) expect(last.result).toBeTypeOf('object');
        // A prompt or a resource that fails has no result to say so: it names its saga, or the
        // question it is about.
        else if (error.code === -32_603)
          expect(error.message).toMatch(/'(?:review|order|user_context|reason)'/);
        else expect(documented).toContain(error.code);
        expect(error?.message.length ?? 0).toBeLessThan(2000);
      }),
      { numRuns: 120, examples: good },
    );
    expect(server.told.errors).toEqual([]);
    // Some came through to the sagas.
    if (method !== 'tools/cancelSaga') expect(codes).toContain(undefined);
    expect(codes).toContain(-32_602);
  },
);
