import { setMaxListeners } from 'node:events';
import { between, type Draw } from './seeded.ts';

/** Behavior of a user in a call. */
export type Habit =
  | 'accepts'
  | 'declines'
  | 'cancels'
  /** First sends an invalid answer. */
  | 'errs'
  /** Disconnects for good when the question arrives. */
  | 'vanishes before'
  /** The same, and closes its connection without a word, if it has one. */
  | 'vanishes silently'
  /** Answers, and disconnects before the response arrives. */
  | 'vanishes after'
  /** Cancels the call, if the client can. */
  | 'gives up'
  /** Sends an older token with another answer before continuing, if the client can. */
  | 'goes back';

/** Answer of a user to an MCP form. */
export interface FormAnswer {
  readonly [key: string]: unknown;
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: { readonly [field: string]: number };
}

/** The user has disconnected, and sends neither an answer nor another request. */
export class Gone extends Error {
  constructor() {
    super('The user has gone.');
  }
}

const habits: readonly (readonly [Habit, number])[] = [
  ['accepts', 0.48],
  ['declines', 0.08],
  ['cancels', 0.06],
  ['errs', 0.1],
  ['vanishes before', 0.04],
  ['vanishes silently', 0.07],
  ['vanishes after', 0.06],
  ['gives up', 0.05],
  ['goes back', 0.06],
];

/** A user who calls a tool and answers its questions. */
export class User {
  readonly habit: Habit;
  /** Purchases named in the questions, newest last. */
  readonly asked: string[] = [];
  /** Purchases of the questions that the user declined or cancelled. */
  readonly refused: string[] = [];
  readonly #draw: Draw;
  readonly #leaving = new AbortController();
  #hasErred = false;

  constructor(draw: Draw) {
    this.#draw = draw;
    // Each request of a call adds a listener.
    setMaxListeners(0, this.left);
    let luck = draw();
    this.habit = habits.find(([, chance]) => (luck -= chance) < 0)?.[0] ?? 'accepts';
  }

  /** Signal that aborts when the user disconnects. */
  get left(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Answers a form after a thinking time. @throws Gone */
  async fill(message: string): Promise<FormAnswer> {
    this.#notes(message);
    await this.#thinks();
    switch (this.habit) {
      case 'declines':
      case 'cancels':
        this.refused.push(purchaseIn(message) ?? message);
        return { action: this.habit === 'declines' ? 'decline' : 'cancel' };
      case 'vanishes before':
      case 'vanishes silently':
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

  /** Answers in place of the user's model. */
  async writes(text: string): Promise<{
    readonly role: 'assistant';
    readonly model: string;
    readonly content: { readonly type: 'text'; readonly text: string };
  }> {
    this.#notes(text);
    await this.#thinks();
    return { role: 'assistant', model: 'none', content: { type: 'text', text: 'Straight on.' } };
  }

  /** Disconnects for good. */
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

/** Finds the purchase named in a text. */
export function purchaseIn(text: string): string | undefined {
  return /\b(?:buy|trip|errand|dash|gift|parcel|tour|grant|bill):[\w-]+/.exec(text)?.[0];
}
