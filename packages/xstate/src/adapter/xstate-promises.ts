/** Access to internals of XState 5 promises. */
import { fromPromise, type AnyActorLogic } from 'xstate';
import { kindOf } from './logic-kind.ts';
import { watchActors } from './xstate-actors.ts';
import type { LiveActor } from '../model/live-actor.ts';

/** Code of a promise, with its arguments. */
export interface PromiseCode {
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly run: (input: unknown) => unknown;
}

/**
 * Takes over the start of all promises of a system, except running ones. `begins` returns `false`
 * to defer a promise to another turn; `run` runs its code.
 */
export function hostPromises(
  root: LiveActor,
  begins: (actor: LiveActor) => boolean,
  run: ((actor: LiveActor, code: PromiseCode) => unknown) | undefined,
): void {
  const host = (actor: LiveActor): void => {
    const { logic } = actor;
    if (kindOf(logic) !== 'promise') return;
    const { config } = logic as { readonly config?: unknown };
    const running =
      run === undefined || typeof config !== 'function'
        ? logic
        : fromPromise((given) =>
            Promise.resolve(
              run(actor, { ...given, run: (input) => config({ ...given, input }) as unknown }),
            ),
          );
    const start: AnyActorLogic['start'] = (snapshot, scope) => {
      if (begins(actor)) running.start?.(snapshot as never, scope as never);
    };
    (actor as { logic: AnyActorLogic }).logic = Object.assign(
      Object.create(running) as AnyActorLogic,
      {
        start,
      },
    );
  };
  const walk = (actor: LiveActor): void => {
    host(actor);
    for (const child of Object.values(actor.getSnapshot().children ?? {}))
      if (child !== undefined) walk(child);
  };
  walk(root);
  watchActors(root, host);
}

/** Calls `ended` when an actor ends, before the parent receives the event. */
export function whenEnded(actor: LiveActor, ended: () => void): void {
  const observed = actor as unknown as { subscribe(observer: object): void };
  observed.subscribe({ complete: ended, error: ended });
}
