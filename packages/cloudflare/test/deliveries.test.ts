import { alarmQueue, durableObjectStore } from '@mcp-saga/cloudflare';
import {
  createSagaHost,
  generateKey,
  saga,
  sleep,
  step,
  type QueueMessage,
} from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../server/test/fixtures/raw.ts';
import { startObjects, type FreshObjects, type Workerd } from './support/objects.ts';
import { patient } from '../../../test/support/patience.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('the alarm of a saga', () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startObjects();
  });
  afterAll(() => workerd.close());

  /** Objects that store no messages. */
  const isDown = new Set<FreshObjects>();

  /** A saga that waits for an hour, on a host with its store and its queue in Durable Objects. */
  const setUp = async () => {
    const objects = workerd.make();
    const did: string[] = [];
    const remind = saga({ name: 'remind', version: '1' }, function* () {
      yield* sleep(hour);
      yield* step('remind', () => void did.push('remind'));
      yield* sleep(hour);
      yield* step('close', () => void did.push('close'));
      return 'Closed';
    });
    const queue = alarmQueue(objects.namespace);
    const host = createSagaHost({
      sagas: [remind],
      keys: generateKey(),
      name: 'reminders',
      store: durableObjectStore(objects.namespace, patient),
      queue: {
        ...queue,
        send: (...sent) =>
          isDown.has(objects) ? Promise.reject(new Error('down')) : queue.send(...sent),
      },
      hooks: { onError: () => undefined },
      testing: { clock: objects.now },
    });
    objects.receive = (message) => host.deliver(message);
    const turn = await host.start('remind', {});
    if (turn.status !== 'suspended') throw new Error('The saga does not wait.');
    return { objects, did, host, object: `saga ${turn.sagaId}` };
  };

  it('continues the saga without its client, to its completion', async () => {
    const { objects, did, object } = await setUp();
    await objects.pass(hour + minute);
    expect(did).toEqual(['remind']);
    await objects.pass(hour + minute);
    expect(did).toEqual(['remind', 'close']);
    expect((await objects.stateOf(object)).names).not.toContain('message');
  });

  it('[T13] runs again without a second effect if the object ended during a delivery', async () => {
    const { objects, did, host, object } = await setUp();
    let stop: (() => void) | undefined;
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    objects.receive = async (message) => {
      const result = await host.deliver(message);
      // The object ends before it knows that the host accepted the message.
      await objects.abort(object);
      stop?.();
      return result;
    };
    await objects.pass(hour + minute, stopped);
    expect(did).toEqual(['remind']);
    objects.receive = (message) => host.deliver(message);
    await objects.ring(object);
    expect(did).toEqual(['remind']);
    await objects.pass(hour + minute);
    expect(did).toEqual(['remind', 'close']);
  });

  it('[T13] runs again without a second effect if the message of the next turn was not stored', async () => {
    const { objects, did, host } = await setUp();
    const messages: QueueMessage[] = [];
    objects.receive = (message) => {
      messages.push(message);
      return host.deliver(message);
    };
    isDown.add(objects);
    await objects.pass(hour + minute);
    isDown.delete(objects);
    await objects.pass(minute);
    expect(messages).toHaveLength(2);
    expect(messages[1]).toEqual(messages[0]);
    expect(did).toEqual(['remind']);
    await objects.pass(hour);
    expect(did).toEqual(['remind', 'close']);
  });

  it('runs again while the host is down, until the host responds', async () => {
    const { objects, did, host } = await setUp();
    let attempts = 0;
    objects.receive = async () => {
      attempts += 1;
      throw new Error('down');
    };
    for (let count = 0; count < 5; count += 1) {
      await objects.pass(hour + minute);
    }
    expect(attempts).toBe(5);
    expect(did).toEqual([]);
    objects.receive = (message) => host.deliver(message);
    await objects.pass(5 * minute);
    expect(did).toEqual(['remind']);
    // The code of the error, and not its message.
    await expect.poll(() => workerd.log()).toContain('host_down');
    expect(workerd.log()).not.toContain('The host is down');
  });

  it('runs after the object was restarted', async () => {
    const { objects, did, object } = await setUp();
    await objects.abort(object);
    await objects.pass(hour + minute);
    expect(did).toEqual(['remind']);
  });
});

describe('a queue of alarms', () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startObjects();
  });
  afterAll(() => workerd.close());
  const message = (turn: number): QueueMessage => ({ sagaId: 's', turn, token: `sealed ${turn}` });

  it('keeps one message for each saga, of its newest turn', async () => {
    const objects = workerd.make();
    const queue = alarmQueue(objects.namespace);
    const delivered: number[] = [];
    objects.receive = async ({ sagaId, turn }) => {
      delivered.push(turn);
      return { status: 'ended', sagaId };
    };
    for (const turn of [1, 5, 2, 4, 3]) {
      await queue.send(message(turn), objects.now() + minute);
    }
    await objects.pass(hour);
    expect(delivered).toEqual([5]);
  });

  it('delivers the next message at once if the saga was woken during a delivery', async () => {
    const objects = workerd.make();
    const queue = alarmQueue(objects.namespace);
    const delivered: number[] = [];
    objects.receive = async ({ sagaId, turn }) => {
      delivered.push(turn);
      if (turn === 1) {
        await queue.wake?.('s');
        await queue.send(message(2), objects.now() + hour);
      }
      return { status: 'waiting', sagaId };
    };
    await queue.send(message(1), objects.now() + minute);
    await objects.pass(2 * minute);
    expect(delivered).toEqual([1, 2]);
  });

  it('waits longer after each rejected delivery, for at most 5 minutes', async () => {
    const objects = workerd.make();
    const queue = alarmQueue(objects.namespace);
    const at: number[] = [];
    objects.receive = async () => {
      at.push(objects.now());
      throw new Error('down');
    };
    await queue.send(message(1), objects.now());
    for (let count = 0; count < 60; count += 1) {
      await objects.pass(30_000);
    }
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(Math.max(...waits)).toBeLessThan(6 * minute);
    expect(waits.at(-1)).toBeGreaterThan(4 * minute);
    expect(waits.length).toBeLessThan(15);
  });
});

describe('a host in a Worker', () => {
  it('[T13] is called by the object of the saga, and calls the object itself', async () => {
    const workerd = await startObjects('host-worker.ts', { SAGA_KEYS: generateKey() });
    try {
      const objects = workerd.make('host ');
      const server = {
        fetch: async (request: Request) =>
          await fetch(new URL('/mcp', workerd.address), {
            method: 'POST',
            headers: request.headers,
            body: await request.text(),
          }),
      };
      const { last } = await ask(server, 'modern', 'tools/callSaga', {
        name: 'remind',
        arguments: {},
      });
      expect(last.result).toHaveProperty('sagaToken');
      expect(workerd.effects()).toBe(0);
      await objects.pass(hour + minute);
      expect(workerd.effects()).toBe(1);
      const sagaToken = last.result?.['sagaToken'];
      const resumed = await ask(server, 'modern', 'tools/resumeSaga', {
        sagaToken,
        completedSteps: [],
      });
      expect(resumed.last.result).toMatchObject({ content: [{ text: 'Reminded' }] });
      expect(workerd.effects()).toBe(1);
    } finally {
      await workerd.close();
    }
  });
});
