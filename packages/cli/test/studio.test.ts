import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  sleep,
  step,
  type Program,
  type SagaHost,
  type SagaTurn,
  type StepAnswer,
} from '@mcp-saga/server';
import { TokenRefused } from '@mcp-saga/seal';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { run } from './command-line.ts';
import { DevStudio } from '../src/serving/dev-studio.ts';
import { withTurnLog } from '../src/serving/turn-log.ts';
import { withValues } from '../src/serving/with-values.ts';
import { createStudio, type Studio, type StudioState } from '../src/studio.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { rejectionLog } from '../../../test/support/known-logs.ts';

const order = saga(
  { name: 'order', version: '1', reuse: 'ok', input: z.object({ item: z.string() }) },
  function* ({ item }) {
    const { address } = yield* elicit('address', {
      message: `Where to send ${item}?`,
      schema: z.object({ address: z.string() }),
    });
    const ship = (): string => {
      throw new Error(`no courier for ${address}`);
    };
    return yield* step('ship', ship, { key: address });
  },
);

const resting = saga({ name: 'resting', version: '1' }, function* () {
  yield* step('lie-down', () => 'down', { compensate: () => undefined });
  yield* sleep(3_600_000);
  return 'rested';
});

const keys = generateKey('k1');
const url = 'http://shop.example/ops/studio';

async function stateOf(
  studio: ReturnType<typeof createStudio>,
  sagaId: string = '',
): Promise<StudioState> {
  const response = await studio.fetch(new Request(`${url}/state?saga=${sagaId}`));
  return (await response.json()) as StudioState;
}

function suspended(turn: SagaTurn): Extract<SagaTurn, { status: 'suspended' }> {
  if (turn.status !== 'suspended') throw new Error('The saga did not ask');
  return turn;
}

const stuck = saga({ name: 'stuck', version: '1', reuse: 'ok' }, function* () {
  const undo = { compensate: () => Promise.reject(new Error('no bank')), undo: { retry: 1 } };
  yield* step('charge', () => 1, { key: 'secret card', ...undo });
  throw new Error('sold out');
});

