import {
  createSagaHost,
  generateKey,
  memoryStore,
  saga,
  step,
  type SagaHost,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/saga-host.ts';
import { suspended } from '../fixtures/host.ts';
import type { RawMessage } from '../fixtures/raw.ts';
import { overStdio } from '../fixtures/stdio-lines.ts';
import { hour, minute, queued, recordingQueue } from '../queue/queued.ts';
import { callShop, keyField, ordering, shopOf, type Order } from './shop.ts';

const caller = { principal: { issuer: 'https://id.example', subject: 'ada', client: 'app' } };
const named = { caller, idempotencyKey: 'event-1' };
const meta = { [keyField]: 'call-1' };
const large = { action: 'accept', content: { size: 'L' } } as const;
const sized = [{ stepId: 'size', result: large }];
const chargedAndUndone = [expect.any(String), 'undo'];

describe('a saga that accepts forks', () => {
  test('undoes once, although its start is repeated', async () => {
    const { order, acted } = ordering({ reuse: 'ok', fails: true });
    const { host } = queued(order);
    await host.start('order', {}, named);
    // A commit would be a turn of its own.
    const again = await host.start('order', {}, named);
    expect(again).toMatchObject({ status: 'failed', turn: 1 });
    expect(acted).toEqual(chargedAndUndone);
  });

  test('acts once in its first turn, although a resumable request commits there', async () => {
    const ran: string[] = [];
    const order = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
      yield* step('charge', () => void ran.push('charge'));
      yield* step('ship', () => void ran.push('ship'));
      return 'shipped';
    });
    const core = coreOf(queued(order).host);
    const resumable = { id: 1, beganAt: 0, dialect: {}, report: () => Promise.resolve() };
    const request = { method: 'tools/call', holder: { kind: 'client', resumable } } as const;
    const keyed = { ...caller, clientKey: () => ({ key: 'event-1', from: 'server' as const }) };
    const first = await core.start('order', {}, keyed, request);
    const again = await core.start('order', {}, keyed, request);
    expect([first, again]).toMatchObject([{ result: 'shipped' }, { result: 'shipped' }]);
    expect(ran).toEqual(['charge', 'ship']);
  });

  test('undoes once, although the message of its start is delivered', async () => {
    const { order, acted } = ordering({ reuse: 'ok', fails: true });
    const { host, next } = queued(order);
    await host.start('order', {}, named);
    await next();
    expect(acted).toEqual(chargedAndUndone);
  });
});

describe('a repeated start gets the stored failure', () => {
  test('of a saga that its client has cancelled', async () => {
    const { order } = ordering();
    const { host } = queued(order);
    const { token } = suspended(await host.start('order', {}, named));
    await host.cancel(token, { caller });
    expect(await host.start('order', {}, named)).toMatchObject({ status: 'failed' });
  });

  test('of a saga that its client has left, and the queue has undone', async () => {
    const { order } = ordering();
    const { host, drain } = queued(order);
    await host.start('order', {}, named);
    await drain();
    expect(await host.start('order', {}, named)).toMatchObject({ status: 'failed' });
  });

  test.each(['before', 'after'])(
    'of a call whose first request the client cancels %s the repetition',
    async (when) => {
      const { order, acted } = ordering();
      const host = createSagaHost({ ...hostOptions(order), store: memoryStore() });
      const client = await session(host);
      client.callAs('first');
      const { id: lost } = await client.first(isQuestion);
      const cancelFirst = async (): Promise<void> => {
        client.cancel('first');
        while (!acted.includes('undo')) await turnOfLoop();
      };
      if (when === 'before') await cancelFirst();
      client.callAs('again');
      if (when === 'after') {
        const { id } = await client.first((one) => isQuestion(one) && one.id !== lost);
        await cancelFirst();
        client.send({ id, result: large });
      }
      const { error, result } = await client.first(({ id }) => id === 'again');
      client.end();
      expect(error).toBeUndefined();
      expect(result).toMatchObject({ isError: true });
      expect(acted).toEqual(chargedAndUndone);
    },
  );
});

describe('a call whose first connection is lost while it asks, on a host with a queue', () => {
  test('is left to its repetition, which is answered', async () => {
    const { order, acted } = ordering();
    const { host } = queued(order);
    const lost = await session(host);
    lost.callAs('first');
    await lost.first(isQuestion);
    lost.end();
    // What ends with the connection, ends in these turns of the loop.
    for (let turns = 0; turns < 50; turns += 1) await turnOfLoop();
    expect(acted).toHaveLength(1);
    const client = await session(host);
    client.callAs('again');
    const { id } = await client.first(isQuestion);
    client.send({ id, result: large });
    const { result } = await client.first((message) => message.id === 'again');
    expect(result).toMatchObject({ content: [{ text: 'done' }] });
    expect(acted).toHaveLength(1);
    client.end();
  });

  test('is undone at once if its saga accepts forks, which no queue ends', async () => {
    const { order, acted } = ordering({ reuse: 'ok' });
    const { host } = queued(order);
    const lost = await session(host);
    lost.callAs('first');
    await lost.first(isQuestion);
    lost.end();
    while (!acted.includes('undo')) await turnOfLoop();
    expect(acted).toEqual(chargedAndUndone);
  });
});

function hostOptions(order: Order['order']) {
  return {
    sagas: [order],
    keys: generateKey(),
    name: 'shop',
    hooks: { onWarning: () => undefined, onReject: () => undefined },
  };
}

