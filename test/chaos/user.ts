import { setMaxListeners } from 'node:events';
import { between, type Draw } from './seeded.ts';

/** What a user does with a call. */
export type Habit =
  | 'accepts'
  | 'declines'
  | 'cancels'
  /** First gives an answer that does not fit. */
  | 'errs'
  /** Is gone when the question comes, for good. */
  | 'vanishes before'
  /** Answers, and is gone before the response comes. */
  | 'vanishes after'
  /** Gives the whole call up, where its client can. */
  | 'gives up'
  /** Sends an older token with another answer before it continues, where its client can. */
  | 'goes back';

/** A user's answer to a form, as MCP has it. */
export interface FormAnswer {
  readonly [key: string]: unknown;
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: { readonly [field: string]: number };
}

/** A user who has gone: nobody answers, nothing is sent any more. */
export class Gone extends Error {
  constructor() {
    super('The user has gone.');
  }
}

const habits: readonly (readonly [Habit, number])[] = [
  ['accepts', 0.54],
  ['declines', 0.08],
  ['cancels', 0.06],
  ['errs', 0.1],
  ['vanishes before', 0.05],
  ['vanishes after', 0.06],
  ['gives up', 0.05],
  ['goes back', 0.06],
];

/** Somebody who calls a tool, and answers what it asks. */
export class User {
  readonly habit: Habit;
  /** The purchases that the questions were about, the newest last. */
  readonly asked: string[] = [];
  readonly #draw: Draw;
  readonly #leaving = new AbortController();
  #hasErred = false;

  constructor(draw: Draw) {
    this.#draw = draw;
    // Each request of a call listens to it, again and again.
    setMaxListeners(0, this.left);
    let luck = draw();
    this.habit = habits.find(([, chance]) => (luck -= chance) < 0)?.[0] ?? 'accepts';
  }

  /** Aborts when the user leaves. */
  get left(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Answers a form, after having thought. @throws Gone */
  async fill(message: string): Promise<FormAnswer> {
    this.#notes(message);
    await this.#thinks();
    switch (this.habit) {
      case 'declines':
        return { action: 'decline' };
      case 'cancels':
        return { action: 'cancel' };
      case 'vanishes before':
        this.leaves();
        throw new Gone();
      case 'errs':
        if (this.#hasErred) return { action: 'accept', content: { count: 3 } };
        this.#hasErred = true;
        return { action: 'accept', content: { count: 99 } };
      case 'vanishes after':
        setTimeout(() => this.leaves(), between(this.#draw, 0, 120));
        return { action: 'accept', content: { count: 2 } };
      case 'gives up':
      case 'goes back':
      case 'accepts':
        return { action: 'accept', content: { count: 1 } };
    }
  }

  /** Answers as the user's model. */
  async writes(text: string): Promise<{
    readonly role: 'assistant';
    readonly model: string;
    readonly content: { readonly type: 'text'; readonly text: string };
  }> {
    this.#notes(text);
    await this.#thinks();
    return { role: 'assistant', model: 'none', content: { type: 'text', text: 'Straight on.' } };
  }

  /** Goes, and does not come back. */
  leaves(): void {
    this.#leaving.abort(new Gone());
  }

  async #thinks(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, between(this.#draw, 100, 2_500)));
    this.left.throwIfAborted();
  }

  #notes(message: string): void {
    const purchase = purchaseIn(message);
    if (purchase !== undefined) this.asked.push(purchase);
  }
}

/** The purchase that a text speaks of. */
export function purchaseIn(text: string): string | undefined {
  return /\b(?:buy|trip|errand|dash|tour):[\w-]+/.exec(text)?.[0];
}
