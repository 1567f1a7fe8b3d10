import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type Program,
} from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { suspended } from '../fixtures/host.ts';
import { post, read, type RawMessage } from '../fixtures/raw.ts';
import { overStdio } from '../fixtures/stdio-lines.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { hostForAll } from '../fixtures/ways.ts';
import { hour, minute, queued, recordingQueue } from '../queue/queued.ts';

const user = { issuer: 'https://id.example', subject: 'ada', client: 'app' };
const caller = { principal: user };
const named = { caller, idempotencyKey: 'event-1' };
const keyed = { 'io.github.mcp-saga/idempotencyKey': 'call-1' };
const large = { action: 'accept', content: { size: 'L' } } as const;
const sized = [{ stepId: 'size', result: large }];

interface Order {
  readonly order: Program;
  readonly acted: readonly string[];
}

interface OrderOptions {
  readonly forks?: 'refuse' | 'accept';
  readonly asks?: readonly string[];
  readonly fails?: boolean;
  readonly timeoutMs?: number;
  readonly task?: 'prefer';
}

/** A saga that charges, and then fails or asks. */
function ordering(options: OrderOptions = {}): Order {
  const { forks = 'refuse', asks = ['size'], fails = false, timeoutMs, task } = options;
  const acted: string[] = [];
  const definition = { name: 'order', version: '1', forks, ...(task && { task }) } as const;
  const order = saga(definition, function* () {
    yield* step('charge', () => void acted.push('charge'), {
      compensate: () => void acted.push('undo'),
    });
    if (fails) throw new Error('Out of stock.');
    for (const id of asks)
      yield* elicit(id, {
        message: `${id}?`,
        schema: z.object({ size: z.string() }),
        ...(timeoutMs && { timeoutMs }),
      });
    return 'done';
  });
  return { order, acted };
}

describe('a saga that accepts forks', () => {
  test('undoes once, although its start is repeated', async () => {
    const { order, acted } = ordering({ forks: 'accept', fails: true });
    const { host } = queued(order);
    await host.start('order', {}, named);
    expect(await host.start('order', {}, named)).toMatchObject({ status: 'failed' });
    expect(acted).toEqual(['charge', 'undo']);
  });

  test('undoes once, although the message of its start is delivered', async () => {
    const { order, acted } = ordering({ forks: 'accept', fails: true });
    const { host, next } = queued(order);
    await host.start('order', {}, named);
    await next();
    expect(acted).toEqual(['charge', 'undo']);
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
      const host = createSagaHost({
        sagas: [order],
        keys: generateKey(),
        audience: 'shop',
        store: memoryStore(),
        hooks: { onWarning: () => undefined, onReject: () => undefined },
      });
      const client = await overStdio(host, 'version 1', { elicitation: {} });
      const callAs = (id: string): void =>
        client.send({
          id,
          method: 'tools/call',
          params: { name: 'order', arguments: {}, _meta: keyed },
        });
      const isQuestion = ({ method }: RawMessage): boolean => method === 'elicitation/create';
      const cancelFirst = async (): Promise<void> => {
        client.send({ method: 'notifications/cancelled', params: { requestId: 'first' } });
        while (!acted.includes('undo')) await new Promise((resolve) => setImmediate(resolve));
      };
      callAs('first');
      const { id: lost } = await client.first(isQuestion);
      if (when === 'before') await cancelFirst();
      callAs('again');
      if (when === 'after') {
        const { id } = await client.first((one) => isQuestion(one) && one.id !== lost);
        await cancelFirst();
        client.send({ id, result: large });
      }
      const { error, result } = await client.first(({ id }) => id === 'again');
      client.end();
      expect(error).toBeUndefined();
      expect(result).toMatchObject({ isError: true });
      expect(acted).toEqual(['charge', 'undo']);
    },
  );
});

test('a repeated call that became a task, which asks, gets the task', async () => {
  const { order } = ordering({ task: 'prefer' });
  const { host } = hostForAll([order], { store: memoryStore() });
  const client = taskClient(host, { clientId: 'ada' });
  const { taskId } = await client.call('order', {}, { _meta: keyed });
  await client.idle();
  const again = await client.call('order', {}, { _meta: keyed });
  expect(again).toMatchObject({ resultType: 'task', taskId });
});

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
  const { order } = ordering({ timeoutMs: 5 * 24 * hour });
  const { host, clock } = queued(order);
  await host.start('order', {}, named);
  clock.now += 48 * hour;
  expect(await host.start('order', {}, named)).toMatchObject({ status: 'suspended' });
});

/** Calls a tool of a server by a client with these capabilities. */
async function call(
  server: SagaServer,
  capabilities: object,
  more: object = {},
  meta: object = keyed,
): Promise<RawMessage> {
  const all = { ...meta, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const params = { name: 'order', arguments: {}, ...more, _meta: all };
  const request = post('modern', 'tools/call', params, 1, { headers: { 'mcp-name': 'order' } });
  return (await read(await server.fetch(request))).last;
}

function serverOf({ order }: Order): SagaServer {
  return serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [order],
    keys: 'ephemeral',
    store: memoryStore(),
    answers: { model: 'accept' },
    auth: { authenticate: () => user },
    http: { allowedHosts: ['localhost'] },
    hooks: { onWarning: () => undefined },
  });
}

describe('a call that is repeated in another way continues in that way', () => {
  const forms = { elicitation: {} };

  test('from rounds to a resume token', async () => {
    const server = serverOf(ordering());
    await call(server, forms);
    const { result } = await call(server, {});
    const args = {
      resumeToken: result?.['nextResumeToken'],
      answers: JSON.stringify({ size: large }),
    };
    expect(await call(server, {}, { arguments: args })).not.toHaveProperty('error');
  });

  test('from a resume token to rounds', async () => {
    const server = serverOf(ordering());
    await call(server, {});
    const { result } = await call(server, forms);
    const round = { requestState: result?.['requestState'], inputResponses: { size: large } };
    expect(await call(server, forms, round)).not.toHaveProperty('error');
  });
});

test('a key of another form is no matter after the start', async () => {
  const server = serverOf(ordering());
  const forms = { elicitation: {} };
  const { result } = await call(server, forms);
  const round = { requestState: result?.['requestState'], inputResponses: { size: large } };
  const bad = { 'io.github.mcp-saga/idempotencyKey': 7 };
  expect(await call(server, forms, round, bad)).not.toHaveProperty('error');
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
  const server = serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [order],
    keys: 'ephemeral',
    store: memoryStore(),
    auth: { authenticate: () => user },
    http: { allowedHosts: ['localhost'] },
    starts: { key: () => key as string },
    hooks: { onError: () => undefined, onWarning: () => undefined },
  });
  expect(await call(server, {})).toHaveProperty('error');
  expect(acted).toEqual([]);
});
