import type { QueueConsumer, QueueMessage, SagaQueue } from '../model/queue-types.ts';
import { letProcessEnd, longestTimerMs } from '../settings/clock.ts';

/** Stored message, with the abort of its timer. */
interface Stored {
  readonly message: QueueMessage;
  readonly at: number;
  readonly timer: AbortController;
  /** `true` if the saga was woken, and no delivery has begun since. */
  readonly isWoken: boolean;
}

/** Waits before a failed message is delivered again, in milliseconds. */
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/**
 * Creates a queue in the memory of one process: for development, tests, and servers that are one
 * process. A restart of the process forgets all messages, so only their clients continue those
 * sagas. Timers do not keep the process alive.
 *
 * Messages are delivered by the clock of the host, and after waits by `testing.sleep`, if set. In
 * tests with a clock of their own, `deliverDue` delivers all messages whose time has come, and
 * resolves when they are delivered.
 * @example
 * ```ts
 * const greet = saga({ name: 'greet', version: '1' }, function* () {
 *   yield* sleep(86_400_000);
 *   return 'Hello';
 * });
 * createSagaHost({ sagas: [greet], keys, name: 'greeter', store: memoryStore(), queue: memoryQueue() });
 * ```
 */
export function memoryQueue(): SagaQueue & { readonly size: number; deliverDue(): Promise<void> } {
  const stored = new Map<string, Stored>();
  // Messages in delivery: `true` if the saga was woken meanwhile. The turn may have read its
  // answers before.
  const delivering = new Map<QueueMessage, boolean>();
  let consumer: QueueConsumer | undefined;
  const now = (): number => consumer?.clock() ?? Date.now();

  const store = (
    message: QueueMessage,
    time: number,
    failures: number,
    isWoken: boolean = false,
  ): void => {
    const { sagaId, turn } = message;
    const known = stored.get(sagaId);
    if (known !== undefined && known.message.turn > turn) return;
    known?.timer.abort();
    const timer = new AbortController();
    const at = known?.isWoken === true ? Math.min(time, now()) : time;
    stored.set(sagaId, { message, at, timer, isWoken: isWoken || known?.isWoken === true });
    const arm = (): void => {
      const began = now();
      const sleep = consumer?.sleep;
      after(Math.min(Math.max(0, at - began), longestTimerMs), timer.signal, sleep, () => {
        if (now() >= at) void give(message, failures);
        // With a stopped clock and a `sleep` that resolves at once, the wait would never end.
        else if (sleep === undefined || now() > began) arm();
      });
    };
    arm();
  };
  const give = async (message: QueueMessage, failures: number): Promise<void> => {
    const { sagaId } = message;
    const given = stored.get(sagaId);
    if (consumer === undefined || given?.message !== message) return;
    given.timer.abort();
    stored.delete(sagaId);
    delivering.set(message, false);
    try {
      await consumer.deliver(message);
      if (delivering.get(message) === true) wake(sagaId);
    } catch (error) {
      consumer.onError(error);
      const isWoken = given.isWoken || delivering.get(message) === true;
      const wait = Math.min(longestRetryMs, firstRetryMs * 2 ** failures);
      // A newer message of the saga stays.
      if ((stored.get(sagaId)?.message.turn ?? -1) < message.turn)
        store(message, now() + wait, failures + 1, isWoken);
      else if (isWoken) wake(sagaId);
    } finally {
      delivering.delete(message);
    }
  };
  const wake = (sagaId: string): void => {
    for (const message of delivering.keys())
      if (message.sagaId === sagaId) delivering.set(message, true);
    const found = stored.get(sagaId);
    if (found !== undefined) store(found.message, now(), 0, true);
  };
  const due = (): readonly Stored[] => [...stored.values()].filter(({ at }) => at <= now());
  return {
    get size() {
      return stored.size;
    },
    send: (message, at) => store(message, at, 0),
    remove: (sagaId) => {
      stored.get(sagaId)?.timer.abort();
      stored.delete(sagaId);
    },
    wake,
    start: (given) => {
      consumer = given;
      given.onWarning(
        'memoryQueue() loses its messages when the process restarts. If sagas must end, use a queue that stores its messages.',
      );
    },
    deliverDue: async () => {
      for (let found = due(); found.length > 0; found = due())
        await Promise.all(found.map(({ message }) => give(message, 0)));
    },
  };
}

/** Calls `then` after `ms` milliseconds, unless `signal` aborts. */
function after(
  ms: number,
  signal: AbortSignal,
  sleep: QueueConsumer['sleep'],
  then: () => void,
): void {
  if (sleep !== undefined) {
    void sleep(ms, signal).then(() => {
      if (!signal.aborted) then();
    });
    return;
  }
  const timer = setTimeout(then, ms);
  letProcessEnd(timer);
  signal.addEventListener('abort', () => clearTimeout(timer), {
    once: true,
  });
}
