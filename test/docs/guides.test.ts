import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crashEverywhere, failEverywhere, testSaga, upgradeEverywhere } from '@mcp-saga/testing';
import {
  approval,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  type Program,
  type SagaHost,
  type SagaTurn,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { post, read, type RawMessage } from '../../packages/server/test/fixtures/raw.ts';
import { order as orderPizza } from './effects/ask.ts';
import {
  order as changed,
  gift,
  order1,
  parcel,
  parcelBefore,
  renamed,
  renamedAtOnce,
  renamedVersion,
} from './guides/changing.ts';
import { orderOnce, orderSafely, order as orderByClient, terminal } from './guides/client.ts';
import { bank, paid, pay } from './guides/crashing.ts';
import { deleteOnce, deleteProject, store } from './guides/confirm.ts';
import { bill, invoices, serverBefore } from './guides/migrate.ts';
import { callback, importRepositories, sessions, tokens } from './guides/oauth.ts';
import { chatCompletions, hostOf as helpdesk } from './guides/own-model.ts';
import { confirm, pizza } from './guides/forms.ts';
import { bookRoom } from './guides/output.ts';
import { balances, transfer } from './guides/suspends.ts';
import { listOrders } from './guides/paging.ts';
import { planTrip, vote } from './guides/parallel.ts';
import {
  buy,
  chargeOnce,
  charges,
  payBill,
  payments,
  transferMoney,
  shipments,
  transfers,
} from './guides/payments.ts';
import { order, review } from './guides/prompts.ts';
import { asked, hostOf as reports, report } from './guides/tasks.ts';
import { expenseSaga, sent } from './guides/xstate.ts';
import { expectLogs } from '../support/logs.ts';
import { askingModels } from '../support/asking-models.ts';

const silent = (): void => undefined;
const hour = 3_600_000;
const shop = {
  name: 'shop',
  version: '1',
  keys: generateKey(),
  hooks: { onTurn: silent, onWarning: silent },
};
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

type Fetches = { readonly fetch: (request: Request) => Promise<Response> };

/** Connects a client of MCP 2026-07-28 to a server in this process. */
async function connect(server: Fetches, answer?: () => object): Promise<Client> {
  const client = new Client(
    { name: 'reader', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: {} },
      versionNegotiation: { mode: 'auto' },
    },
  );
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', () => answer() as { action: 'accept' });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
    server.fetch(new Request(url, init));
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
  );
  open.push(() => client.close());
  return client;
}

describe('the options of a saga', () => {
  it('list no `resumeToken` for a saga with `suspends: false`, which ends within its call', async () => {
    const server = serveSagas({ ...shop, sagas: [transfer] });
    const client = await connect(server, () => ({ action: 'decline' }));
    const { tools } = await client.listTools();
    expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual(['from', 'to', 'amount']);
    const result = await client.callTool({
      name: 'transfer',
      arguments: { from: 'ada', to: 'bob', amount: 3 },
    });
    expect(result.content).toEqual([{ type: 'text', text: 'Transferred.' }]);
    expect(Object.fromEntries(balances)).toEqual({ ada: 7, bob: 3 });
  });

  it('return an object that matches the schema `output`, as structured content and as text', async () => {
    const server = serveSagas({ ...shop, sagas: [bookRoom] });
    const client = await connect(server, () => ({ action: 'accept', content: { room: 'small' } }));
    const booking = { room: 'small', seats: 4 };
    const { content, structuredContent } = await client.callTool({
      name: 'book_room',
      arguments: {},
    });
    expect(structuredContent).toEqual(booking);
    expect(JSON.parse((content[0] as { readonly text: string }).text)).toEqual(booking);
    const { tools } = await client.listTools();
    expect(tools[0]?.outputSchema).toMatchObject({
      anyOf: [
        { properties: { room: { type: 'string' }, seats: { type: 'integer' } } },
        { properties: { unfinishedCall: { const: true } } },
      ],
    });
  });
});

