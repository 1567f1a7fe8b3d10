import type { Runtime } from '@mcp-saga/core/program';
import type { LiveActor } from '../model/live-actor.ts';
import { hostPromises, whenEnded, type PromiseCode } from '../adapter/xstate-promises.ts';
import { pathOf, type SurveyedActor } from '../adapter/survey.ts';

/** Options of {@link Promises}. */
export interface PromisesOptions {
  readonly runtime: Runtime;
  /** Returns `true` if promises wait for the next turn. */
  readonly defers: () => boolean;
  /** Called when a promise has ended. */
  readonly wake: () => void;
  /** Called when a promise has failed, or was stopped. */
  readonly failed: () => void;
}

/**
 * Starts plain promises of a machine with their actors, or defers them to the next turn, as
 * effects.
 */
export class Promises {
  /** Number of promises that ended in this turn. */
  ended = 0;

  readonly #options: PromisesOptions;
  readonly #held = new Set<LiveActor>();

  constructor(options: PromisesOptions) {
    this.#options = options;
  }

  /** Takes over the promises of a machine and its descendants. */
  host(root: LiveActor): void {
    const { effects, request } = this.#options.runtime;
    const run = (actor: LiveActor, code: PromiseCode): unknown =>
      effects.perform?.({
        kind: 'promise',
        path: pathOf(actor),
        undoes: undefined,
        step: {
          services: effects.services,
          user: request.user,
          signal: code.signal,
          attempt: 1,
          input: code.input,
        },
        run: (step) => code.run(step.input),
      });
    hostPromises(
      root,
      (actor) => this.#begins(actor),
      effects.perform === undefined ? undefined : run,
    );
  }

  /** Returns `true` unless a promise was deferred. */
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
