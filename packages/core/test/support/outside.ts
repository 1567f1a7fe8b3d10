import type { Json } from '../../src/index.ts';
import type {
  CloseReason,
  OutsideAnswer,
  OutsideQuestion,
  RuntimeOutside,
  TicketFacts,
} from '../../src/model/outside.ts';

/** A ticket, from the view of the person with the link. */
export interface FakeTicket extends TicketFacts {
  readonly box: string;
  readonly question: OutsideQuestion;
}

interface FakeBox {
  answers: OutsideAnswer[];
  isClosed: boolean;
  /** Reason of the last close. */
  why?: CloseReason;
}

/** Answers in memory, whose URLs are tickets as JSON. Answers with the `at` of the test. */
export class FakeOutside implements RuntimeOutside {
  readonly boxes = new Map<string, FakeBox>();
  isDown = false;

  box(question: OutsideQuestion): string {
    return JSON.stringify(question);
  }

  ticket(question: OutsideQuestion, facts: TicketFacts): string {
    return JSON.stringify({ box: this.box(question), question, ...facts });
  }

  answers(box: string): Promise<readonly OutsideAnswer[]> {
    return this.isDown
      ? Promise.reject(new Error('down'))
      : Promise.resolve([...this.#of(box).answers]);
  }

  discard(box: string, refused: readonly OutsideAnswer[]): Promise<void> {
    if (this.isDown) return Promise.reject(new Error('down'));
    const found = this.#of(box);
    found.answers = found.answers.filter((answer) => !refused.includes(answer));
    return Promise.resolve();
  }

  close(box: string, why: CloseReason): Promise<void> {
    if (this.isDown) return Promise.reject(new Error('down'));
    Object.assign(this.#of(box), { isClosed: true, why });
    return Promise.resolve();
  }

  /**
   * Answers by a link. Returns `false` if the box is closed, the time is over, or the person has
   * answered.
   */
  answer(
    url: string,
    at: number,
    given: Partial<OutsideAnswer> & { readonly content?: Json } = {},
  ): boolean {
    const { box, recipient, deadline } = JSON.parse(url) as FakeTicket;
    const { answers, isClosed } = this.#of(box);
    const by = given.by ?? { subject: 'ann' };
    const slot = JSON.stringify(by === 'link' ? recipient : by);
    const isTaken = answers.some(
      (one) => slot === JSON.stringify(one.by === 'link' ? one.recipient : one.by),
    );
    if (isClosed || isTaken || at >= deadline) return false;
    answers.push({
      by,
      at,
      approved: true,
      content: {},
      shown: 'shown',
      recipient,
      ...given,
    });
    return true;
  }

  get open(): number {
    return [...this.boxes.values()].filter(({ isClosed }) => !isClosed).length;
  }

  #of(box: string): FakeBox {
    const found: FakeBox = this.boxes.get(box) ?? { answers: [], isClosed: false };
    this.boxes.set(box, found);
    return found;
  }
}
