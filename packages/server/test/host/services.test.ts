import { describe, expect, test } from 'vitest';
import {
  approval,
  compensator,
  elicit,
  memoryQueue,
  memoryStore,
  poll,
  saga,
  sample,
  sleep,
  step,
  waitFor,
  type Program,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { testSaga } from '@mcp-saga/testing';
import { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { accept, completed, hostOf, oldKey, suspended, type TestHost } from '../fixtures/host.ts';
import { ask } from '../fixtures/raw.ts';
import { Empty } from '../fixtures/sagas.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { rejectionLog } from '../../../../test/support/known-logs.ts';

const hour = 3_600_000;
const day = 24 * hour;
const url = 'https://shop.example';
const ann = { issuer: 'https://id', subject: 'ann', client: 'app', role: 'manager' };
const services = { shop: 'x' };

/** What the code of a saga received: where, and the names of the shop and of the user. */
type Seen = (readonly [where: string, shop: unknown, user: unknown])[];

interface Given {
  readonly services?: unknown;
  readonly user?: unknown;
}

const shopOf = (given: unknown): unknown => Object(given).shop as unknown;

function noting(seen: Seen, where: string): (given: Given) => undefined {
  return (given) => void seen.push([where, shopOf(given.services), Object(given.user).subject]);
}

const release = (seen: Seen) => compensator('release', z.object({}), noting(seen, 'release'));

/** A saga with every kind of code, which fails in the end if `fails`. `links`: what it delivers. */
function order(seen: Seen, fails = false, links: string[] = []): Program {
  const note = (where: string): ((given: Given) => undefined) => noting(seen, where);
  const send = (where: string) => (given: Given & { readonly url: string }) => {
    links.push(given.url);
    note(where)(given);
  };
  const options = { name: 'order', version: '1' } as const;
  return saga(options, function* () {
    yield* step('reserve', note('reserve'), { compensate: note('unreserve') });
    yield* step('hold', note('hold'), { compensate: release(seen).for(() => ({})) });
    yield* sleep(hour);
    yield* step('later', note('later'));
    yield* poll('polled', (given) => (note('poll')(given), true), {
      every: hour,
      timeout: day,
    });
    yield* elicit('sure', {
      message: 'Sure?',
      schema: Empty,
      fallback: (given) => (note('fallback')(given), {}),
    });
    yield* sample('advice', { messages: [], maxTokens: 1 });
    yield* approval('manager', {
      message: 'Ship?',
      timeout: day,
      deliver: send('deliver'),
      by: null,
    });
    yield* waitFor('paid', {
      schema: Empty,
      register: send('register'),
      verify: 'bank',
      timeout: day,
    });
    yield* step('ship', note('ship'));
    if (fails) throw new Error('no ship');
    return 'shipped';
  });
}

interface Shop extends TestHost {
  readonly queue: ReturnType<typeof memoryQueue>;
  readonly pass: (ms: number) => Promise<void>;
}

function shop(program: Program, seen: Seen, options: Partial<SagaHostOptions> = {}): Shop {
  const clock = testClock();
  const queue = memoryQueue();
  const made = hostOf(program, {
    clock,
    queue,
    services,
    store: memoryStore({ clock }),
    limits: { maxHold: 0 },
    compensators: [release(seen)],
    url,
    webhooks: { bank: (_, given) => (seen.push(['webhook', shopOf(given.services), '']), true) },
    auth: {
      mayAnswer: (person, __, given) => {
        seen.push(['mayAnswer', shopOf(given.services), person.subject]);
        return true;
      },
    },
    answerers: {
      sampling: (_, given) => {
        noting(seen, 'sampling')(given);
        return { role: 'assistant', content: { type: 'text', text: 'Ship it' }, model: 'm' };
      },
    },
    ...(options as object),
  });
  const pass = async (ms: number): Promise<void> => {
    clock.now += ms;
    await queue.deliverDue();
  };
  return { ...made, queue, pass };
}

describe('the code of a saga receives the services', () => {
  test('[E8] and the user of the request, if requests run its turns', async () => {
    const seen: Seen = [];
    const { host } = shop(order(seen), seen, { queue: undefined as never });
    const caller = { user: ann, capabilities: {} };
    const { token } = suspended(await host.start('order', {}, { caller }));
    expect(await host.cancel(token, { caller })).toMatchObject({ status: 'failed' });
    expect(seen.map(([where]) => where)).toEqual(['reserve', 'hold', 'release', 'unreserve']);
    for (const [, seenShop, user] of seen) expect([seenShop, user]).toEqual(['x', 'ann']);
  });

  test('[E7] and no user, if a queue, a page, and a webhook run the turns', async () => {
    const seen: Seen = [];
    const links: string[] = [];
    const { host, told, pass } = shop(order(seen, true, links), seen);
    await host.start('order', {}, { caller: { user: ann, capabilities: {} } });
    seen.length = 0;
    await pass(2 * hour);
    await pass(hour);
    const page = new Request(links[0] ?? '', {
      method: 'POST',
      headers: { origin: url },
      body: new URLSearchParams({ decision: 'approve' }),
    });
    const bob = { ...ann, subject: 'bob' };
    expect((await host.answer(page, { caller: { user: bob } })).status).toBe(200);
    await pass(0);
    const event = new Request(links.at(-1) ?? '', { method: 'POST', body: '{}' });
    expect((await host.answer(event)).status).toBe(202);
    await pass(0);
    expect(told.turns.at(-1)).toMatchObject({ status: 'failed', turn: 10 });
    expect(new Set(seen.map(([where]) => where))).toEqual(
      new Set([
        'later',
        'poll',
        'fallback',
        'sampling',
        'deliver',
        'mayAnswer',
        'register',
        'webhook',
        'ship',
        'release',
        'unreserve',
      ]),
    );
    for (const [where, seenShop, user] of seen)
      expect([where, seenShop, user]).toEqual([
        where,
        'x',
        { mayAnswer: 'bob', webhook: '' }[where],
      ]);
  });

  test('[E8] and no user, if the queue undoes the steps of an abandoned call', async () => {
    const seen: Seen = [];
    const asks = saga({ name: 'order', version: '1' }, function* () {
      yield* step('reserve', noting(seen, 'reserve'), { compensate: noting(seen, 'unreserve') });
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return 'sure';
    });
    const { host, pass } = shop(asks, seen);
    await host.start('order', {}, { caller: { user: ann } });
    for (let days = 0; days < 40 && seen.length < 2; days += 1) await pass(day);
    expect(seen).toEqual([
      ['reserve', 'x', 'ann'],
      ['unreserve', 'x', undefined],
    ]);
  });
});

describe('a function `services`', () => {
  const waits = (seen: unknown[]): Program =>
    saga({ name: 'waits', version: '1' }, function* () {
      yield* step('first', (given) => void seen.push(given.services), {
        compensate: () => undefined,
      });
      yield* step('second', (given) => void seen.push(given.services));
      yield* elicit('go', { message: 'Go?', schema: Empty });
      yield* step('third', (given) => void seen.push(given.services));
      return 'done';
    });

  test('is called once for each method of a host, with its env', async () => {
    const envs: unknown[] = [];
    const seen: unknown[] = [];
    const { host, pass } = shop(waits(seen), [], {
      services: (env: unknown) => ({ env, call: envs.push(env) }),
    });
    const caller = 'anonymous';
    const { token } = suspended(await host.start('waits', {}, { caller, env: 'start' }));
    expect(envs).toEqual(['start']);
    expect(seen[0]).toBe(seen[1]);
    await host.resume(token, [accept('go', {})], { caller, env: 'resume' });
    expect(envs).toEqual(['start', 'resume']);
    expect(seen[2]).toEqual({ env: 'resume', call: 2 });
    await host.start('waits', {}, { caller, env: 'again' });
    envs.length = 0;
    for (let days = 0; days < 40 && envs.length === 0; days += 1) await pass(day);
    // The queue of this process has no environment.
    expect(envs[0]).toBeUndefined();
    expect(envs.length).toBeGreaterThan(0);
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no database'))],
    ['returns nothing', () => undefined as never],
  ])('that %s runs nothing, and the same token works again', async (_, fail) => {
    const seen: unknown[] = [];
    let isDown = false;
    const { host, told } = shop(waits(seen), [], {
      services: () => (isDown ? fail() : services),
    });
    const caller = 'anonymous';
    const { token } = suspended(await host.start('waits', {}, { caller }));
    isDown = true;
    told.steps.length = 0;
    await expect(host.start('waits', {}, { caller })).rejects.toThrow(/no database|no object/);
    await expect(host.resume(token, [accept('go', {})], { caller })).rejects.toThrow();
    await expect(host.cancel(token, { caller })).rejects.toThrow();
    expect(told.steps).toEqual([]);
    isDown = false;
    // Other answers, too, since the turn was never claimed.
    const declined = [{ stepId: 'go', result: { action: 'decline' } }];
    expect(await host.resume(token, declined, { caller })).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'first' }],
    });
  });

  test('of a server is called for each request and message, with its env', async () => {
    const envs: unknown[] = [];
    const program = saga({ name: 'reads', version: '1' }, function* () {
      return yield* step('read', (given) => (given.services as { readonly at: string }).at);
    });
    const server = serveSagas({
      name: 'x',
      version: '1',
      sagas: [program],
      keys: oldKey,
      services: (env: string) => ({ at: `${env} ${envs.push(env)}` }),
    });
    const of = (env: string) => ({ fetch: (request: Request) => server.fetch(request, env) });
    for (const [env, era] of [
      ['one', 'modern'],
      ['two', 'legacy'],
    ] as const) {
      const { text } = await ask(of(env), era, 'tools/callSaga', { name: 'reads' });
      expect(text).toContain(`${env} ${envs.length}`);
    }
    expect(envs).toEqual(['one', 'two']);
  });
});

