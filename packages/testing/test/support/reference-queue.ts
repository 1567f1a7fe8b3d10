import type { QueueMessage } from '@mcp-saga/server';
import type { QueueConsumer } from '@mcp-saga/server/stores';
import type { QueueUnderTest } from '@mcp-saga/testing/stores';

interface Waiting {
  readonly message: QueueMessage;
  at: number;
}

/** Parts of the reference queue that a test replaces by a mistake. */
export interface QueueMistakes {
  /** Messages that wait after one is sent. */
  readonly store?: (waiting: readonly Waiting[], sent: Waiting) => Waiting[];
  /** Messages that are due. */
  readonly due?: (waiting: readonly Waiting[], now: number) => readonly Waiting[];
  /** Settles a delivery: `true` for one that was accepted. */
  readonly settle?: (message: Waiting, isAccepted: boolean, now: number) => 'done' | 'waits';
  readonly remove?: (waiting: readonly Waiting[], sagaId: string) => Waiting[];
  readonly wake?: (waiting: readonly Waiting[], sagaId: string) => Waiting[];
  /** Forgets a wake when the message that it found is replaced or delivered. */
  readonly forgetsWakes?: boolean;
  /** The queue has neither `remove` nor `wake`. */
  readonly optional?: 'none';
  /** The message as it is delivered. */
  readonly read?: (message: QueueMessage) => QueueMessage;
  /** Messages in progress at a consumer are lost with it. */
  readonly losesOnKill?: boolean;
}

/** Keeps the last message of the newest turn of each saga. */
function storeNewest(waiting: readonly Waiting[], sent: Waiting): Waiting[] {
  const { sagaId, turn } = sent.message;
  if (waiting.some(({ message }) => message.sagaId === sagaId && message.turn > turn))
    return [...waiting];
  return [...waiting.filter(({ message }) => message.sagaId !== sagaId), sent];
}

/** Makes a queue in memory with a clock of its own: the shortest that keeps all promises. */
export function referenceQueue(mistakes: QueueMistakes = {}): () => Promise<QueueUnderTest> {
  const { store = storeNewest, due = (all, now) => all.filter(({ at }) => at <= now) } = mistakes;
  const { settle = (_, isAccepted) => (isAccepted ? 'done' : 'waits') } = mistakes;
  const { remove = (all, sagaId) => all.filter(({ message }) => message.sagaId !== sagaId) } =
    mistakes;
  const {
    wake = (all, sagaId) =>
      all.map((one) => (one.message.sagaId === sagaId ? { ...one, at: 0 } : one)),
  } = mistakes;
  const { read = (message) => message } = mistakes;
  return async () => {
    let time = Date.UTC(2030, 0, 1);
    let waiting: Waiting[] = [];
    let kill = (): void => undefined;
    let killed = new Promise<void>((resolve) => (kill = resolve));
    let running: QueueConsumer['deliver'] | undefined;
    const begun = new Set<Waiting>();
    // Sagas without a delivery that began after they were woken.
    const woken = new Set<string>();
    const forget = (one: Waiting): void =>
      void (waiting = waiting.filter((other) => other !== one));
    const deliver = async (one: Waiting, consumer: QueueConsumer['deliver']): Promise<void> => {
      begun.add(one);
      woken.delete(one.message.sagaId);
      const isAccepted = await consumer(read(one.message)).then(
        () => true,
        () => false,
      );
      if (!begun.delete(one)) return;
      if (settle(one, isAccepted, time) === 'done') forget(one);
      else one.at = time + 60_000;
    };
    const queue = {
      send: (message: QueueMessage, at: number) => {
        const dueAt = woken.has(message.sagaId) ? 0 : at;
        waiting = store(waiting, { message: structuredClone(message), at: dueAt });
      },
      ...(mistakes.optional === 'none'
        ? {}
        : {
            remove: (sagaId: string) => void (waiting = remove(waiting, sagaId)),
            wake: (sagaId: string) => {
              waiting = wake(waiting, sagaId);
              if (mistakes.forgetsWakes !== true) woken.add(sagaId);
            },
          }),
    };
    return {
      queue,
      elsewhere: queue,
      now: () => time,
      pass: async (ms) => {
        time += ms;
        const consumer = running;
        if (consumer === undefined) return;
        const deliveries = due(waiting, time).map((one) => deliver(one, consumer));
        await Promise.race([Promise.all(deliveries), killed]);
      },
      consume: async (given) => {
        running = given;
        killed = new Promise((resolve) => (kill = resolve));
        return {
          kill: async () => {
            running = undefined;
            if (mistakes.losesOnKill === true) for (const one of begun) forget(one);
            begun.clear();
            kill();
          },
        };
      },
    };
  };
}
