import type { NoteRow } from '../provider/notes.ts';
import { seeded } from '../seeded.ts';
import { Messages, type MessageFigures } from './messages.ts';
import { People, type AnswerReport } from './people.ts';
import { Visitors, type VisitorFigures } from './visitors.ts';

/** Report about the sagas that people and other systems answer. */
export interface OutsideReport {
  readonly visitors: VisitorFigures;
  readonly messages: MessageFigures;
  readonly answers: readonly AnswerReport[];
  /** IDs of sagas with messages that never complete. */
  readonly stuck: readonly string[];
}

/** Clients that disconnect, people who answer instead, and an unreliable queue. */
export class Outside {
  readonly #visitors: Visitors;
  readonly #people: People;
  readonly #messages: Messages;
  readonly #answered = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(
    seed: number,
    proxy: URL,
    redisPort: number,
    notesAfter: (id: number) => Promise<readonly NoteRow[]>,
  ) {
    this.#visitors = new Visitors(seeded(seed), proxy);
    this.#people = new People(seed, proxy, notesAfter);
    this.#messages = new Messages(seeded(seed + 1), redisPort);
  }

  /** Starts sagas with the given number of concurrent clients until the signal aborts. */
  begin(count: number, over: AbortSignal): void {
    this.#visitors.call(count, over);
    this.#running.push(this.#people.answer(this.#answered.signal), this.#messages.disturb(over));
    // Awaited below.
    for (const running of this.#running) running.catch(() => undefined);
  }

  /** Waits until only messages for absent clients are left, which are due in days. */
  async settled(): Promise<void> {
    await this.#visitors.settled();
    await this.#messages.hasten();
    this.#answered.abort();
    await Promise.all(this.#running);
  }

  /** Waits until the process with a clock a week ahead has ended the remaining sagas. */
  async drained(): Promise<OutsideReport> {
    const stuck = await this.#messages.drain();
    return {
      visitors: this.#visitors.figures,
      messages: this.#messages.figures,
      answers: this.#people.reports,
      stuck,
    };
  }

  async close(): Promise<void> {
    this.#answered.abort();
    await this.#messages.close();
  }
}
