import { backOff } from '../clients/steady-fetch.ts';
import { between, oneOf, seeded, type Draw } from '../seeded.ts';

/** Behavior of clients that start sagas for other people to answer. */
export interface VisitorFigures {
  started: number;
  /** Clients that disconnected for good while their sagas waited. */
  left: number;
  /** Clients that stayed until the end. */
  stayed: number;
  /** Calls that did not start, or whose client got no response. */
  unheard: number;
}

interface Turn {
  readonly status: 'suspended' | 'completed' | 'failed' | 'refused';
  readonly token?: string;
}

const mostTries = 20;

/** Clients that start sagas. Most of them disconnect for good. */
export class Visitors {
  readonly figures: VisitorFigures = { started: 0, left: 0, stayed: 0, unheard: 0 };
  readonly #draw: Draw;
  readonly #proxy: URL;
  #calling: Promise<unknown> = Promise.resolve();

  constructor(draw: Draw, proxy: URL) {
    this.#draw = draw;
    this.#proxy = proxy;
  }

  /** Makes calls with the given number of clients until the signal aborts. */
  call(count: number, over: AbortSignal): void {
    this.#calling = Promise.all(Array.from({ length: count }, () => this.#keepCalling(over)));
  }

  /** Waits until the last client has left. */
  async settled(): Promise<void> {
    await this.#calling;
  }

  async #keepCalling(over: AbortSignal): Promise<void> {
    const draw = seeded(between(this.#draw, 0, 2 ** 31));
    while (!over.aborted) {
      await this.#visit(draw, over);
      await new Promise((resolve) => setTimeout(resolve, between(draw, 300, 2_500)));
    }
  }

  async #visit(draw: Draw, over: AbortSignal): Promise<void> {
    this.figures.started += 1;
    const call = `visit ${this.figures.started}`;
    let turn = await this.#ask(
      '/outside/start',
      { saga: oneOf(draw, ['grant', 'grant', 'bill']), call },
      draw,
    );
    const habit = draw();
    // Most clients disconnect after the saga has asked the people, some at once, and some stay.
    const most = habit < 0.1 ? 0 : habit < 0.75 ? between(draw, 1, 3) : 200;
    for (let turns = 0; turns < most && turn?.token !== undefined; turns += 1) {
      turn = await this.#ask('/outside/resume', { token: turn.token }, draw);
      if (most === 200 && over.aborted) break;
      await new Promise((resolve) =>
        setTimeout(resolve, between(draw, 50, turns === 0 ? 100 : 1_000)),
      );
    }
    if (turn === undefined) this.figures.unheard += 1;
    else if (turn.token === undefined) this.figures.stayed += 1;
    else this.figures.left += 1;
  }

  /** Sends a request until a response arrives. */
  async #ask(path: string, body: object, draw: Draw): Promise<Turn | undefined> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      try {
        const response = await fetch(new URL(path, this.#proxy), {
          method: 'POST',
          body: JSON.stringify(body),
        });
        if (response.status < 500) return (await response.json()) as Turn;
      } catch {
        // The connection was cut, or no process serves: tries again.
      }
      await backOff(draw, tries);
    }
    return undefined;
  }
}
