import { memoryStore, type KeySource, type QueueMessage, type SagaCaller } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { accept, hostOf, keyOf, oldKey, suspended, type TestHost } from '../fixtures/host.ts';
import { outcome } from '../fixtures/outcome.ts';
import { asking } from '../fixtures/sagas.ts';
import { deploys, hostForAll, send, ways } from '../fixtures/ways.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';
import { coreOf } from '../../src/saga-host.ts';
import { maxTenants, Tenants } from '../../src/settings/host-keys.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/** The tenant of a test user, as in `ada@a`. */
const tenantOf = ({ user }: SagaCaller): string =>
  String((user as { readonly clientId?: string } | undefined)?.clientId).split('@')[1] ?? '';

/** A user of a tenant. All have the same principal: only the keys keep tenants apart. */
const of = (tenant: string): { readonly caller: SagaCaller } => ({
  caller: { user: { clientId: `ada@${tenant}` }, principal: { subject: 'ada', client: 'app' } },
});

const principal = (): { readonly subject: string; readonly client: string } => ({
  subject: 'ada',
  client: 'app',
});

/** Sources whose tenants have the same key IDs. */
const sources: { readonly [name: string]: KeySource['load'] } = {
  'with the same key IDs': async (tenant) => keyOf('k1', tenant.charCodeAt(0)),
  'with the very same keys': async () => oldKey,
};

function hostOfTenants(
  load: KeySource['load'],
  changes: HostChanges & { readonly clock?: TestHost['clock'] } = {},
): TestHost {
  return hostForAll([deploys()], {
    keys: { load, tenantOf },
    auth: { principal },
    store: memoryStore(),
    ...changes,
  });
}