describe('the user of a request', () => {
  test('[T6] is its principal by issuer, subject, and client', async () => {
    const { host } = hostOf(order([]), { store: memoryStore(), url });
    const caller = { user: ann, capabilities: {} };
    const { token } = suspended(await host.start('order', {}, { caller }));
    const { issuer, subject, client } = ann;
    expect(JSON.parse((await host.inspect(token)).claims.principal ?? '')).toEqual({
      issuer,
      subject,
      client,
    });
    for (const change of [{ issuer: 'other' }, { subject: 'bob' }, { client: 'other' }])
      await expect(
        host.resume(token, [], { caller: { user: { ...ann, ...change } } }),
      ).rejects.toMatchObject({ reason: 'principal' });
    // Other members of a user may change.
    const again = { ...ann, role: 'clerk' };
    expect((await host.resume(token, [], { caller: { user: again } })).status).toBe('suspended');
  });

  test.each([
    ['no subject', { role: 'manager' }],
    ['an empty subject', { subject: '' }],
    ['a subject that is a number', { subject: 7 }],
    ['a client that is a number', { subject: 'ann', client: 7 }],
    ['an issuer that is null', { subject: 'ann', issuer: null }],
  ])('[T6] is refused with %s, unless the option makes a principal of it', async (_, user) => {
    const request = { caller: { user } };
    await expect(
      hostOf(order([]), { store: memoryStore(), url }).host.start('order', {}, request),
    ).rejects.toMatchObject({
      code: 'principal_missing',
    });
    const auth = { principal: () => ({ subject: 'ann', client: 'app' }) };
    const { host } = hostOf(order([]), { auth, store: memoryStore(), url });
    expect(suspended(await host.start('order', {}, request)).turn).toBe(1);
  });

  test('[T6] of serveSagas needs no other option, and reaches the steps', async () => {
    expectLogs(rejectionLog('principal'));
    const seen: Seen = [];
    const program = saga({ name: 'reads', version: '1' }, function* () {
      yield* step('read', noting(seen, 'read'));
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return 'done';
    });
    const server = serveSagas({
      name: 'x',
      version: '1',
      sagas: [program],
      keys: oldKey,
      services,
      auth: { authenticate: ({ headers }) => ({ subject: headers.get('x-user') ?? '' }) },
    });
    const by = (name: string) => ({
      fetch: (request: Request) => {
        request.headers.set('x-user', name);
        return server.fetch(request);
      },
    });
    const { last } = await ask(by('ann'), 'modern', 'tools/callSaga', { name: 'reads' });
    expect(seen).toEqual([['read', 'x', 'ann']]);
    const { sagaToken } = last.result as { readonly sagaToken: string };
    const resume = {
      sagaToken,
      completedSteps: [{ stepId: 'go', result: { action: 'accept', content: {} } }],
    };
    const other = await ask(by('bob'), 'modern', 'tools/resumeSaga', resume);
    expect(other.last.error).toMatchObject({ code: -32_602 });
    const own = await ask(by('ann'), 'modern', 'tools/resumeSaga', resume);
    expect(own.text).toContain('done');
  });
});

