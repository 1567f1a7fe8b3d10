import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import {
  approval,
  continueAs,
  memoryStore,
  memoryQueue,
  pivot,
  saga,
  sleep,
  step,
  type HostRequest,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import * as z from 'zod';
import { connections } from '../fixtures/connections.ts';
import { accept, completed, hostOf, oldKey, suspended } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { testClock } from '../fixtures/clock.ts';
import { minute, recordingQueue, type Sent } from '../queue/queued.ts';

type AuthOptions = NonNullable<SagaHostOptions['auth']>;

const hour = 3_600_000;
const ann = { principal: { issuer: 'https://id', subject: 'ann', client: 'app' } } as const;
const answer = [accept('target', { target: 'x' })];

/** Calls of all methods of a host that take options, as JavaScript makes them. */
const methods: Readonly<Record<string, (host: SagaHost, options: never) => Promise<unknown>>> = {
  start: (host, options) => host.start('asking', {}, options),
  resume: (host, options) => host.resume('token', answer, options),
  cancel: (host, options) => host.cancel('token', options),
  deliver: (host, options) => host.deliver({ token: 'token' } as never, options),
  inspect: (host, options) => host.inspect('token', options),
  answer: (host, options) =>
    host.answer(new Request('https://shop.example/saga/answer/token'), options),
};

const taken: Readonly<Record<string, readonly string[]>> = {
  start: ['caller', 'env', 'signal'],
  resume: ['caller', 'env', 'signal'],
  cancel: ['caller', 'env', 'signal', 'reason'],
  deliver: ['env', 'signal'],
  inspect: ['caller'],
  answer: ['caller', 'env'],
};
const ofCaller = ['principal', 'user', 'capabilities', 'progress', 'log', 'traceContext'];
const ofPrincipal = ['issuer', 'subject', 'client'];

/** Names that a developer may write by mistake: of another level, misspelled, or any. */
const mistaken = fc.oneof(
  fc.constantFrom('principal', 'authInfo', 'subject', 'users', 'auth', 'principle', 'callr'),
  fc
    .tuple(fc.constantFrom('caller', 'signal', ...ofCaller, ...ofPrincipal), fc.nat(10))
    .map(([name, at]) => name.slice(0, at % name.length) + name.slice((at % name.length) + 1)),
  fc.string({ minLength: 1, maxLength: 12 }).filter((name) => name !== '__proto__'),
);

describe('the options of a request to a host', () => {
  test('[T6] are refused by name if a name is unknown, at each level, before anything runs', async () => {
    const { host, told } = hostOf(asking(), {
      store: memoryStore({ clock: () => 0 }),
      url: 'https://shop.example',
    });
    const wrong = fc
      .tuple(fc.constantFrom(...Object.keys(methods)), mistaken, fc.constantFrom(0, 1, 2))
      .map(([method, name, level]) => ({ method, name, level: method === 'deliver' ? 0 : level }))
      .filter(
        ({ method, name, level }) =>
          ![taken[method] ?? [], ofCaller, ofPrincipal][level]?.includes(name),
      );
    await fc.assert(
      fc.asyncProperty(wrong, async ({ method, name, level }) => {
        const options = [
          { ...(method === 'deliver' ? {} : { caller: ann }), [name]: ann },
          { caller: { ...ann, [name]: ann } },
          { caller: { principal: { ...ann.principal, [name]: 'x' } } },
        ][level] as never;
        const refused = methods[method]?.(host, options);
        await expect(refused).rejects.toMatchObject({ code: 'unknown_option' });
        await expect(refused).rejects.toThrow(name);
      }),
      { numRuns: 200 },
    );
    expect(told.steps).toEqual([]);
    expect(told.rejections).toEqual([]);
  });

  test.each([
    ['a principal beside the caller', { principal: ann.principal }, 'caller.principal'],
    ['a user beside the caller', { user: { sub: 'ann' } }, 'caller.user'],
    ['a misspelled principal', { caller: { principle: ann.principal } }, 'caller.principal'],
    ['a misspelled caller', { callr: ann }, 'caller'],
    ['a misspelled issuer', { caller: { principal: { isuer: '' } } }, 'caller.principal.issuer'],
  ])('[T6] with %s name what was meant', async (_, options, meant) => {
    await expect(hostOf(asking()).host.start('asking', {}, options as never)).rejects.toThrow(
      `Did you mean '${meant}'?`,
    );
  });

  test.each([
    ['null', null],
    ['text', 'ann'],
    ['a caller of null', { caller: null }],
    ['a caller of other text', { caller: 'anonymus' }],
    ['a principal of text', { caller: { principal: 'ann' } }],
  ])('[T6] are refused if they are %s', async (_, options) => {
    await expect(hostOf(asking()).host.start('asking', {}, options as never)).rejects.toMatchObject(
      { name: 'TypeError', code: 'invalid_option' },
    );
  });

  test('[T6] of attach are refused by name if a name is unknown', async () => {
    const [{ connect }] = connections as [(typeof connections)[number]];
    const { host } = hostOf(asking());
    const { McpServer } = await import('@modelcontextprotocol/server');
    const server = new McpServer({ name: 'x', version: '1' });
    expect(() => host.attach(server, { waitUntill: () => undefined } as never)).toThrow(
      "Did you mean 'waitUntil'?",
    );
    await (await connect(host)).close();
  });

  test('[T6] of serveSagas for OAuth are refused by name if a name is unknown', () => {
    const oauth = { resource: 'https://a.example/mcp', issuer: 'https://b.example', scope: ['x'] };
    const options = { name: 'x', version: '1', sagas: [asking()], keys: oldKey };
    const auth = { authenticate: () => undefined, principal: 'client-only', oauth } as never;
    expect(() => serveSagas({ ...options, auth })).toThrow("Did you mean 'auth.oauth.scopes'?");
  });
});

const identifying: readonly (readonly [string, AuthOptions])[] = [
  ['principal', { principal: 'client-only' }],
  ['authorize', { authorize: () => true }],
  ['mayAnswer', { mayAnswer: () => true }],
];

/** Requests that say neither who sent them, nor that nobody did. */
const without: readonly HostRequest[] = [
  {},
  { caller: {} },
  { caller: { capabilities: { elicitation: {} } } },
  { caller: { user: null } },
  { caller: { user: undefined } },
];

describe.each(identifying)('a host with auth.%s', (_, auth) => {
  test('[T6] refuses a start, a resume, and a cancellation without a caller', async () => {
    const { host, told } = hostOf(asking(), { auth });
    const { token } = suspended(await host.start('asking', {}, { caller: 'anonymous' }));
    told.steps.length = 0;
    for (const request of without) {
      for (const refused of [
        host.start('asking', {}, request),
        host.resume(token, answer, request),
        host.cancel(token, request),
      ])
        await expect(refused).rejects.toMatchObject({ code: 'principal_missing', public: false });
    }
    expect(told.steps).toEqual([]);
    expect(completed(await host.resume(token, answer, { caller: 'anonymous' })).result).toBe('x');
  });

  test('[T6] has anonymous callers that say so, with or without other facts', async () => {
    const { host } = hostOf(asking(), { auth });
    const { token } = suspended(
      await host.start(
        'asking',
        {},
        { caller: { principal: 'anonymous', capabilities: { elicitation: {} } } },
      ),
    );
    expect((await host.inspect(token)).claims.principal).toBeNull();
    const byAnn = host.resume(token, answer, { caller: ann });
    await expect(byAnn).rejects.toMatchObject({ reason: 'principal' });
    expect(completed(await host.resume(token, answer, { caller: 'anonymous' })).result).toBe('x');
  });

  test.each(connections)(
    '[T6] refuses MCP requests without auth info unless anonymous is accepted: $name',
    async ({ connect }) => {
      const refusing = hostOf(asking(), { auth });
      const { client, close } = await connect(refusing.host);
      const call = { name: 'asking', arguments: {} };
      await expect(client.callTool(call)).rejects.toMatchObject({ code: -32_603 });
      expect(refusing.told.errors).toMatchObject([{ code: 'principal_missing' }]);
      expect(refusing.told.turns).toEqual([]);
      await close();
      const accepting = hostOf(asking(), { anonymous: { calls: 'accept' }, auth: { ...auth } });
      const open = await connect(accepting.host);
      await open.client.callTool(call).catch(() => undefined);
      expect(accepting.told.errors).toEqual([]);
      expect(accepting.told.turns).not.toEqual([]);
      await open.close();
    },
  );

  test('[T6] asks for the user of an answer page', async () => {
    const links: string[] = [];
    const refund = saga({ name: 'refund', version: '1', reuse: 'ok' }, function* () {
      const deliver = ({ url }: { readonly url: string }): void => void links.push(url);
      const options = { message: 'Refund?', link: 'accept', deliver, timeout: hour } as const;
      return JSON.stringify(yield* approval('manager', options));
    });
    const { host, told } = hostOf(refund, {
      auth,
      store: memoryStore({ clock: () => 0 }),
      url: 'https://shop.example',
      limits: { maxHold: 0 },
    });
    await host.start('refund', {}, { caller: ann });
    const page = (options?: Pick<HostRequest, 'caller'>): Promise<Response> =>
      host.answer(new Request(links[0] ?? ''), options);
    expect((await page()).status).toBe(503);
    expect(told.errors).toMatchObject([{ code: 'principal_missing' }]);
    expect((await page({ caller: 'anonymous' })).status).toBe(200);
  });
});

test('[T6] a host that does not tell callers apart needs no caller', async () => {
  const { host } = hostOf(asking(), { auth: { rateLimit: () => true } });
  const { token } = suspended(await host.start('asking', {}));
  expect(completed(await host.resume(token, answer)).result).toBe('x');
});

test('[T6] a principal that the option returns with an unknown member is refused', async () => {
  const { host } = hostOf(asking(), {
    auth: { principal: () => ({ subject: 'ann', client: 'app', isuer: 'https://id' }) },
  });
  await expect(host.start('asking', {}, { caller: { user: { clientId: 'app' } } })).rejects.toThrow(
    "'auth.principal().isuer'",
  );
});

describe('for the sealed principal, without a caller,', () => {
  /** The policy knows Ann, and nobody else. */
  const auth: AuthOptions = {
    principal: 'client-only',
    authorize: ({ principal }) => principal === ann.principal,
  };
  const next = saga({ name: 'next', version: '1', input: z.object({}) }, function* () {
    yield* step('ship', () => undefined);
    return 'shipped';
  });
  const order = saga({ name: 'order', version: '1' }, function* () {
    yield* step('pay', () => undefined, { compensate: () => undefined });
    yield* pivot('paid');
    yield* sleep(hour);
    return yield* continueAs(next, {});
  });
  const shared = { auth, limits: { maxHold: 0 } };

  test('[T6] [E7] a message continues a saga as another saga', async () => {
    const clock = testClock();
    const queue = memoryQueue();
    const store = memoryStore({ clock });
    const { host, told } = hostOf([order, next], { clock, queue, store, ...shared });
    const { token } = suspended(await host.start('order', {}, { caller: ann }));
    // The client is given some time to come first.
    clock.now += 2 * hour;
    await queue.deliverDue();
    expect(told.steps.map(({ path }) => path)).toContain('ship');
    expect(await host.resume(token, [], { caller: ann })).toMatchObject({ result: 'shipped' });
  });

  test('[T6] [E8] a message continues an abandoned saga past its pivot as another saga', async () => {
    const clock = testClock();
    const queue = recordingQueue();
    const store = memoryStore({ clock });
    const { host, told } = hostOf([order, next], { clock, queue, store, ...shared });
    const { expiresAt, sagaId } = suspended(await host.start('order', {}, { caller: ann }));
    // The queue delivers so late that the client could no longer continue the saga.
    clock.now = expiresAt + minute;
    const { message } = queue.sent.at(-1) as Sent;
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(told.turns.at(-1)).toMatchObject({ saga: 'next', status: 'completed' });
    expect(told.steps.map(({ path }) => path)).toContain('ship');
  });
});
