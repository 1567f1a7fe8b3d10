import type { Runtime } from '@mcp-saga/core/program';
import type { LiveActor } from '../model/live-actor.ts';
import { hostPromises, whenEnded, type PromiseCode } from '../adapter/xstate-promises.ts';
import { pathOf, type SurveyedActor } from '../adapter/survey.ts';

/** What plain promises need of the turn they belong to. */
export interface PromisesOptions {
  readonly runtime: Runtime;
  /** Whether what runs here waits for the next turn. */
  readonly defers: () => boolean;
  /** Told when one has ended. */
  readonly wake: () => void;
  /** Called when a promise has failed, or was stopped while it ran. */
  readonly failed: () => void;
}

/** Plain promises of a machine: begun when their actors start, or deferred with them to the next turn. They wait as effects do. */
export class Promises {
  /** How many have ended in this turn. */
  ended = 0;

  readonly #options: PromisesOptions;
  readonly #held = new WeakSet<LiveActor>();

  constructor(options: PromisesOptions) {
    this.#options = options;
  }

  /** Begins those of a machine and of all below it, from now on. */
  host(root: LiveActor): void {
    const { perform, context } = this.#options.runtime;
    const run = (actor: LiveActor, code: PromiseCode): unknown =>
      perform?.({
        kind: 'promise',
        path: pathOf(actor),
        undoes: undefined,
        step: { context, signal: code.signal, attempt: 1, input: code.input },
        run: (step) => code.run(step.input),
      });
    hostPromises(root, (actor) => this.#begins(actor), perform === undefined ? undefined : run);
  }

  /** Whether one runs, and was not put off. */
  runs({ actor }: SurveyedActor): boolean {
    return !this.#held.has(actor);
  }

  #begins(actor: LiveActor): boolean {
    const { defers, wake, failed } = this.#options;
    if (defers()) {
      this.#held.add(actor);
      return false;
    }
    whenEnded(actor, () => {
      this.ended += 1;
      if (actor.getSnapshot().status !== 'done') failed();
      wake();
    });
    return true;
  }
}
