import type { QueueMessage } from '@mcp-saga/server/stores';
import { collectCases, day, hour, minute, same, type ConformanceCase } from './conformance-case.ts';
import { longToken, messageOf, observeQueue, type QueueUnderTest } from './queue-deliveries.ts';
import { wakeCases } from './queue-wakes.ts';

/**
 * Returns the guarantees of every queue, as tests for any test runner: the last message of the
 * newest turn of a saga is delivered, at or after its time, until a delivery is accepted. A queue
 * may deliver late, twice, and out of order, and may drop the other messages of the saga. The
 * guarantees of `remove` and `wake` apply only to a queue that has them.
 * @param make - makes an empty queue without a consumer; called for each test
 * @example
 * ```ts
 * import type { QueueConsumer, QueueMessage } from '@mcp-saga/server/stores';
 * import { it } from 'vitest';
 *
 * const make = async () => {
 *   let time = 0;
 *   let waiting: { message: QueueMessage; at: number }[] = [];
 *   let deliver: QueueConsumer['deliver'] | undefined;
 *   const queue = { send: (message: QueueMessage, at: number) => void waiting.push({ message, at }) };
 *   const pass = async (ms: number) => {
 *     time += ms;
 *     for (const due of waiting.filter(({ at }) => at <= time)) {
 *       await deliver?.(due.message).then(
 *         () => (waiting = waiting.filter((one) => one !== due)),
 *         () => undefined, // delivered again when time passes
 *       );
 *     }
 *   };
 *   const consume = async (given: typeof deliver) => {
 *     deliver = given;
 *     return { kill: async () => void (deliver = undefined) };
 *   };
 *   return { queue, elsewhere: queue, consume, now: () => time, pass };
 * };
 * for (const { title, run } of queueConformance(make)) it(title, run);
 * ```
 */
