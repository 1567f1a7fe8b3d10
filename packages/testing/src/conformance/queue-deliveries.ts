import type { QueueConsumer, QueueMessage, SagaQueue } from '@mcp-saga/server/stores';
import { SagaTestError } from '../values/errors.ts';
import { show } from '../values/show.ts';
import { hour, minute } from './conformance-case.ts';

/** A running consumer of a queue. */
export interface ConsumerUnderTest {
  /**
   * Ends the consumer as the end of its process would: deliveries in progress are neither accepted
   * nor rejected.
   */
  readonly kill: () => Promise<void>;
}

/** A queue under test, its consumers, and its clock. */
export interface QueueUnderTest {
  readonly queue: SagaQueue;
  /** Same queue, as another process sees it. */
  readonly elsewhere: SagaQueue;
  /**
   * Starts a consumer that passes messages to `deliver`, in place of `host.deliver`. At most one
   * consumer runs at a time.
   */
  readonly consume: (deliver: QueueConsumer['deliver']) => Promise<ConsumerUnderTest>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Advances the clock of the queue. Resolves when the consumer has received each message that is
   * due by then and all deliveries have ended, or when the consumer is killed. Called once at a
   * time.
   */
  readonly pass: (ms: number) => Promise<void>;
}

/** Characters of the longest token, by default. */
const longestToken = 64 * 1024;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A token of the greatest length that a host seals by default. */
export function longToken(): string {
  return Array.from(
    { length: longestToken },
    (_, index) => alphabet[(index * index + index) % 64],
  ).join('');
}

/** Makes a message. */
export function messageOf(
  sagaId: string,
  turn: number,
  token = `sealed ${sagaId} ${turn}`,
): QueueMessage {
  return { sagaId, turn, token };
}

/** A queue with a record of its deliveries. */
export interface ObservedQueue extends QueueUnderTest {
  /** Sends a message, which must not be delivered before its time. `from` defaults to the queue. */
  readonly send: (message: QueueMessage, inMs: number, from?: SagaQueue) => Promise<void>;
  /** Lets messages be delivered from now on. */
  readonly allowEarly: (...messages: readonly QueueMessage[]) => void;
  /** Starts a consumer. `deliver` accepts each message by default. */
  readonly observe: (
    deliver?: (message: QueueMessage) => Promise<unknown>,
  ) => Promise<ConsumerUnderTest>;
  /** Messages that were delivered, in the order of delivery. */
  readonly delivered: readonly QueueMessage[];
  /** Number of deliveries of a message. */
  readonly times: (message: QueueMessage) => number;
  /**
   * Lets time pass until a condition holds. Throws `violated` if it does not hold after 10 hours.
   */
  readonly passUntil: (what: string, holds: () => boolean) => Promise<void>;
  /**
   * Lets time pass until a consumer has begun a delivery, which does not end before the consumer is
   * killed. Kills the consumer.
   */
  readonly killInDelivery: () => Promise<void>;
}

function keyOf({ sagaId, turn, token, ...more }: QueueMessage): string {
  return JSON.stringify([sagaId, turn, token, more]);
}

/** Makes a queue that notes each delivery. */
export async function observeQueue(make: () => Promise<QueueUnderTest>): Promise<ObservedQueue> {
  const made = await make();
  const { queue, now, consume } = made;
  const earliest = new Map<string, number>();
  const delivered: QueueMessage[] = [];
  const early: string[] = [];
  const times = (message: QueueMessage): number => {
    const key = keyOf(message);
    return delivered.filter((one) => keyOf(one) === key).length;
  };
  const pass = async (ms: number): Promise<void> => {
    await made.pass(ms);
    if (early.length > 0) throw new SagaTestError('violated', early.join('\n'));
  };
  const passUntil = async (what: string, holds: () => boolean): Promise<void> => {
    for (let passed = 0; !holds(); passed += minute) {
      if (passed > 10 * hour)
        throw new SagaTestError('violated', `Expected the queue to ${what}, within 10 hours.`);
      await pass(minute);
    }
  };
  const observe = (
    deliver: (message: QueueMessage) => Promise<unknown>,
  ): Promise<ConsumerUnderTest> =>
    consume(async (message) => {
      const at = earliest.get(keyOf(message));
      const saga = `turn ${show(message.turn)} of saga ${show(message.sagaId)}`;
      if (at === undefined)
        early.push(`The queue delivered a message for ${saga} that differs from each sent.`);
      else if (now() < at)
        early.push(`The queue delivered ${saga} ${at - now()} ms before its time.`);
      delivered.push(message);
      await deliver(message);
      return { status: 'ended', sagaId: message.sagaId };
    });
  return {
    ...made,
    delivered,
    times,
    send: async (message, inMs, from = queue) => {
      const at = now() + inMs;
      const key = keyOf(message);
      earliest.set(key, Math.min(at, earliest.get(key) ?? at));
      await from.send(message, at);
    },
    allowEarly: (...messages) => {
      for (const message of messages) earliest.set(keyOf(message), now());
    },
    observe: (deliver = () => Promise.resolve()) => observe(deliver),
    pass,
    passUntil,
    killInDelivery: async () => {
      let isBegun = false;
      let begin: (() => void) | undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const consumer = await observe(() => {
        isBegun = true;
        begin?.();
        return new Promise(() => undefined);
      });
      const passing = passUntil('deliver to each consumer', () => isBegun);
      await Promise.race([begun, passing]);
      await consumer.kill();
      await passing;
    },
  };
}