describe.each(Object.entries(sources))('tenants %s', (_, load) => {
  test.each(ways)('[T3] [T5] never open the tokens of another tenant by $name', async (way) => {
    const host = hostOfTenants(load);
    const token = await way.begin(host, {}, 'ada@a');
    expect(await outcome(way, host, token, { user: 'ada@b' })).toBe('refused');
    expect(await outcome(way, host, token, { user: 'eve@b' })).toBe('refused');
    expect(host.told.rejections.map(({ reason }) => reason)).toEqual([
      'undecryptable',
      'undecryptable',
    ]);
    expect(await outcome(way, host, token, { user: 'ada@a' })).toBe('went on');
    expect(host.told.errors).toEqual([]);
  });

  test('[T3] cannot cancel, read, or poll what belongs to another tenant', async () => {
    const host = hostOfTenants(load);
    const result = await send(
      host,
      'tools/callSaga',
      { name: 'deploys', arguments: {} },
      { user: 'ada@a' },
    );
    const sagaToken = result.last.result?.['sagaToken'] as string;
    const task = await ways.find(({ name }) => name === 'tasks')!.begin(host, {}, 'ada@a');
    const forms = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    for (const [method, params] of [
      ['tools/cancelSaga', { sagaToken }],
      ['requests/getStatus', { requestId: 1, resumeToken: sagaToken }],
      ['tasks/get', { taskId: task }],
      ['tasks/cancel', { taskId: task }],
    ] as const) {
      const { last } = await send(host, method, params, { user: 'ada@b', capabilities: forms });
      expect([method, last.error?.code]).toEqual([method, -32_602]);
    }
    expect(new Set(host.told.rejections.map(({ reason }) => reason))).toEqual(
      new Set(['undecryptable']),
    );
    const own = await send(
      host,
      'tasks/get',
      { taskId: task },
      { user: 'ada@a', capabilities: forms },
    );
    expect(own.last.result).toMatchObject({ status: 'input_required' });
  });

  test('[T3] have separate handles', async () => {
    const way = ways.find(({ name }) => name === 'resume token')!;
    const clock = testClock();
    const host = hostOfTenants(load, {
      store: memoryStore({ clock }),
      shortTokens: true,
      clock,
    });
    const handle = await way.begin(host, {}, 'ada@a');
    expect(handle).toMatch(/^[\w-]{22}$/);
    expect(await outcome(way, host, handle, { user: 'ada@b' })).toBe('refused');
    expect(await outcome(way, host, handle, { user: 'ada@a' })).toBe('went on');
  });

  test('[T13] have separate records at a shared guard', async () => {
    const records: string[] = [];
    // No store in memory any more: its records are sealed.
    const store = storeWithGuard((guard) => ({
      finish: (fence, response) => {
        records.push(response);
        return guard.finish(fence, response);
      },
    }));
    const { host } = hostOfTenants(load, { store });
    const { token, sagaId } = suspended(await host.start('deploys', {}, of('a')));
    const answers = [accept('target', { target: 'here' })];
    const end = await host.resume(token, answers, of('a'));
    expect(end).toMatchObject({ result: 'Deployed to here' });
    expect(await host.resume(token, answers, of('a'))).toEqual(end);
    expect(records).toHaveLength(1);
    const { source } = coreOf(host).keys;
    const [record = ''] = records;
    const opened = async (tenant: string): Promise<string> => {
      const { responses } = await source!.ofCaller(of(tenant).caller);
      return (
        await responses.open(record, { purpose: 'response', sid: sagaId, ignoreExpiry: true })
      ).sid;
    };
    expect(await opened('a')).toBe(sagaId);
    await expect(opened('b')).rejects.toMatchObject({ reason: 'undecryptable' });
  });

  describe('have queue messages with their name', () => {
    interface Abandoned extends TestHost {
      /** The message that ends the saga, whose time has come. */
      readonly message: QueueMessage;
      /** The token of the client. */
      readonly token: string;
      /** The tenants whose keys were loaded. */
      readonly loads: string[];
    }

    async function abandoned(): Promise<Abandoned> {
      const queue = recordingQueue();
      const loads: string[] = [];
      const counting: KeySource['load'] = (tenant) => (loads.push(tenant), load(tenant));
      const made = hostOfTenants(counting, { queue });
      const { token } = suspended(await made.host.start('deploys', {}, of('a')));
      const { message, at } = queue.sent.at(-1) as Sent;
      made.clock.now = at;
      return { ...made, message, token, loads };
    }
    const renamed = (token: string, tenant: string): string =>
      `${Buffer.from(tenant).toString('base64url')}~${token.split('~')[1]}`;

    test('[E8] which end a saga without a caller', async () => {
      const { host, message } = await abandoned();
      const { sagaId, token } = message;
      expect(token).toMatch(/^YQ~ey/);
      expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
      // A repeated message finds the same end.
      expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    });

    test.each<[string, (tokens: { readonly named: string; readonly token: string }) => string]>([
      ['a message under the name of another tenant', ({ named }) => renamed(named, 'b')],
      [
        'the token of a client under the name of its tenant',
        ({ token }) => renamed(`~${token}`, 'a'),
      ],
      ['the token of a client', ({ token }) => token],
      ['a name without a token', () => 'YQ~'],
      ['two names', ({ named }) => `YQ~${named}`],
      ['a message without its name', ({ named }) => named.replace(/^.*~/, '')],
      ['a message under an empty name', ({ named }) => `~${named.split('~')[1]}`],
      ['a message under a name that is not base64url', ({ named }) => `a=~${named.split('~')[1]}`],
    ])('[T5] which refuse %s', async (_name, make) => {
      const { host, told, message, token } = await abandoned();
      const forged = { ...message, token: make({ named: message.token, token }) };
      await expect(host.deliver(forged)).rejects.toMatchObject({ code: 'refused' });
      expect(told.rejections).toHaveLength(1);
      expect(await host.deliver(message)).toMatchObject({ status: 'ended' });
    });

    test.each([
      ['too long', 'b'.repeat(257)],
      ['empty in UTF-8', '\u{FFFD}'.repeat(300)],
    ])(
      '[T5] which refuse a name that is %s, without a call of the source',
      async (_name, tenant) => {
        const { host, message, loads } = await abandoned();
        const forged = { ...message, token: renamed(message.token, tenant) };
        await expect(host.deliver(forged)).rejects.toMatchObject({ code: 'refused' });
        expect(loads).toEqual(['a']);
      },
    );

    test('[T5] under which a valid token of a client is refused', async () => {
      const { host } = hostOfTenants(load);
      const { token } = suspended(await host.start('deploys', {}, of('a')));
      for (const tenant of ['a', 'b'])
        await expect(host.cancel(renamed(`~${token}`, 'a'), of(tenant))).rejects.toMatchObject({
          code: 'refused',
        });
      expect(await host.cancel(token, of('a'))).toMatchObject({ status: 'failed' });
    });

    test('[T5] which give a client of another tenant no access to the keys of a token', async () => {
      const host = hostOfTenants(load);
      const { last } = await send(
        host,
        'tools/callSaga',
        { name: 'deploys', arguments: {} },
        { user: 'ada@a' },
      );
      const sagaToken = renamed(`~${String(last.result?.['sagaToken'])}`, 'a');
      const sent = await send(host, 'tools/cancelSaga', { sagaToken }, { user: 'ada@b' });
      expect(sent.last.error).toMatchObject({
        code: -32_602,
        data: { reason: 'invalid_saga_token' },
      });
    });

    test('[T5] which nobody may use as a token of a client', async () => {
      const all = await abandoned();
      const { token: sagaToken } = all.message;
      for (const tenant of ['a', 'b'])
        await expect(all.host.cancel(sagaToken, of(tenant))).rejects.toMatchObject({
          code: 'refused',
        });
      // Without a caller, nothing says whose keys to use.
      await expect(all.host.cancel(sagaToken)).rejects.toMatchObject({ code: 'tenant_missing' });
      const { last } = await send(all, 'tools/cancelSaga', { sagaToken }, { user: 'ada@a' });
      expect(last.error).toMatchObject({ code: -32_602, data: { reason: 'invalid_saga_token' } });
    });
  });
});