export function queueConformance(make: () => Promise<QueueUnderTest>): readonly ConformanceCase[] {
  const { cases, test } = collectCases(() => observeQueue(make));

  test('delivers a message at or after its time, as it was sent', async (queue) => {
    const { send, observe, pass } = queue;
    const [soon, later] = [messageOf('soon', 1), messageOf('later', 7)];
    await observe();
    await send(later, 3 * day);
    await send(soon, 10 * minute);
    await pass(9 * minute);
    same(queue.delivered, []);
    await queue.passUntil('deliver a message of 10 minutes', () => queue.times(soon) > 0);
    await pass(3 * day - hour);
    same(queue.times(later), 0);
    await queue.passUntil('deliver a message of 3 days', () => queue.times(later) > 0);
  });

  test('delivers a message whose time has passed', async ({ send, observe, passUntil, times }) => {
    await observe();
    const [past, present] = [messageOf('past', 1), messageOf('present', 1)];
    await send(past, -hour);
    await send(present, 0);
    await passUntil('deliver both', () => times(past) > 0 && times(present) > 0);
  });

  test('delivers a message again after a rejected delivery, and not after an accepted one', async (queue) => {
    const { send, observe, passUntil, pass, delivered } = queue;
    await observe(async () => {
      if (delivered.length < 4) throw new Error('The guard is down.');
    });
    await send(messageOf('rejected', 1), minute);
    await passUntil('deliver a message again', () => delivered.length >= 4);
    await pass(0);
    const { length } = delivered;
    await pass(day);
    same(delivered.length, length);
  });

  test('delivers other sagas while the deliveries of one are rejected', async (queue) => {
    const { send, observe, passUntil, times } = queue;
    await observe(async ({ sagaId }) => {
      if (sagaId === 'rejected') throw new Error('The version of the saga is gone.');
    });
    await send(messageOf('rejected', 1), 0);
    const others = Array.from({ length: 5 }, (_, index) => messageOf(`other-${index}`, 1));
    for (const [index, other] of others.entries()) {
      await send(other, index * minute);
    }
    await passUntil('deliver the other sagas', () => others.every((other) => times(other) > 0));
  });

  test('delivers the messages of many sagas that two processes send at once', async (queue) => {
    const { send, observe, passUntil, times, elsewhere } = queue;
    const messages = Array.from({ length: 60 }, (_, index) => messageOf(`saga-${index}_`, index));
    await observe();
    await Promise.all(
      messages.map((message, index) =>
        send(message, (index % 7) * minute, index % 2 === 0 ? queue.queue : elsewhere),
      ),
    );
    await passUntil('deliver all 60', () => messages.every((message) => times(message) > 0));
  });

  test('delivers the newest turn of a saga, whatever the order of the messages', async (queue) => {
    const { send, observe, passUntil, times, elsewhere } = queue;
    const [rising, falling, racing] = [turnsOf('rising'), turnsOf('falling'), turnsOf('racing')];
    for (const [index, message] of rising.entries()) {
      await send(message, (5 - index) * minute);
    }
    for (const [index, message] of falling.toReversed().entries()) {
      await send(message, (5 - index) * minute);
    }
    await Promise.all(
      racing.map((message, index) =>
        send(message, minute, index % 2 === 0 ? queue.queue : elsewhere),
      ),
    );
    await observe();
    const newest = [...rising, ...falling, ...racing].filter(({ turn }) => turn === 4);
    await passUntil('deliver the newest turns', () =>
      newest.every((message) => times(message) > 0),
    );
  });

  test('delivers a turn that is sent while an earlier turn is being delivered', async (queue) => {
    const { send, observe, passUntil, times } = queue;
    const last = 4;
    await observe(async ({ sagaId, turn }) => {
      if (turn < last) await send(messageOf(sagaId, turn + 1), turn * minute);
    });
    await send(messageOf('saga', 1), 0);
    await passUntil('deliver the last turn', () => times(messageOf('saga', last)) > 0);
  });

  test('delivers the last message of a turn, for an earlier time and for a later time', async (queue) => {
    const { send, observe, passUntil, times } = queue;
    const [late, early] = [messageOf('earlier', 2, 'late'), messageOf('earlier', 2, 'early')];
    const [soon, later] = [messageOf('later', 2, 'soon'), messageOf('later', 2, 'later')];
    const [first, second] = [messageOf('again', 2, 'first'), messageOf('again', 2, 'second')];
    await observe(async ({ token }) => {
      if (token === 'first') await send(second, minute);
    });
    await send(late, 5 * hour);
    await send(early, 0);
    await send(soon, 5 * minute);
    await send(later, 15 * minute);
    await send(first, 0);
    await passUntil('deliver the earlier message', () => times(early) > 0 && times(late) === 0);
    await passUntil('deliver a message sent during a delivery', () => times(second) > 0);
    await passUntil('deliver the later message', () => times(later) > 0);
  });

  test('delivers a message that is sent again for a later time', async (queue) => {
    const { send, observe, passUntil, pass, times, delivered } = queue;
    await observe();
    const message = messageOf('saga', 1);
    await send(message, 0);
    await passUntil('deliver the message', () => times(message) > 0);
    await pass(0);
    const { length } = delivered;
    await send(message, minute);
    await passUntil('deliver the message once more', () => times(message) > length);
  });

  test('removes the message of an ended saga, if it has `remove`', async (queue) => {
    const { send, observe, passUntil, pass, times, elsewhere } = queue;
    if (queue.queue.remove === undefined || elsewhere.remove === undefined) return;
    const [ended, running] = [messageOf('ended', 3), messageOf('running', 1)];
    await observe();
    await queue.queue.remove('unknown');
    await send(messageOf('ended', 2), 10 * minute);
    await send(ended, 10 * minute);
    await send(running, 10 * minute);
    await elsewhere.remove('ended');
    await queue.queue.remove('ended');
    await passUntil('deliver another saga', () => times(running) > 0);
    await pass(hour);
    same(times(ended), 0);
  });

  test('delivers the longest token, unchanged', async ({ send, observe, passUntil, times }) => {
    const message = messageOf('long', 9, longToken());
    await observe();
    await send(message, minute);
    await passUntil('deliver a token of 64 kB', () => times(message) > 0);
  });

  test('keeps messages while no consumer runs', async ({
    send,
    observe,
    passUntil,
    pass,
    times,
  }) => {
    const [due, later] = [messageOf('due', 1), messageOf('later', 1)];
    const consumer = await observe();
    await consumer.kill();
    await send(due, 0);
    await send(later, 2 * minute);
    await pass(minute);
    await observe();
    await passUntil('deliver both messages', () => times(due) > 0 && times(later) > 0);
  });

  test('delivers again the messages that killed consumers did not finish', async (queue) => {
    const { send, observe, passUntil, killInDelivery, times } = queue;
    const message = messageOf('begun', 1);
    await send(message, 0);
    await killInDelivery();
    await killInDelivery();
    await killInDelivery();
    await observe();
    await passUntil('deliver to the last consumer', () => times(message) >= 4);
  });
  for (const [title, check] of wakeCases) test(title, check);
  return cases;
}

function turnsOf(sagaId: string): readonly QueueMessage[] {
  return [1, 2, 3, 4].map((turn) => messageOf(sagaId, turn));
}
