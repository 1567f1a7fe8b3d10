import { approval, memoryStore, saga } from '@mcp-saga/server';
import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { expect, it } from 'vitest';
import { oldKey } from '../fixtures/host.ts';
import { ask } from '../fixtures/raw.ts';
import { base, day } from './case.ts';
import { expectLogs } from '../../../../test/support/logs.ts';

interface Serving {
  readonly server: ReturnType<typeof serveSagas>;
  readonly url: string;
}

async function serving(
  link: 'accept' | undefined,
  changes: Partial<ServeSagasOptions> = {},
): Promise<Serving> {
  let url = '';
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    const { approved } = yield* approval('go', {
      message: 'Go?',
      timeout: day,
      deliver: (delivery) => void (url = delivery.url),
      ...(link === undefined ? {} : { link }),
    });
    return String(approved);
  });
  const server = serveSagas({
    name: 'shop',
    version: '1',
    sagas: [asks],
    keys: oldKey,
    store: memoryStore({ olderTokens: 'accept' }),
    url: base,
    limits: { maxHold: 0 },
    starts: { unkeyed: 'run' },
    testing: { environment: 'production' },
    ...changes,
  });
  await ask(server, 'modern', 'tools/callSaga', { name: 'asks', arguments: {} });
  return { server, url };
}

/** Users by their cookie; access tokens for MCP. */
const auth: NonNullable<ServeSagasOptions['auth']> = {
  principal: (authInfo) => ({
    subject: (authInfo as { clientId: string }).clientId,
    client: 'app',
  }),
  authenticate: ({ headers }) => {
    const clientId =
      headers.get('cookie') ?? (headers.get('accept')?.includes('json') === true ? 'caller' : '');
    if (clientId === 'guest') return Response.redirect('https://shop.example/login', 303);
    return clientId === '' ? undefined : { token: '', clientId, scopes: [] };
  },
};

it('serves the page to users of auth.authenticate, and never to the caller', async () => {
  const { server, url } = await serving(undefined, { auth });
  const get = (cookie?: string): Promise<Response> =>
    server.fetch(new Request(url, cookie === undefined ? {} : { headers: { cookie } }));
  expect((await get()).status).toBe(401);
  expect((await get('caller')).status).toBe(403);
  expect((await get('ann')).status).toBe(200);
  const login = await get('guest');
  expect([login.status, login.headers.get('location')]).toEqual([
    303,
    'https://shop.example/login',
  ]);
});

it('asks a person to sign in if auth.authenticate throws for a bad session, and reports other errors', async () => {
  expectLogs('401-or-403-over-http');
  const errors: unknown[] = [];
  const failing = {
    ...auth,
    authenticate: (request: Request) => {
      const cookie = request.headers.get('cookie');
      if (cookie === 'old') throw Object.assign(new Error(), { code: 'ERR_JWT_EXPIRED' });
      if (cookie === 'down') throw new TypeError('the database is down');
      return auth.authenticate?.(request, undefined);
    },
  };
  const hooks = { onError: (error: unknown) => void errors.push(error) };
  const { server, url } = await serving(undefined, { auth: failing, hooks });
  const get = (cookie: string) => server.fetch(new Request(url, { headers: { cookie } }));
  const old = await get('old');
  expect([old.status, await old.text()]).toEqual([401, expect.stringContaining('Sign in')]);
  expect(errors).toEqual([]);
  const down = await get('down');
  expect([down.status, await down.text()]).toEqual([503, expect.not.stringContaining('database')]);
  expect(errors).toEqual([new TypeError('the database is down')]);
});

it('serves the page to holders of the link, although auth.authenticate responds', async () => {
  const { server, url } = await serving('accept', { auth });
  expect((await server.fetch(new Request(url, { headers: { cookie: 'guest' } }))).status).toBe(200);
  expect((await server.fetch(new Request(url))).status).toBe(200);
});

it('serves pages below any prefix of the public URL, and nothing without the option', async () => {
  const { server, url } = await serving('accept', {
    store: memoryStore({ olderTokens: 'accept' }),
    url: `${base}/api`,
  });
  expect(url.startsWith(`${base}/api/saga/answer/`)).toBe(true);
  expect((await server.fetch(new Request(url))).status).toBe(200);
  const { pathname } = new URL(url);
  const bare = serveSagas({
    name: 'shop',
    version: '1',
    sagas: [],
    keys: oldKey,
    testing: { environment: 'production' },
  });
  const response = await bare.fetch(new Request(base + pathname));
  expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('/mcp')]);
});

it('calls a function for the public URL whenever a link is made', async () => {
  const calls: string[] = [];
  const outside = {
    url: () => {
      calls.push('url');
      return `${base}/late/`;
    },
    store: memoryStore({ olderTokens: 'accept' }),
  };
  serveSagas({ name: 'shop', version: '1', sagas: [], keys: oldKey, ...outside });
  expect(calls).toEqual([]);
  const { server, url } = await serving('accept', outside);
  expect(url.startsWith(`${base}/late/saga/answer/`)).toBe(true);
  const post = (origin: string): Promise<Response> =>
    server.fetch(
      new Request(url, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ decision: 'approve' }),
      }),
    );
  expect((await post('https://other.example')).status).toBe(403);
  expect((await post(base)).status).toBe(200);
});

it('refuses a request with a foreign host name', async () => {
  expectLogs('401-or-403-over-http');
  const { server, url } = await serving('accept', {
    http: { allowedHosts: ['shop.example', 'mcp.example', 'localhost'] },
  });
  const rebound = new Request(url.replace('shop.example', 'evil.example'));
  expect((await server.fetch(rebound)).status).toBe(403);
});

it('checks the options at the start', () => {
  const options = {
    name: 'shop',
    version: '1',
    sagas: [],
    keys: oldKey,
    testing: { environment: 'production' },
  };
  const store = memoryStore({ olderTokens: 'accept' });
  const bad: [object, string][] = [
    [{ url: base }, 'url: requires a store'],
    [{ store, url: 'shop.example' }, 'url'],
    [{ store, url: 'ftp://shop.example' }, 'url'],
    [{ store, url: 'http://shop.example' }, 'url'],
    [{ store, url: 'http://127.0.0.1.shop.example' }, 'url'],
    [{ store, url: `${base}/?x=1` }, 'url'],
    [{ store, url: base, webhook: {} }, 'webhooks'],
    [{ store, webhooks: {} }, 'webhooks: requires `url`'],
    [{ store, page: {} }, 'page: requires `url`'],
    [{ store, url: base, webhooks: { bank: 'secret' } }, 'webhooks.bank'],
    [{ store: memoryStore, url: base }, 'Call it: memoryStore(…)'],
    [{ store: { guard: 1 } }, 'store'],
    [{ auth: { mayAnswer: true } }, 'auth.mayAnswer'],
  ];
  for (const [changes, named] of bad)
    expect(() => serveSagas({ ...options, ...changes })).toThrow(named);
  for (const url of [
    'http://localhost:3000',
    'http://127.0.0.1:3000/',
    'http://[::1]',
    `${base}/a`,
  ])
    expect(() => serveSagas({ ...options, store, url })).not.toThrow();
});