describe('confirm something destructive', () => {
  beforeEach(() => void store.files.set('website', 12));
  const script = testSaga(deleteProject, { input: { project: 'website' } });

  // #region confirm
  it('deletes nothing unless the user types the name', async () => {
    const wrong = await script.on.elicit('confirm', { name: 'shop' }).run();
    expect(wrong.result).toBe('Not deleted: the name does not match.');

    const declined = await script.refuse.elicit('confirm').run();
    expect(declined.error).toMatchObject({ code: 'elicitation_refused' });
  });
  // #endregion confirm

  it('deletes after the user confirms', async () => {
    expect((await script.on.elicit('confirm', { name: 'website' }).run()).result).toBe(
      'Deleted website.',
    );
    expect(store.files.has('website')).toBe(false);
  });

  it('refuses a client that cannot ask its user, before anything runs', async () => {
    const client = await connect(serveSagas({ ...shop, sagas: [deleteProject] }));
    const call = { name: 'delete_project', arguments: { project: 'website' } };
    const count = vi.spyOn(store, 'count');
    await expect(client.callTool(call)).rejects.toMatchObject({ code: -32_021 });
    expect(count).not.toHaveBeenCalled();
  });

  it('accepts no confirmation of a model, although models may answer other questions of the saga', async () => {
    const sagas = serveSagas({
      ...shop,
      sagas: askingModels([deleteProject]),
      answerers: { model: 'accept' },
    });
    const call = { name: 'delete_project', arguments: { project: 'website' } };
    expect(await (await connect(sagas)).callTool(call)).toMatchObject({ isError: true });
    expect(store.files.has('website')).toBe(true);
  });

  it('deletes once under a guard', async () => {
    const once = testSaga(deleteOnce, { input: { project: 'website' } }).on.elicit('confirm', {
      name: '',
    });
    expect((await once.run()).result).toBe('Deleted website.');
  });
});

it('asks parallel questions in one turn, and a helper in its scope', async () => {
  const run = await testSaga(planTrip, { input: { city: 'Rome' } })
    .on.elicit('dates', { from: '2026-05-01', to: '2026-05-08' })
    .on.elicit('hotel/choice', { hotel: 'Grand Rome' })
    .run();
  expect(run.result).toBe('Grand Rome, 2026-05-01 to 2026-05-08, sunny in Rome.');
  expect(run.points.map(({ asked: steps }) => steps.length)).toEqual([2]);
  const late = testSaga(vote, { clock: 0 })
    .on.elicit('votes/first', { yes: true })
    .on.elicit('votes/second', { yes: true });
  expect((await late.run()).result).toBe('Accepted.');
  expect((await late.late.elicit('votes/first', 20 * 60_000).run()).result).toBe(
    'No decision in 15 minutes.',
  );
});

it('asks with forms: fields of many kinds, and a schema of zod/mini', async () => {
  const ordered = await testSaga(pizza).on.elicit('order', { size: 's' }).run();
  expect(ordered.result).toBe('s with nothing');
  const sure = await testSaga(confirm).on.elicit('sure', { sure: true }).run();
  expect(sure.result).toBe('Yes.');
});

it('runs long work as a task', async () => {
  expect(reports(generateKey()).sagas).toEqual([report]);
  asked.times = 0;
  expect((await testSaga(report, { clock: 0 }).run()).result).toBe('The report has 1200 rows.');
  asked.times = 0;
  let time = 1_000_000;
  const server = serveSagas({
    ...shop,
    sagas: [report],
    anonymous: { tasks: 'accept' },
    store: memoryStore({ clock: () => time }),
    testing: { clock: () => time },
  });
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { extensions } };
  const send = async (method: string, params: object, name: string): Promise<RawMessage> => {
    const headers = { 'mcp-name': name };
    return (
      await read(
        await server.fetch(post('modern', method, { ...params, _meta: meta }, 1, { headers })),
      )
    ).last;
  };
  const { result } = await send('tools/call', { name: 'report', arguments: {} }, 'report');
  expect(result).toMatchObject({ resultType: 'task', status: 'working' });
  const taskId = result?.['taskId'] as string;
  const states: unknown[] = [];
  for (let round = 0; round < 10 && states.at(-1) !== 'completed'; round += 1) {
    time += 5_000;
    const task = await send('tasks/get', { taskId }, taskId);
    states.push(task.result?.['status']);
    if (states.at(-1) === 'completed') expect(JSON.stringify(task.result)).toContain('1200 rows');
  }
  expect(states.at(-1)).toBe('completed');
});