describe('createStudio', () => {
  it('shows steps, outcomes, and token sizes, but no value, error message, token, or key', async () => {
    expectLogs(rejectionLog('malformed'));
    const studio = createStudio();
    const host = createSagaHost({
      sagas: [order],
      name: 'shop',
      keys,
      studio,
      hooks: { onTurn: () => undefined },
    });
    const asked = suspended(await host.start('order', { item: 'secret lamp' }));
    const answers = [
      {
        stepId: 'address',
        result: { action: 'accept', content: { address: 'secret street' } },
      },
    ] as const;
    await host.resume(asked.token, answers);
    await host.resume(`${asked.token}x`, answers).catch(() => undefined);
    const state = await stateOf(studio, asked.sagaId);
    expect(state.seen).toMatchObject([{ saga: 'order', turn: 2, status: 'failed' }]);
    expect(state.turns).toMatchObject([
      { turn: 1, status: 'suspended', tokenBytes: asked.token.length, expiresAt: asked.expiresAt },
      {
        turn: 2,
        status: 'failed',
        events: [
          { id: 'address', type: 'answered' },
          { id: 'ship(*)', kind: 'step', type: 'failed', attempt: 1, errorType: 'Error' },
        ],
      },
    ]);
    expect(state.rejections).toHaveLength(1);
    const text = JSON.stringify(state);
    for (const secret of ['secret', 'courier', asked.token, asked.token.slice(-30), keys.slice(3)])
      expect(text).not.toContain(secret);
  });

  it('names the steps that are not undone, without their keys', async () => {
    const studio = createStudio();
    const hooks = { onTurn: () => undefined, onSettled: () => undefined };
    const host = createSagaHost({
      sagas: [stuck],
      name: 'shop',
      keys,
      studio,
      hooks,
    });
    const { sagaId } = await host.start('stuck', {});
    const { turns } = await stateOf(studio, sagaId);
    expect(turns.at(-1)).toMatchObject({ status: 'failed', uncompensated: ['charge(*)'] });
    expect(JSON.stringify(turns)).not.toContain('secret');
  });

  it('tells when each step ran within its turn', async () => {
    const pause = async (): Promise<void> => await new Promise((resolve) => setTimeout(resolve, 5));
    const slow = saga({ name: 'slow', version: '1', reuse: 'ok' }, function* () {
      yield* step('one', pause);
      yield* step('two', pause);
      return 'done';
    });
    const studio = createStudio();
    const host = createSagaHost({ sagas: [slow], name: 'shop', keys, studio });
    const { sagaId } = await host.start('slow', {});
    const { turns } = await stateOf(studio, sagaId);
    const times = turns.flatMap(({ startedAt: began, durationMs = NaN, events }) => [
      began,
      ...events.flatMap(({ startedAt: start = NaN, durationMs: ms = NaN }) => [start, start + ms]),
      began + durationMs,
    ]);
    expect(times).toHaveLength(6);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('refuses %s', async (method) => {
    const studio = createStudio();
    for (const path of ['', '/', '/state', '/state?saga=1'])
      expect((await studio.fetch(new Request(url + path, { method }))).status).toBe(405);
  });

  it('shows the state only to its own page', async () => {
    const studio = createStudio();
    const statusFrom = async (site: string, mode: string): Promise<number> => {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode };
      return (await studio.fetch(new Request(`${url}/state`, { headers }))).status;
    };
    expect(await statusFrom('same-origin', 'cors')).toBe(200);
    expect(await statusFrom('cross-site', 'no-cors')).toBe(403);
    expect(await statusFrom('same-site', 'cors')).toBe(403);
    const { headers } = await studio.fetch(new Request(`${url}/state`));
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('has no other files', async () => {
    for (const name of ['old-abc123.css', 'nothing.js'])
      expect(await createStudio().fetch(new Request(`${url}/${name}`))).toMatchObject({
        status: 404,
      });
  });

  it('adds the slash that the relative URLs of the page need', async () => {
    const { status, headers } = await createStudio().fetch(new Request(url));
    expect(status).toBe(307);
    expect(new URL(headers.get('location') ?? '', url).href).toBe(`${url}/`);
  });

  it('keeps the newest sagas, and reports each change once', async () => {
    const studio = createStudio({ maxSagas: 2 });
    const host = createSagaHost({ sagas: [order], name: 'shop', keys, studio });
    const ids: string[] = [];
    for (const item of ['a', 'b', 'c']) ids.unshift((await host.start('order', { item })).sagaId);
    const { seen, revision } = await stateOf(studio);
    expect(seen.map(({ sagaId }) => sagaId)).toEqual(ids.slice(0, 2));
    const again = await studio.fetch(new Request(`${url}/state?after=${revision}`));
    expect(again.status).toBe(204);
    expect(() => createStudio({ maxSagas: 0 })).toThrow(RangeError);
    const misspelled = { maxSaga: 2 } as object;
    expect(() => createStudio(misspelled)).toThrow(
      expect.objectContaining({ code: 'unknown_option' }),
    );
  });

  it('shows the doctor how the sagas were started', async () => {
    const studio = createStudio();
    const host = createSagaHost({ sagas: [order], name: 'shop', keys, studio });
    await host.start('order', { item: 'lamp' });
    const server = serve({
      port: 0,
      hostname: '127.0.0.1',
      silent: true,
      fetch: (request) => studio.fetch(request),
    });
    await server.ready();
    const { href: page } = new URL('/ops', server.url);
    expect(await run(['doctor', '--studio', page])).toMatchObject({
      code: 0,
      printed: 'ok    clients: started sagas by host',
    });
    await server.close(true);
    expect(await run(['doctor', '--studio', page])).toMatchObject({
      code: 1,
      printed: `FAIL  clients: no studio answers at ${page}`,
    });
    expect(await run(['doctor', '--studio', '/ops'])).toMatchObject({ code: 2 });
  });

  it('passes everything on to other telemetry', async () => {
    expectLogs(rejectionLog('malformed'));
    const [within, event, end, refused] = [
      vi.fn((work: () => void) => work()),
      vi.fn(),
      vi.fn(),
      vi.fn(),
    ];
    const onStep = vi.fn(() => ({ within, end }));
    const turn = vi.fn(() => ({ parent: 'p', within, event, step: onStep, end }));
    const telemetry = { turn, refused };
    const hooks = { onTurn: () => undefined };
    const studio = createStudio();
    const host = createSagaHost({
      sagas: [order],
      name: 'shop',
      keys,
      studio,
      telemetry,
      hooks,
    });
    const { token } = suspended(await host.start('order', { item: 'lamp' }));
    const content = { address: 'here' };
    await host.resume(token, [{ stepId: 'address', result: { action: 'accept', content } }]);
    await host.resume('x').catch(() => undefined);
    expect(turn.mock.calls).toMatchObject([
      [{ action: 'start' }],
      [{ action: 'resume', parent: 'p' }],
    ]);
    expect(event.mock.calls).toMatchObject([[{ type: 'answered' }]]);
    expect(onStep).toHaveBeenCalledTimes(1);
    expect(within).toHaveBeenCalledTimes(3);
    expect(end.mock.calls).toMatchObject([
      [{ status: 'suspended' }],
      ['Error'],
      [{ status: 'failed' }],
    ]);
    expect(refused).toHaveBeenCalledTimes(1);
  });
});

describe.each([
  [
    'a host',
    (sagas: Program[], studio: Studio) => createSagaHost({ sagas, name: 'shop', keys, studio }),
  ],
  [
    'a server',
    (sagas: Program[], studio: Studio) =>
      serveSagas({ name: 'shop', version: '1.0.0', sagas, keys: () => keys, studio }),
  ],
])('the studio of %s', (_, serveWith) => {
  it('responds with its state, and with 405 to a change', async () => {
    const served = serveWith([order], createStudio());
    const state = await served.studio(new Request(`${url}/state`));
    expect(await state.json()).toMatchObject({ seen: [], turns: [] });
    expect((await served.studio(new Request(url, { method: 'POST' }))).status).toBe(405);
  });

  it('shows the turns of several hosts', async () => {
    expectLogs(/'stuck' could not undo/, /'stuck' failed in turn 1/);
    const studio = createStudio();
    const other = createSagaHost({ sagas: [stuck], name: 'shop', keys, studio });
    await other.start('stuck', {});
    const state = await serveWith([order], studio).studio(new Request(`${url}/state`));
    expect(await state.json()).toMatchObject({ seen: [{ saga: 'stuck', status: 'failed' }] });
  });
});

describe('the studio of mcp-saga dev', () => {
  const inspect = vi.fn(async () => ({}) as Awaited<ReturnType<SagaHost['inspect']>>);
  const served = {
    name: 'shop',
    hasOwnQueue: false,
    path: '/mcp',
    inspect,
    programs: [],
    scripts: [],
    files: new Set<string>(),
  };

  /** Serves `order` with all values, and returns the turns of a saga. */
  function developed(): {
    readonly host: SagaHost;
    readonly turnsOf: (sagaId: string) => Promise<StudioState['turns']>;
  } {
    const studio = new DevStudio();
    const host = createSagaHost({
      sagas: [order, stuck].map((each) => withValues(each, studio.feed)),
      name: 'shop',
      keys,
      telemetry: studio.feed.telemetry(),
      hooks: withTurnLog({}, () => undefined, studio.feed),
    });
    const turnsOf = async (sagaId: string): Promise<StudioState['turns']> => {
      const request = new Request(`http://127.0.0.1:3000/studio/state?saga=${sagaId}`);
      const response = (await studio.answer(request, served)) as Response;
      return ((await response.json()) as StudioState).turns;
    };
    return { host, turnsOf };
  }

  const to = (address: string): readonly [StepAnswer] => [
    { stepId: 'address', result: { action: 'accept', content: { address } } },
  ];

  it('shows arguments, messages, answers, keys, and errors', async () => {
    const { host, turnsOf } = developed();
    const asked = suspended(await host.start('order', { item: 'lamp' }));
    await host.resume(asked.token, to('Main Street'));
    expect(await turnsOf(asked.sagaId)).toMatchObject([
      { turn: 1, args: '{"item":"lamp"}', messages: ['Where to send lamp?'] },
      {
        turn: 2,
        error: 'no courier for Main Street',
        events: [
          { id: 'address', action: 'accept', value: '{"address":"Main Street"}' },
          { id: 'ship(*)', value: 'no courier for Main Street', key: expect.stringMatching(/./) },
        ],
      },
    ]);
  });

  it('names the steps that are not undone, with their keys', async () => {
    const { host, turnsOf } = developed();
    const { sagaId } = await host.start('stuck', {});
    expect((await turnsOf(sagaId)).at(-1)).toMatchObject({
      uncompensated: ['charge(secret card)'],
    });
  });

  it('logs an interrupted turn, and none of its steps with the next turn', async () => {
    const { feed } = new DevStudio();
    const request = new AbortController();
    const pay = saga({ name: 'pay', version: '1', reuse: 'ok' }, function* () {
      yield* elicit('confirm', { message: 'Sure?', schema: z.object({}) });
      yield* step('charge', () => 'charged');
      yield* step('ship', ({ signal }) => {
        request.abort();
        signal.throwIfAborted();
        return 'shipped';
      });
      return 'done';
    });
    const lines: string[] = [];
    const hooks = withTurnLog(
      {},
      (_, text) => lines.push(text.replace(/[\w-]+ {2}turn/, 'ID  turn')),
      feed,
    );
    const telemetry = feed.telemetry();
    const host = createSagaHost({ sagas: [pay], name: 'shop', keys, telemetry, hooks });
    const { token } = suspended(await host.start('pay', {}));
    const answers = [{ stepId: 'confirm', result: { action: 'accept', content: {} } }] as const;
    await expect(host.resume(token, answers, { signal: request.signal })).rejects.toThrow(
      'aborted',
    );
    await host.resume(token, [{ stepId: 'confirm', result: { action: 'cancel' } }]);
    expect(lines.map((line) => line.replaceAll(/ {2}(?:token|\d+ ms).*/g, ''))).toEqual([
      'pay ID  turn 1  suspended  confirm asked',
      'pay ID  turn 2  request interrupted  confirm answered, charge succeeded, outcome of ship unknown',
      'pay ID  turn 2  failed  confirm answered',
    ]);
  });

  it('tells when the queue continues a saga, until the saga has ended', async () => {
    const studio = new DevStudio();
    const host = createSagaHost({
      sagas: [resting],
      name: 'shop',
      keys,
      store: memoryStore(),
      queue: studio.queue,
      hooks: { onWarning: () => undefined },
      telemetry: studio.feed.telemetry(),
    });
    const stateOfSaga = async (sagaId: string): Promise<StudioState> => {
      const request = new Request(`http://127.0.0.1:3000/studio/state?saga=${sagaId}`);
      return (await ((await studio.answer(request, served)) as Response).json()) as StudioState;
    };
    const { token, sagaId } = suspended(await host.start('resting', {}));
    const { continuesAt = 0, turns } = await stateOfSaga(sagaId);
    expect(continuesAt - (turns[0]?.startedAt ?? 0)).toBeGreaterThan(3_000_000);
    expect(await stateOfSaga('other')).not.toHaveProperty('continuesAt');
    await host.cancel(token);
    expect(await stateOfSaga(sagaId)).not.toHaveProperty('continuesAt');
  });

  it('cuts a problem of changed code, which a page repeats in a URL', async () => {
    const studio = new DevStudio();
    studio.changed('x'.repeat(20_000));
    const response = await studio.answer(
      new Request('http://127.0.0.1:3000/studio/sources'),
      served,
    );
    expect(await response?.json()).toMatchObject({ problem: 'x'.repeat(1_000) });
  });

  it('attaches the error of each fork to the turn of the fork', async () => {
    const { host, turnsOf } = developed();
    const { token, sagaId } = suspended(await host.start('order', { item: 'lamp' }));
    await Promise.all(['A', 'B', 'C'].map((address) => host.resume(token, to(address))));
    const forks = (await turnsOf(sagaId)).slice(1);
    expect(forks).toHaveLength(3);
    expect(forks.map(({ error }) => error)).toEqual(forks.map(({ events }) => events[1]?.value));
    expect(new Set(forks.map(({ error }) => error)).size).toBe(3);
  });

  const ask = async (
    headers: Readonly<Record<string, string>>,
    path: string = 'state',
    method: string = 'GET',
  ): Promise<number | undefined> => {
    const request = new Request(`http://127.0.0.1:3000/studio/${path}`, { headers, method });
    return (await new DevStudio().answer(request, served))?.status;
  };

  it.each([
    [{}, 200],
    [{ origin: 'http://127.0.0.1:3000' }, 200],
    [{ host: 'localhost:3000' }, 200],
    // After DNS rebinding, the browser sends the name of the foreign page.
    [{ host: 'evil.example:3000' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'http://localhost:8080' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
  ])('answers a request with %j by %i', async (headers, status) => {
    expect(await ask(headers)).toBe(status);
  });

  it.each([
    [{ origin: 'https://evil.example' }, 'POST', 403],
    [{ origin: 'http://localhost:8080' }, 'POST', 403],
    [{ origin: 'null' }, 'POST', 403],
    [{ host: 'evil.example:3000' }, 'POST', 403],
    [{ 'sec-fetch-site': 'cross-site' }, 'POST', 403],
    [{ 'sec-fetch-site': 'same-site' }, 'POST', 403],
    [{}, 'GET', 405],
  ])('opens no token for a request with %j by %s', async (headers, method, status) => {
    inspect.mockClear();
    expect(await ask(headers, 'inspect', method)).toBe(status);
    expect(inspect).not.toHaveBeenCalled();
  });

  const supervisor = (kept: ReadonlyMap<string, unknown> = new Map()) => ({
    kept,
    replaced: undefined,
    keep: vi.fn(async () => undefined),
    callStore: vi.fn(async () => undefined),
    ready: async () => undefined,
    kill: vi.fn(),
  });

  it.each([
    [{ origin: 'https://evil.example' }, 'POST', 403],
    [{ origin: 'http://localhost:8080' }, 'POST', 403],
    [{ host: 'evil.example:3000' }, 'POST', 403],
    [{ 'sec-fetch-site': 'cross-site' }, 'POST', 403],
    [{}, 'GET', 405],
  ])('kills no process for a request with %j by %s', async (headers, method, status) => {
    const watched = supervisor();
    const request = new Request('http://127.0.0.1:3000/studio/kill', { headers, method });
    expect((await new DevStudio(watched).answer(request, served))?.status).toBe(status);
    expect(watched.kill).not.toHaveBeenCalled();
  });

  it('kills its process on request, but not if nobody starts another one', async () => {
    const watched = supervisor();
    const request = (): Request =>
      new Request('http://127.0.0.1:3000/studio/kill', { method: 'POST' });
    void new DevStudio(watched).answer(request(), served);
    await vi.waitFor(() => expect(watched.kill).toHaveBeenCalledOnce());
    expect((await new DevStudio().answer(request(), served))?.status).toBe(409);
  });

  it('shows the turn that ran when the process before it was killed', async () => {
    const turn = { turn: 1, action: 'start', status: 'running', startedAt: 1_000, asked: [] };
    const events = [
      { id: 'pay', kind: 'step', type: 'succeeded', startedAt: 1_001, durationMs: 4 },
      { id: 'ship', kind: 'step', type: 'running', startedAt: 1_007 },
    ];
    const facts = { sagaId: 'one', saga: 'order', version: '1', method: 'tools/call' };
    const turns = [{ ...turn, tokenBytes: 0, events }];
    const studio = new DevStudio(supervisor(new Map([['saga one', { facts, first: {}, turns }]])));
    const request = new Request('http://127.0.0.1:3000/studio/state?saga=one');
    const response = (await studio.answer(request, served)) as Response;
    expect(await response.json()).toMatchObject({
      process: { id: process.pid },
      seen: [{ sagaId: 'one', status: 'rejected' }],
      turns: [{ status: 'rejected', errorType: 'process_killed', durationMs: 7, events }],
    });
  });

  it('says why a token does not open, and leaves other errors to the log', async () => {
    const post = (body: string): Promise<Response> =>
      new DevStudio().answer(
        new Request('http://127.0.0.1:3000/studio/inspect', { method: 'POST', body }),
        served,
      ) as Promise<Response>;
    inspect.mockRejectedValueOnce(new TokenRefused('unknown_key'));
    const refused = await post('a.b.c.d.e');
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('does not open (unknown_key)');
    inspect.mockRejectedValueOnce(new Error('no key for Ada'));
    await expect(post('a.b.c.d.e')).rejects.toThrow('no key for Ada');
  });

  it.each([
    [{ origin: 'https://evil.example' }, 'POST', 403],
    [{ host: 'evil.example:3000' }, 'POST', 403],
    [{}, 'GET', 405],
  ])(
    'runs no code in the playground for a request with %j by %s',
    async (headers, method, status) => {
      expect(await ask(headers, 'engine?id=1', method)).toBe(status);
    },
  );

  it.each([
    ['state', 'GET', {}],
    ['sources', 'GET', {}],
    ['sources?after=1', 'GET', {}],
    ['playground', 'GET', {}],
    ['engine?id=1', 'GET', {}],
    ['', 'GET', {}],
    ['live.js', 'GET', {}],
    ['none.js', 'GET', {}],
    ['elsewhere', 'GET', {}],
    ['inspect', 'POST', {}],
    ['state', 'DELETE', {}],
    ['sources', 'GET', { origin: 'https://evil.example' }],
    ['sources', 'GET', { host: 'evil.example:3000' }],
    ['sources', 'GET', { 'sec-fetch-site': 'cross-site' }],
  ])('answers %s by %s with %j, and all headers of the studio', async (path, method, headers) => {
    const studio = new DevStudio();
    const page = `http://127.0.0.1:3000/studio/${path}`;
    const response = await studio.answer(new Request(page, { headers, method }), served);
    const names = [
      'cache-control',
      'content-security-policy',
      'cross-origin-opener-policy',
      'cross-origin-resource-policy',
      'referrer-policy',
      'x-content-type-options',
      'x-frame-options',
    ];
    expect(names.filter((name) => response?.headers.has(name) !== true)).toEqual([]);
    const isForeign = Object.keys(headers).length > 0;
    expect(response?.status === 403).toBe(isForeign);
  });

  it('leaves all other paths to the server', () => {
    for (const path of ['/mcp', '/studios', '/saga/answer/1'])
      expect(
        new DevStudio().answer(new Request(`http://127.0.0.1:3000${path}`), served),
      ).toBeUndefined();
  });

  it('redirects the bare address to the page, unless it is the MCP endpoint', async () => {
    const front = new Request('http://127.0.0.1:3000/');
    const response = await new DevStudio().answer(front, served);
    expect(response?.status).toBe(307);
    expect(response?.headers.get('location')).toBe('/studio/');
    expect(new DevStudio().answer(front, { ...served, path: '/' })).toBeUndefined();
    const posted = new Request(front, { method: 'POST' });
    expect(new DevStudio().answer(posted, served)).toBeUndefined();
  });
});
