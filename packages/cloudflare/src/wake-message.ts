import type { QueueMessage } from '@mcp-saga/server/stores';
import type { Entries } from './object-storage.ts';

/** Message of a saga, and its next delivery. */
interface Waiting {
  readonly message: QueueMessage;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Rejected deliveries, and deliveries whose process died. */
  readonly failures: number;
  /** ID of the call that sent the message. */
  readonly id: string;
  /**
   * `true` from a wake to the next delivery: an earlier turn may have read the answers too soon.
   */
  readonly isWoken: boolean;
}

const name = 'message';

const stored = (entries: Entries): Waiting | undefined => entries.get(name) as Waiting | undefined;

/** Waits before a rejected message is delivered again, in milliseconds. */
const firstRetryMs = 2_000;
const longestRetryMs = 5 * 60_000;

/**
 * Message in the object of a saga: the message of the newest turn, and the later of two messages of
 * one turn.
 */
export class WakeMessage {
  /** Stores a message. @param id - ID of the call; a repeated call has the same */
  send(entries: Entries, message: QueueMessage, at: number, id: string): void {
    const waiting = stored(entries);
    if (waiting !== undefined && waiting.message.turn > message.turn) return;
    const isWoken = waiting?.isWoken === true;
    this.#put(entries, { message, at: isWoken ? entries.now : at, failures: 0, id, isWoken });
  }

  remove(entries: Entries): void {
    entries.delete(name);
  }

  /** Lets the message be delivered now. */
  wake(entries: Entries): void {
    const waiting = stored(entries);
    if (waiting !== undefined) this.#put(entries, { ...waiting, at: entries.now, isWoken: true });
  }

  /** Requests an alarm for the message. */
  arm(entries: Entries): void {
    const waiting = stored(entries);
    if (waiting !== undefined) entries.wakeAt(waiting.at);
  }

  /**
   * Begins the delivery of a due message, and stores the next one: a process that dies in the
   * delivery repeats it. Undefined if no message is due.
   */
  begin(entries: Entries): Waiting | undefined {
    const waiting = stored(entries);
    if (waiting === undefined || waiting.at > entries.now) return undefined;
    const { failures } = waiting;
    const wait = Math.min(longestRetryMs, firstRetryMs * 2 ** failures);
    this.#put(entries, {
      ...waiting,
      at: entries.now + wait,
      failures: failures + 1,
      isWoken: false,
    });
    return waiting;
  }

  /**
   * Ends a delivery. Removes an accepted message, unless another message was sent. A rejected
   * delivery keeps a wake.
   */
  end(entries: Entries, { id, isWoken }: Waiting, isAccepted: boolean): void {
    const waiting = stored(entries);
    const isSame = waiting?.id === id;
    if (isAccepted && isSame) this.remove(entries);
    if (isAccepted || !isWoken || waiting === undefined) return;
    this.#put(entries, { ...waiting, at: isSame ? waiting.at : entries.now, isWoken });
  }

  #put(entries: Entries, waiting: Waiting): void {
    entries.put(name, waiting);
    entries.wakeAt(waiting.at);
  }
}
