import {
  createSagaHost,
  generateKey,
  memoryStore,
  memoryQueue,
  type QueueMessage,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  hostInOneProcess,
  jobQueue,
  mails,
  offer,
  scheduledQueue,
  type Jobs,
  type Scheduler,
} from './operate/queues.ts';

const day = 24 * 3_600_000;
beforeEach(() => void mails.splice(0));

describe('the page on queues', () => {
  it('[E8] shows a saga that reminds and ends without its client', async () => {
    let now = 1_760_000_000_000;
    // #region test
    const queue = memoryQueue();
    const host = hostInOneProcess(() => now, generateKey(), queue);
    await host.start('offer', {});
    now += 4 * day;
    await queue.deliverDue();
    expect(mails).toEqual(['Our offer', 'A reminder']);
    now += 3 * day;
    await queue.deliverDue();
    expect(mails).toEqual(['Our offer', 'A reminder', 'The offer is over']);
    // #endregion test
    expect(queue.size).toBe(0);
  });

  it('[E8] shows a queue with workers', async () => {
    let now = 1_760_000_000_000;
    const stored = new Map<string, { readonly data: QueueMessage; readonly runAt: Date }>();
    const handlers: Parameters<Jobs['work']>[0][] = [];
    const jobs: Jobs = {
      add: async (id, data, runAt) => void stored.set(id, { data, runAt }),
      remove: async (id) => void stored.delete(id),
      work: (handler) => void handlers.push(handler),
    };
    const host = hostInOneProcess(() => now, generateKey(), jobQueue(jobs));
    await host.start('offer', {});
    while (stored.size > 0) {
      const [job] = stored.values();
      now = job!.runAt.getTime();
      await handlers[0]!(job!.data);
    }
    expect(mails).toEqual(['Our offer', 'A reminder', 'The offer is over']);
  });

  it('[E8] shows a queue that calls a URL', async () => {
    let now = 1_760_000_000_000;
    const calls: Parameters<Scheduler['schedule']>[0][] = [];
    const scheduler: Scheduler = {
      schedule: async (call) => void calls.push(call),
      isSignedBy: async (signature) => signature === 'valid',
    };
    const shared = {
      sagas: [offer],
      keys: generateKey(),
      store: memoryStore(),
      queue: scheduledQueue(scheduler, 'https://shop.example/saga/wake'),
      testing: { clock: () => now, environment: 'test' },
    };
    const server = serveSagas({
      ...shared,
      name: 'shop',
      version: '1.0.0',
      http: { allowedHosts: ['shop.example'] },
    });
    await createSagaHost({ ...shared, name: 'shop' }).start('offer', {});
    const post = async (signature: string): Promise<number> => {
      const { url, body, notBefore } = calls.at(-1)!;
      now = notBefore;
      return (
        await server.fetch(new Request(url, { method: 'POST', body, headers: { signature } }))
      ).status;
    };
    expect(await post('forged')).toBe(401);
    expect([await post('valid'), await post('valid')]).toEqual([200, 200]);
    expect(mails).toEqual(['Our offer', 'A reminder', 'The offer is over']);
  });
});