describe('a source of keys for tenants', () => {
  test('[T7] loads the keys of each tenant once, and a failing tenant stops no other', async () => {
    const loads: string[] = [];
    const load = async (tenant: string): Promise<string> => {
      loads.push(tenant);
      if (tenant === 'down') throw new Error('down');
      return keyOf(tenant, tenant.charCodeAt(0));
    };
    const { host, told } = hostOf(asking(), { keys: { load, tenantOf } });
    const start = (tenant: string): Promise<unknown> => host.start('asking', {}, of(tenant));
    await Promise.all([
      start('a'),
      start('a'),
      start('b'),
      expect(start('down')).rejects.toMatchObject({ code: 'keys_down' }),
    ]);
    await Promise.all([
      start('a'),
      start('b'),
      expect(start('down')).rejects.toMatchObject({ code: 'keys_down' }),
    ]);
    expect(loads.toSorted()).toEqual(['a', 'b', 'down']);
    expect(told.errors).toMatchObject([{ code: 'keys_down' }]);
  });

  test('[T5] is not called at will by a client of one tenant, nor for the keys of another', async () => {
    const loads: string[] = [];
    const load = async (tenant: string): Promise<string> => {
      loads.push(tenant);
      return keyOf(tenant, tenant.charCodeAt(0));
    };
    const { host, clock } = hostOf(asking(), { keys: { load, tenantOf } });
    const { token } = suspended(await host.start('asking', {}, of('a')));
    await host.start('asking', {}, of('b'));
    for (let times = 0; times < 25; times += 1) {
      clock.now += 1_000;
      await expect(host.resume(token, [], of('b'))).rejects.toMatchObject({
        reason: 'unknown_key',
      });
    }
    expect(loads).toEqual(['a', 'b', 'b', 'b']);
  });

  test('[T7] drops the least recently used keys of more than ten thousand tenants', () => {
    const made: string[] = [];
    const known = new Tenants();
    const make = (tenant: string): never => (made.push(tenant), { tenant }) as never;
    for (let at = 0; at < maxTenants; at += 1) known.use(`t${at}`, make);
    made.length = 0;
    for (const tenant of ['t0', 'new', 't0', 't1', 't2']) known.use(tenant, make);
    expect(made).toEqual(['new', 't1', 't2']);
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a number', 1],
    ['an empty name', ''],
    ['257 characters', 'a'.repeat(257)],
    ['a lone surrogate', 'a\uD800'],
  ])('[T6] serves no caller with a tenant that is %s', async (_, tenant) => {
    const loads: string[] = [];
    const load = (name: string): string => {
      loads.push(name);
      return oldKey;
    };
    const { host, told } = hostOf(asking(), { keys: { load, tenantOf: () => tenant as string } });
    await expect(host.start('asking', {})).rejects.toMatchObject({
      code: 'tenant_missing',
      public: false,
    });
    const { last } = await send({ host }, 'tools/callSaga', { name: 'asking', arguments: {} });
    expect(last.error).toEqual({ code: -32_603, message: 'Internal error' });
    expect(told.errors).toMatchObject([{ code: 'tenant_missing' }]);
    expect(loads).toEqual([]);
  });

  test('[T6] serves a tenant of 256 characters in any script', async () => {
    const { host } = hostOf(asking(), {
      keys: { load: () => oldKey, tenantOf: async () => '\u{65E5}'.repeat(256) },
    });
    expect(await host.start('asking', {})).toMatchObject({ status: 'suspended' });
  });

  test('[T6] shows a token to an operator who passes a caller of its tenant', async () => {
    const { host } = hostOf(asking(), { keys: { load: () => oldKey, tenantOf } });
    const { token, sagaId } = suspended(await host.start('asking', {}, of('a')));
    expect(await host.inspect(token, of('a'))).toMatchObject({ sagaId, keyId: 'old' });
    await expect(host.inspect(token, of('b'))).rejects.toMatchObject({ reason: 'undecryptable' });
    await expect(host.inspect(token)).rejects.toMatchObject({ code: 'tenant_missing' });
  });

  test('[T6] returns no sealer without a tenant', async () => {
    const { host } = hostOf(asking(), { keys: { load: () => oldKey, tenantOf } });
    const { token } = suspended(await host.start('asking', {}, of('a')));
    const { sealer, responses } = coreOf(host).keys;
    for (const one of [sealer, responses])
      expect(() => one.open(token, { purpose: 'token' })).toThrow(
        expect.objectContaining({ code: 'tenant_missing' }),
      );
  });

  test('[T13] counts stored bytes of a guard separately for the same user ID in two tenants', async () => {
    const owners = new Set<string | undefined>();
    const store = storeWithGuard((guard) => ({
      begin: (claim) => {
        owners.add(claim.charge?.to);
        return guard.begin(claim);
      },
    }));
    const options = { store, clock: testClock() };
    for (const keys of [{ load: () => oldKey, tenantOf }, oldKey]) {
      const { host } = hostOfTenants(() => oldKey, { ...options, keys });
      for (const tenant of ['a', 'b']) {
        const { token } = suspended(await host.start('deploys', {}, of(tenant)));
        await host.resume(token, [accept('target', { target: 'here' })], of(tenant));
      }
    }
    expect(owners.size).toBe(3);
  });
});
