/** All that this package knows of the inside of promises of XState 5. */
import { fromPromise, type AnyActorLogic } from 'xstate';
import { kindOf } from './logic-kind.ts';
import type { LiveActor } from '../model/live-actor.ts';

/** The code of a promise, and what it is given. */
export interface PromiseCode {
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly run: (input: unknown) => unknown;
}

/**
 * Takes over the start of all promises of a system. `begins` returns `false` for a promise that is to start in another turn; `run` runs
 * its code. Promises that run already are not affected.
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
            Promise.resolve(run(actor, { ...given, run: (input) => config({ ...given, input }) as unknown })),
          );
    const start: AnyActorLogic['start'] = (snapshot, scope) => {
      if (begins(actor)) running.start?.(snapshot as never, scope as never);
    };
    (actor as { logic: AnyActorLogic }).logic = Object.assign(Object.create(running) as AnyActorLogic, {
      start,
    });
  };
  const walk = (actor: LiveActor): void => {
    host(actor);
    for (const child of Object.values(actor.getSnapshot().children ?? {}))
      if (child !== undefined) walk(child);
  };
  walk(root);
  const { system } = root as unknown as { readonly system: { inspect(observer: object): void } };
  system.inspect({
    next: ({ type, actorRef }: { readonly type: string; readonly actorRef: LiveActor }) => {
      if (type === '@xstate.actor') host(actorRef);
    },
  });
}

/** Tells when an actor has ended, before its parent hears of it. */
export function whenEnded(actor: LiveActor, ended: () => void): void {
  const observed = actor as unknown as { subscribe(observer: object): void };
  observed.subscribe({ complete: ended, error: ended });
}
