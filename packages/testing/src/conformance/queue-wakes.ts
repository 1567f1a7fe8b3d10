import type { QueueMessage } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { day, hour, minute, same } from './conformance-case.ts';
import { messageOf, type ObservedQueue } from './queue-deliveries.ts';

/** Time in which a queue delivers a woken saga, in milliseconds. */
const soonMs = 5_000;

async function expectSoon({ pass, times }: ObservedQueue, message: QueueMessage): Promise<void> {
  await pass(soonMs);
  if (times(message) === 0) {
    const seconds = soonMs / 1_000;
    throw new SagaTestError(
      'violated',
      `Expected the queue to deliver a woken saga within ${seconds} seconds.`,
    );
  }
}

/** Promises of `wake`, for queues that have it. */
export const wakeCases: readonly (readonly [
  title: string,
  check: (queue: ObservedQueue) => Promise<void>,
])[] = [
  [
    'delivers the newest message of a saga before its time after `wake`, if it has `wake`',
    async (queue) => {
      const { send, observe, passUntil, pass, delivered, elsewhere } = queue;
      if (queue.queue.wake === undefined || elsewhere.wake === undefined) return;
      const [older, woken, other] = [
        messageOf('woken', 2),
        messageOf('woken', 3),
        messageOf('other', 1),
      ];
      await observe();
      await queue.queue.wake('unknown');
      await send(older, 3 * day);
      await send(woken, 3 * day);
      await send(other, 3 * day);
      await pass(minute);
      same(delivered, []);
      queue.allowEarly(older, woken);
      await elsewhere.wake('woken');
      await passUntil('deliver a message at once', () => queue.times(woken) > 0);
      same(queue.times(other), 0);
    },
  ],
  [
    'delivers the next message at once if its saga is woken during a delivery, if it has `wake`',
    async (queue) => {
      const { observe, passUntil, times, elsewhere } = queue;
      if (elsewhere.wake === undefined) return;
      await observe(async ({ sagaId, turn }) => {
        if (turn > 1 || times(messageOf(sagaId, 1)) > 1) return;
        const next = messageOf(sagaId, 2);
        // The turn has read its answers before this answer.
        queue.allowEarly(next);
        if (sagaId === 'before') await elsewhere.wake?.(sagaId);
        await queue.send(next, day);
        if (sagaId === 'after') await elsewhere.wake?.(sagaId);
      });
      for (const sagaId of ['before', 'after']) {
        const first = messageOf(sagaId, 1);
        await queue.send(first, 0);
        await passUntil('deliver the first turn', () => times(first) > 0);
        await expectSoon(queue, messageOf(sagaId, 2));
      }
    },
  ],
  [
    'delivers the next message at once if its saga is woken before that message is sent, if it has `wake`',
    async (queue) => {
      const { send, observe, elsewhere } = queue;
      if (elsewhere.wake === undefined) return;
      const [first, next] = [messageOf('woken', 1), messageOf('woken', 2)];
      await send(first, hour);
      queue.allowEarly(first, next);
      // A client runs the turn meanwhile.
      await elsewhere.wake('woken');
      await send(next, day);
      await observe();
      await expectSoon(queue, next);
    },
  ],
];
