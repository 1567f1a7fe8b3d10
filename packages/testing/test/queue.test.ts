import { queueConformance, type ConformanceCase } from '@mcp-saga/testing/stores';
import { describe, expect, it } from 'vitest';
import { referenceQueue, type QueueMistakes } from './support/reference-queue.ts';

/** Titles of the failing cases, with their errors. */
async function failuresOf(cases: readonly ConformanceCase[]): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  for (const { title, run } of cases) {
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    if (error === undefined) continue;
    expect(error).toMatchObject({ name: 'SagaTestError', code: 'violated' });
    failures.set(title, (error as Error).message);
  }
  return failures;
}

/** Messages with one left out. */
type Store = NonNullable<QueueMistakes['store']>;
const isSame: (one: Parameters<Store>[1], other: Parameters<Store>[1]) => boolean = (one, other) =>
  one.message.sagaId === other.message.sagaId;

describe('the rules of a queue', () => {
  it('hold for the reference queue', async () => {
    expect(await failuresOf(queueConformance(referenceQueue()))).toEqual(new Map());
  });

  it('hold for a queue without `remove` and `wake`, and for a queue that keeps every message', async () => {
    const lazy = referenceQueue({ optional: 'none', store: (all, sent) => [...all, sent] });
    expect(await failuresOf(queueConformance(lazy))).toEqual(new Map());
  });

  it.each<[string, QueueMistakes, string]>([
    [
      'delivers a minute early',
      { due: (all, now) => all.filter(({ at }) => at <= now + 60_000) },
      'delivers a message at or after its time, as it was sent',
    ],
    [
      'drops messages without a delay',
      { store: (all, sent) => (sent.at <= Date.UTC(2030, 0, 1) ? [...all] : [...all, sent]) },
      'delivers a message whose time has passed',
    ],
    [
      'accepts a rejected delivery',
      { settle: () => 'done' },
      'delivers a message again after a rejected delivery, and not after an accepted one',
    ],
    [
      'keeps an accepted message',
      { settle: () => 'waits' },
      'delivers a message again after a rejected delivery, and not after an accepted one',
    ],
    [
      'delivers only the first message that is due',
      { due: (all, now) => all.filter(({ at }) => at <= now).slice(0, 1) },
      'delivers other sagas while the deliveries of one are rejected',
    ],
    [
      'keeps 59 messages',
      { store: (all, sent) => [...all, sent].slice(-59) },
      'delivers the messages of many sagas that two processes send at once',
    ],
    [
      'keeps the first message of a saga',
      { store: (all, sent) => (all.some((one) => isSame(one, sent)) ? [...all] : [...all, sent]) },
      'delivers a turn that is sent while an earlier turn is being delivered',
    ],
    [
      'keeps the last message of a saga',
      { store: (all, sent) => [...all.filter((one) => !isSame(one, sent)), sent] },
      'delivers the newest turn of a saga, whatever the order of the messages',
    ],
    [
      'keeps the first message of a turn',
      {
        store: (all, sent) =>
          all.some((one) => isSame(one, sent) && one.message.turn === sent.message.turn)
            ? [...all]
            : [...all, sent],
      },
      'delivers the last message of a turn, for an earlier time and for a later time',
    ],
    [
      'wakes nothing',
      { wake: (all) => [...all] },
      'delivers the newest message of a saga before its time after `wake`, if it has `wake`',
    ],
    [
      'wakes all sagas',
      { wake: (all) => all.map(({ message }) => ({ message, at: 0 })) },
      'delivers the newest message of a saga before its time after `wake`, if it has `wake`',
    ],
    [
      'forgets a wake during a delivery',
      { forgetsWakes: true },
      'delivers the next message at once if its saga is woken during a delivery, if it has `wake`',
    ],
    [
      'forgets a wake with the message that it found',
      { forgetsWakes: true },
      'delivers the next message at once if its saga is woken before that message is sent, if it has `wake`',
    ],
    [
      'removes nothing',
      { remove: (all) => [...all] },
      'removes the message of an ended saga, if it has `remove`',
    ],
    [
      'cuts tokens at 64,000 characters',
      { read: (message) => ({ ...message, token: message.token.slice(0, 64_000) }) },
      'delivers the longest token, unchanged',
    ],
    [
      'loses messages with a killed consumer',
      { losesOnKill: true },
      'delivers again the messages that killed consumers did not finish',
    ],
  ])('are violated by a queue that %s', async (_, mistakes, title) => {
    const failures = await failuresOf(queueConformance(referenceQueue(mistakes)));
    expect([...failures.keys()]).toContain(title);
  });

  it('are violated by a queue that remembers its deliveries', async () => {
    const known = new Set<string>();
    const store: Store = (all, sent) => {
      const key = JSON.stringify(sent.message);
      if (known.has(key)) return [...all];
      known.add(key);
      return [...all, sent];
    };
    const failures = await failuresOf(
      queueConformance(async () => {
        known.clear();
        return await referenceQueue({ store })();
      }),
    );
    expect([...failures.keys()]).toEqual([
      'delivers a message that is sent again for a later time',
    ]);
  });

  it('are violated by a queue without messages for the next consumer', async () => {
    const failures = await failuresOf(
      queueConformance(async () => {
        let isRunning = false;
        const made = await referenceQueue({
          store: (all, sent) => (isRunning ? [...all, sent] : [...all]),
        })();
        return {
          ...made,
          consume: async (deliver) => {
            isRunning = true;
            const { kill } = await made.consume(deliver);
            return {
              kill: async () => {
                isRunning = false;
                await kill();
              },
            };
          },
        };
      }),
    );
    expect([...failures.keys()]).toContain('keeps messages while no consumer runs');
  });
});