describe('the option `context`', () => {
  const context = (): object => ({ db: {} });
  const said = /'(?:[a-z]+\.)?context'.*`services`.*`user`/;

  test.each<[string, () => unknown]>([
    ['a host', () => hostOf(order([]), { context } as object)],
    ['a host with a queue', () => shop(order([]), [], { context } as object)],
    [
      'serveSagas',
      () => serveSagas({ name: 'x', version: '1', sagas: [], keys: oldKey, context } as never),
    ],
    [
      'attach',
      () =>
        hostOf([]).host.attach(new McpServer({ name: 'x', version: '1' }), { context } as never),
    ],
  ])('is refused by name by %s, with the names of its successors', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'unknown_option' }));
    expect(make).toThrow(said);
  });

  test('is refused by name by the methods of a host', async () => {
    const { host } = hostOf(order([]), { store: memoryStore(), url });
    for (const refused of [
      host.start('order', {}, { caller: { context } } as never),
      host.resume('token', [], { context } as never),
      host.deliver({ token: 'token' } as never, { context } as never),
    ])
      await expect(refused).rejects.toThrow(said);
  });

  test('is refused by name by the test kit', () => {
    expect(() => testSaga(order([]), { context: {} } as never)).toThrow("'context'");
  });
});

test.each([
  ['a promise', Promise.resolve({})],
  ['text', 'db'],
  ['null', null],
])('services that are %s are refused', (_, given) => {
  expect(() => hostOf([], { services: given as never })).toThrow(
    expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
  );
});

test('services of a host are the same value in each step', async () => {
  const seen: unknown[] = [];
  const program = saga({ name: 'same', version: '1' }, function* () {
    yield* step('see', (given) => void seen.push(given.services));
    return 'seen';
  });
  const { host } = hostOf(program, { services });
  completed(await host.start('same', {}));
  expect(seen[0]).toBe(services);
});