describe('payments', () => {
  const script = testSaga(buy, {
    input: { item: 'lamp', amount: 30 },
    providers: [charges, shipments],
  });
  const bought = script.on.elicit('sure', { sure: true });

  it('ships paid orders, and refunds declined ones', async () => {
    expect((await bought.run()).result).toBe('Shipped lamp.');
    const refused = await script.on.elicit('sure', { sure: false }).run();
    expect(refused.compensated).toEqual(['charge']);
    expect(charges.standing).toEqual([]);
  });

  it('charges once, wherever its process dies', async () => {
    await crashEverywhere(bought, { check: () => expect(charges.standing).toEqual([30]) });
  });

  it('charges and ships, or does neither, after any failure', async () => {
    await failEverywhere(bought, {
      check: () => expect(charges.standing).toHaveLength(shipments.standing.length),
    });
  });

  it('pays and cancels by the UUID of one key, after any failure', async () => {
    const paying = testSaga(payBill, { input: { amount: 30 }, providers: [payments] });
    const kept = paying.on.elicit('sure', { sure: true });
    await crashEverywhere(kept, { check: () => expect(payments.standing).toEqual([30]) });
    await failEverywhere(kept);
    expect((await kept.run()).standing).toEqual(['pay']);
    expect(payments.calls[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-8/);
    await paying.refuse.elicit('sure').run();
    expect(payments.standing).toEqual([]);
  });

  it('tries again under another key after a refusal, and sends once, after any failure', async () => {
    const sending = testSaga(transferMoney, { input: { cents: 30 }, providers: [transfers] });
    expect((await sending.run()).result).toBe('Sent after 2 attempts.');
    await crashEverywhere(sending, { check: () => expect(transfers.standing).toEqual([30]) });
    await failEverywhere(sending, {
      check: ({ error }) => expect(transfers.standing).toEqual(error === undefined ? [30] : []),
    });
  });

  it('reports an unknown outcome', async () => {
    expect(await chargeOnce(async () => ({ id: '1' }))).toEqual({ id: '1' });
    await expect(chargeOnce(async () => undefined)).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
  });
});

it('waits for a sign-in by URL, which only its user finishes', async () => {
  const host = createSagaHost({
    sagas: [importRepositories],
    keys: generateKey(),
    name: 'import',
  });
  const caller = { capabilities: { elicitation: { url: {} } }, user: { subject: 'ada' } };
  const turn = await host.start('import_repositories', {}, { caller });
  if (turn.status !== 'suspended') throw new Error('not asked');
  const state = new URL(turn.steps[0]?.params['url'] as string).searchParams.get('state') ?? '';
  const redirected = (session: string): Promise<Response> =>
    callback(
      new Request(`https://app.example/github/callback?state=${state}&code=c`, {
        headers: { cookie: `theme=dark; session=${session}` },
      }),
    );
  sessions.set('s1', 'ada').set('s2', 'mallory');
  expect((await redirected('s2')).status).toBe(403);
  expect((await redirected('s1')).status).toBe(200);
  expect(tokens.size).toBe(1);
  const answer = { stepId: 'sign-in', result: { action: 'accept' } };
  expect(await host.resume(turn.token, [answer], { caller })).toMatchObject({
    result: 'Imported 3 repositories.',
  });
});

it('returns pages of results to a client without capabilities', async () => {
  const client = await connect(serveSagas({ ...shop, sagas: [listOrders] }));
  const first = await client.callTool({ name: 'list_orders', arguments: {} });
  expect(JSON.stringify(first.content)).toContain('order 1\\norder 2');
  const resumeToken = first['nextResumeToken'];
  const second = await client.callTool({ name: 'list_orders', arguments: { resumeToken } });
  expect(second.content).toEqual([{ type: 'text', text: 'order 3' }]);
});

it('asks a model of the host if the client has none', async () => {
  const requests: unknown[] = [];
  const server = createServer((request, response) => {
    request.on('data', (data: Buffer) => requests.push(JSON.parse(String(data))));
    request.on('end', () =>
      response.end(JSON.stringify({ choices: [{ message: { content: 'urgent' } }] })),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host = helpdesk(generateKey(), chatCompletions(url, 'small', 'secret'));
  const caller = { capabilities: {} };
  expect(await host.start('triage', { ticket: 'It burns' }, { caller })).toMatchObject({
    result: 'urgent, for support',
  });
  expect(requests).toMatchObject([{ model: 'small', max_tokens: 10 }]);
});

it('serves a prompt and a resource that ask questions and offer completions', async () => {
  const sagas = serveSagas({
    name: 'orders',
    version: '1',
    sagas: [review, order],
    keys: generateKey(),
  });
  const client = await connect(sagas, () => ({ action: 'accept', content: { focus: 'style' } }));
  const prompt = await client.getPrompt({ name: 'review', arguments: { language: 'Go' } });
  expect(JSON.stringify(prompt.messages)).toContain('Review this Go code for style.');
  const { contents } = await client.readResource({ uri: 'orders://17' });
  expect(contents).toMatchObject([{ text: 'Order 17', mimeType: 'text/plain' }]);
  const completed = await client.complete({
    ref: { type: 'ref/resource', uri: 'orders://{id}' },
    argument: { name: 'id', value: '1' },
  });
  expect(completed.completion.values).toEqual(['17', '18']);
});

it('serves a machine of XState as a saga', async () => {
  sent.clear();
  const script = testSaga(expenseSaga, { input: { amount: 40 } });
  expect((await script.on.elicit('decision', { approved: true }).run()).result).toBe('Paid.');
  expect([...sent.values()]).toEqual(['40 EUR']);
  expect((await script.refuse.elicit('decision').run()).result).toBe('Not paid.');
});

describe('call a saga from a client', () => {
  it('answers for a user, and keeps the answers if the network fails', async () => {
    const sagas = serveSagas({
      name: 'pizza',
      version: '1',
      sagas: [orderPizza],
      keys: generateKey(),
    });
    let online = true;
    const client = await connect({
      fetch: (request) =>
        online ? sagas.fetch(request) : Promise.reject(new TypeError('offline')),
    });
    expect(
      await orderByClient(
        client,
        terminal(async () => 'small'),
      ),
    ).toMatchObject({
      content: [{ type: 'text', text: 'One small pizza.' }],
    });
    const drawer = new Map<string, string>();
    const ask = vi.fn(async () => {
      online = false;
      return 'large';
    });
    await expect(orderSafely(client, terminal(ask), drawer)).rejects.toMatchObject({
      code: 'saga_request_failed',
    });
    expect(drawer.size).toBe(1);
    online = true;
    expect(await orderSafely(client, terminal(ask), drawer)).toMatchObject({
      content: [{ type: 'text', text: 'One large pizza.' }],
    });
    expect(ask).toHaveBeenCalledTimes(1);
    expect(drawer.size).toBe(0);
    await expect(
      orderByClient(
        client,
        terminal(async () => ''),
      ),
    ).resolves.toMatchObject({ isError: true });
  });

  it('orders once for two calls with one key, if the server has a store', async () => {
    const sagas = serveSagas({
      name: 'pizza',
      version: '1',
      sagas: [orderPizza],
      keys: generateKey(),
      store: memoryStore(),
      anonymous: { starts: 'accept' },
    });
    const client = await connect(sagas);
    const ask = vi.fn(async () => 'small');
    const key = randomUUID();
    const first = await orderOnce(client, terminal(ask), key);
    expect(await orderOnce(client, terminal(ask), key)).toEqual(first);
    expect(ask).toHaveBeenCalledTimes(1);
    await orderOnce(client, terminal(ask), randomUUID());
    expect(ask).toHaveBeenCalledTimes(2);
  });
});

it('continues an approval with other times until such a time has passed', async () => {
  const asking = (times: object) =>
    saga({ name: 'hire', version: '1', reuse: 'ok' }, function* () {
      const deliver = (): void => undefined;
      const given = {
        remindEvery: 4,
        timeout: 48,
        escalate: [{ after: 10, to: ['boss'] }],
        ...times,
      };
      const { remindEvery, timeout, escalate } = given;
      const { approved } = yield* approval('board', {
        message: 'Hire Ann?',
        to: ['bob'],
        deliver,
        remindEvery: remindEvery * hour,
        timeout: timeout * hour,
        escalate: escalate.map(({ after, to }) => ({ after: after * hour, to })),
      });
      return approved ? 'Hired.' : 'Not hired.';
    });
  /** Counts the waiting sagas that the change breaks, of one that is answered after some hours. */
  const broken = async (hours: number, times: object): Promise<number> => {
    const script = testSaga(asking({})).on.approval('board', [{ by: 'ann', after: hours * hour }]);
    return (await upgradeEverywhere(script, asking(times), { reportOnly: true })).problems.length;
  };
  const boss = { after: 20, to: ['boss'] };
  expect(await broken(1, { remindEvery: 8 })).toBe(0);
  expect(await broken(5, { remindEvery: 8 })).toBeGreaterThan(0);
  expect(await broken(5, { escalate: [boss] })).toBe(0);
  expect(await broken(11, { escalate: [boss] })).toBeGreaterThan(0);
  expect(await broken(11, { timeout: 96 })).toBe(0);
  expect(await broken(11, { timeout: 30 })).toBe(0);
  expect(await broken(11, { timeout: 3 })).toBeGreaterThan(0);
});

it('continues older sagas after a change of their code', async () => {
  const older = testSaga(order1, { clock: new Date('2026-06-01') }).on.elicit('address', {
    address: 'Rome',
  });
  const { problems } = await upgradeEverywhere(older, changed);
  expect(problems).toEqual([]);
  const unpatched = testSaga(parcelBefore).on.elicit('address', { address: 'Rome' });
  expect((await upgradeEverywhere(unpatched, parcel)).problems).toEqual([]);
  const patched = await testSaga(parcel).on.elicit('address', { address: 'Rome' }).run();
  expect(patched.effects.map(({ id }) => id)).toEqual(['weigh', 'ship']);
});

describe('renamed IDs', () => {
  const contents = {
    address: { address: 'Rome' },
    destination: { address: 'Rome' },
    express: { express: true },
  };
  const hostOf = (of: Program): SagaHost =>
    createSagaHost({ sagas: [of], keys: shop.keys, hooks: shop.hooks, name: 'shop' });
  const begin = async (of: Program): Promise<string> => tokenOf(await hostOf(of).start('gift', {}));
  const resume = async (
    of: Program,
    token: string,
    stepId: keyof typeof contents,
  ): Promise<SagaTurn> =>
    await hostOf(of).resume(token, [
      { stepId, result: { action: 'accept', content: contents[stepId] } },
    ]);
  const tokenOf = (turn: SagaTurn): string => {
    if (turn.status !== 'suspended') throw new Error('The saga did not ask.');
    return turn.token;
  };
  const done = { status: 'completed', result: 'Rome, now' };

  it('are refused without `patched` or a new version, and the token stays valid', async () => {
    expectLogs('replay_mismatch');
    const token = await begin(gift);
    for (const id of ['address', 'destination'] as const)
      await expect(resume(renamedAtOnce, token, id)).rejects.toMatchObject({
        code: 'replay_mismatch',
      });
    const answered = tokenOf(await resume(gift, token, 'address'));
    const refused = { code: 'replay_mismatch' };
    await expect(resume(renamedAtOnce, answered, 'express')).rejects.toMatchObject(refused);
    expect(await resume(gift, answered, 'express')).toMatchObject(done);
  });

  it('apply behind `patched` to new sagas, and to no saga that was asked under the old ID', async () => {
    const fresh = await resume(renamed, await begin(renamed), 'destination');
    expect(await resume(renamed, tokenOf(fresh), 'express')).toMatchObject(done);
    const begun = await begin(gift);
    for (const code of [gift, renamed]) {
      const answered = tokenOf(await resume(code, begun, 'address'));
      expect(await resume(renamed, answered, 'express')).toMatchObject(done);
    }
  });

  it('leave begun sagas their old IDs with a new version', async () => {
    for (const [of, id] of [
      [gift, 'address'],
      [renamedVersion, 'destination'],
    ] as const) {
      const answered = tokenOf(await resume(renamedVersion, await begin(of), id));
      expect(await resume(renamedVersion, answered, 'express')).toMatchObject(done);
    }
  });

  it('differ from a reworded question, which is asked again with the reason', async () => {
    const reworded = saga({ name: 'gift', version: '1' }, function* () {
      const { address } = yield* elicit('address', {
        message: 'Whither?',
        schema: z.object({ address: z.string() }),
      });
      return address;
    });
    expect(await resume(reworded, await begin(gift), 'address')).toMatchObject({
      status: 'suspended',
      steps: [{ stepId: 'address', reason: expect.stringContaining('has changed') }],
    });
  });
});

describe('a saga migrated from a handler', () => {
  it.each([
    ['before', () => createMcpHandler(serverBefore)],
    [
      'after',
      () => serveSagas({ name: 'billing', version: '1', sagas: [bill], keys: generateKey() }),
    ],
  ])('behaves the same %s', async (_, make) => {
    invoices.splice(0);
    const client = await connect(make(), () => ({
      action: 'accept',
      content: { email: 'a@b.example' },
    }));
    const { content } = await client.callTool({ name: 'bill', arguments: { customer: 'acme' } });
    expect(content).toEqual([{ type: 'text', text: 'Sent invoice 1 to a@b.example.' }]);
    expect(invoices).toEqual(['acme']);
  });
});

describe('test it, and crash it', () => {
  // #region run
  it('pays, and refunds if the user declines', async () => {
    const run = await paid.run();
    expect(run.result).toBe('Paid.');
    expect(run.effects.map(({ id }) => id)).toEqual(['charge']);

    const declined = await paid.refuse.elicit('sure').run();
    expect(declined.compensated).toEqual(['charge']);
    expect(bank.standing).toEqual([]);
  });
  // #endregion run

  // #region faults
  it('survives single faults', async () => {
    const retried = await paid.crash.after('charge').run();
    expect(retried.result).toBe('Paid.');
    expect(bank.standing).toEqual([9]);

    const late = await paid.timeout.step('charge').run();
    expect(late.status).toBe('failed');
    expect(bank.standing).toEqual([]);
  });
  // #endregion faults

  // #region fork
  it('rejects an older token under a guard', async () => {
    const run = await paid.run();
    const fork = await run.at('sure').fork('decline');
    expect(fork.status).toBe('refused');
  });
  // #endregion fork

  // #region upgrade
  it('continues with the next release', async () => {
    await upgradeEverywhere(paid, pay);
  });
  // #endregion upgrade

  // #region wire
  it('asks the user of a real client', async () => {
    const sagas = serveSagas({
      name: 'pizza',
      version: '1',
      sagas: [orderPizza],
      keys: generateKey(),
    });
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
    );
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { size: 'small' },
    }));
    const url = new URL('http://localhost/mcp');
    const inProcess = {
      fetch: (to: string | URL, init?: RequestInit) => sagas.fetch(new Request(to, init)),
    };
    await client.connect(new StreamableHTTPClientTransport(url, inProcess));

    const { content } = await client.callTool({ name: 'order', arguments: {} });
    expect(content).toEqual([{ type: 'text', text: 'One small pizza.' }]);
    await client.close();
  });
  // #endregion wire

  // #region crash
  it('charges once, wherever its process dies', async () => {
    await crashEverywhere(paid, { check: () => expect(bank.standing).toEqual([9]) });
  });

  it('leaves no effect behind after any failure', async () => {
    await failEverywhere(paid);
  });
  // #endregion crash

  // #region meant
  it('refunds once if the user declines, wherever its process dies', async () => {
    const declined = paid.refuse.elicit('sure').expectFailure('elicitation_refused');
    await crashEverywhere(declined, { check: () => expect(bank.standing).toEqual([]) });
  });
  // #endregion meant
});