/** A session over stdio, in which the server asks during the call. */
async function session(host: SagaHost) {
  const lines = await overStdio(host, 'version 1', { elicitation: {} });
  const params = { name: 'order', arguments: {}, _meta: meta };
  return {
    ...lines,
    callAs: (id: string): void => lines.send({ id, method: 'tools/call', params }),
    cancel: (requestId: string): void =>
      lines.send({ method: 'notifications/cancelled', params: { requestId } }),
  };
}

function isQuestion({ method }: RawMessage): boolean {
  return method === 'elicitation/create';
}

async function turnOfLoop(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('without a queue', () => {
  const alone = { queue: undefined } as never;

  test('a repeated start gets the result of a saga that has ended', async () => {
    const { order } = ordering();
    const { host, clock } = queued(order, alone);
    const { token } = suspended(await host.start('order', {}, named));
    await host.resume(token, sized, { caller });
    clock.now += 2 * hour;
    expect(await host.start('order', {}, named)).toMatchObject({ result: 'done' });
  });

  test('a repeated start is told so if nobody can answer its question any more', async () => {
    const { order, acted } = ordering();
    const { host, clock } = queued(order, alone);
    await host.start('order', {}, named);
    clock.now += 2 * hour;
    await expect(host.start('order', {}, named)).rejects.toMatchObject({ code: 'already_started' });
    expect(acted).toHaveLength(1);
  });

  test('a repeated start finds a live saga at its newest turn', async () => {
    const { order } = ordering({ asks: ['size', 'color'] });
    const { host, clock } = queued(order, alone);
    const { token } = suspended(await host.start('order', {}, named));
    clock.now += 50 * minute;
    await host.resume(token, sized, { caller });
    clock.now += 20 * minute;
    const again = suspended(await host.start('order', {}, named));
    expect(again.steps).toMatchObject([{ stepId: 'color' }]);
    expect(again.expiresAt).toBeGreaterThan(clock.now);
  });
});

test('a repeated start of a saga that waits for days gets its token, as long as that is good', async () => {
  const { order } = ordering({ timeout: 5 * 24 * hour });
  const { host, clock } = queued(order);
  await host.start('order', {}, named);
  clock.now += 48 * hour;
  expect(await host.start('order', {}, named)).toMatchObject({ status: 'suspended' });
});

describe('a call that is repeated in another way continues in that way', () => {
  const byRounds = { meta, capabilities: { elicitation: {} } };
  const byTokens = { meta, capabilities: {} };

  test('from rounds to a resume token', async () => {
    const server = shopOf(ordering());
    await callShop(server, byRounds);
    const { last } = await callShop(server, byTokens);
    const answers = JSON.stringify({ size: large });
    const args = { resumeToken: last.result?.['nextResumeToken'], answers };
    const end = await callShop(server, { ...byTokens, more: { arguments: args } });
    expect(end.last.error).toBeUndefined();
    expect(end.text).toContain('done');
  });

  test('from a resume token to rounds', async () => {
    const server = shopOf(ordering());
    await callShop(server, byTokens);
    const { last } = await callShop(server, byRounds);
    const { requestState } = Object(last.result) as { readonly requestState?: unknown };
    const more = { requestState, inputResponses: { size: large } };
    const end = await callShop(server, { ...byRounds, more });
    expect(end.last.error).toBeUndefined();
    expect(end.text).toContain('done');
  });

  test('and a key of another form is no matter after the start', async () => {
    const server = shopOf(ordering());
    const { last } = await callShop(server, byRounds);
    const { requestState } = Object(last.result) as { readonly requestState?: unknown };
    const more = { requestState, inputResponses: { size: large } };
    const end = await callShop(server, { ...byRounds, meta: { [keyField]: 7 }, more });
    expect(end.text).toContain('done');
  });
});

test('the queue forgets a start whose saga has ended in its first turn', async () => {
  const { order } = ordering({ asks: [] });
  const { host, queue } = queued(order);
  const { sagaId } = await host.start('order', {}, named);
  expect(queue.sent).toHaveLength(1);
  expect(queue.removed).toEqual([sagaId]);
});

test('a message that the queue stored, and then failed, begins no saga', async () => {
  const { order, acted } = ordering();
  const inner = recordingQueue();
  const failing = {
    ...inner,
    send: (...sent: Parameters<typeof inner.send>) => {
      void inner.send(...sent);
      throw new Error('The connection was lost.');
    },
  };
  const { host, clock } = queued(order, { queue: failing });
  await expect(host.start('order', {}, named)).rejects.toMatchObject({ code: 'queue_down' });
  clock.now += 30 * 24 * hour;
  const [sent] = inner.sent;
  await host.deliver(sent?.message as never).catch(() => undefined);
  expect(acted).toEqual([]);
});

test.each(['', 'x'.repeat(257), 7])('starts.key may not return %j', async (key) => {
  const { order, acted } = ordering();
  const server = shopOf(
    { order },
    {
      starts: { key: () => key as string },
      hooks: { onError: () => undefined, onWarning: () => undefined },
    },
  );
  expect((await callShop(server, { meta })).last).toHaveProperty('error');
  expect(acted).toEqual([]);
});

describe('a start that was refused may be repeated, and begins its saga', () => {
  test.each([
    ['by authorize', { authorize: () => isOpen }, 'forbidden'],
    ['by rateLimit', { rateLimit: () => isOpen }, 'rate_limited'],
  ])('%s', async (_, auth, code) => {
    isOpen = false;
    const { order, acted } = ordering();
    const { host } = queued(order, { auth });
    await expect(host.start('order', {}, named)).rejects.toMatchObject({ code });
    isOpen = true;
    expect(await host.start('order', {}, named)).toMatchObject({ status: 'suspended' });
    expect(acted).toHaveLength(1);
  });
});

let isOpen = true;
