import type { ActorLogic } from 'xstate';
import {
  step,
  type BoundUndo,
  type CheckedResult,
  type Compensable,
  type StepContext,
  type StepOptions,
  type UndoFunction,
} from '@mcp-saga/core';
import { specOf, type StepSpec } from '@mcp-saga/core/program';
import type { LiveActor } from '../model/live-actor.ts';
import { stepTransitions, type StepEndEvent, type StepSnapshot } from './step-logic.ts';

const effectBrand: unique symbol = Symbol.for('mcp-saga.xstate.effect');

/** How an effect is run and undone: see the options of `step`. */
export interface EffectOptions<R, I, U = unknown>
  extends Pick<StepOptions<undefined>, 'retry' | 'timeout' | 'once' | 'undo'>, Compensable<R, I, U> {
  /** Undoes it where it is not known whether it happened: it timed out, was stopped, or its response was lost. */
  readonly compensateUnknown?: UndoFunction<undefined, I> | BoundUndo;
  /**
   * What it does, for people who read what was undone, or was left: the same for every run, or told by its input. The
   * client is sent it. One that throws is none.
   */
  readonly label?: string | ((effect: { readonly input: I }) => string);
}

/** What the logic of an effect runs. */
export interface EffectSpec extends StepSpec {
  /** The label of a run with this input. */
  readonly labelOf: (input: unknown) => string | undefined;
}

/** A side effect as actor logic. */
export interface EffectLogic<O, I> extends ActorLogic<StepSnapshot<O, I>, StepEndEvent, I> {
  readonly [effectBrand]: EffectSpec;
}

/**
 * A side effect on the server, as actor logic: name it in `setup({ actors })` and invoke it. It runs as a saga's `step`
 * does: with attempts, a timeout, and an idempotency key that is the same whenever the same token is processed again,
 * and on every fork. The key does not depend on the input: two forks with different inputs share one key, and their provider
 * rejects the second or answers it as the first. It has ended before the client is asked anything. `onDone` gets what `run`
 * returned, through the
 * codec; `onError` a `StepError`.
 *
 * With `compensate`, it is undone when the machine ends in an error, is cancelled, or reaches a final state tagged
 * `compensate`. Its saga must declare `forks` then.
 *
 * Under a live actor it is run once, with an idempotency key of its own.
 */
export function effect<R, I = undefined, U = unknown>(
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'An effect'>,
  options: EffectOptions<R, I, U> = {},
): EffectLogic<R, I> {
  const { label, ...others } = options;
  const spec = specOf(step('effect', run as never, others as never)) as StepSpec;
  return {
    [effectBrand]: { ...spec, labelOf: toLabelOf(label) },
    ...stepTransitions<R, I>(),
    getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
    start: ({ status, input }, { self, system }) => {
      if (status !== 'active') return;
      const host = effectHostOf(system);
      if (host === undefined) void runAlone(spec, input, self);
      else host.begin(self as unknown as LiveActor, spec, input);
    },
  };
}

/** Runs the effects of the actors of one system. */
export interface EffectHost {
  begin(actor: LiveActor, spec: StepSpec, input: unknown): void;
}

const hosts = /* @__PURE__ */ new WeakMap<object, EffectHost>();

/** Lets a host run the effects of a system from now on. */
export function hostEffects(system: object, host: EffectHost): void {
  hosts.set(system, host);
}

/** Who runs the effects of a system; nobody does under a live actor. */
function effectHostOf(system: object): EffectHost | undefined {
  return hosts.get(system);
}

/** What the logic of an effect runs, or undefined for any other logic. */
export function effectOf(logic: object): EffectSpec | undefined {
  return (logic as { readonly [effectBrand]?: EffectSpec })[effectBrand];
}

function toLabelOf(label: EffectOptions<unknown, never>['label']): EffectSpec['labelOf'] {
  if (typeof label !== 'function') return () => label;
  return (input) => {
    try {
      const told: unknown = label({ input } as never);
      return typeof told === 'string' ? told : undefined;
    } catch {
      // What is to be undone is undone, named or not.
      return undefined;
    }
  };
}

interface Self {
  readonly sessionId: string;
  readonly id: string;
  getSnapshot(): { readonly status: string };
  send(event: StepEndEvent): void;
}

async function runAlone(spec: StepSpec, input: unknown, self: Self): Promise<void> {
  const end = async (): Promise<StepEndEvent['end']> => {
    try {
      // As in a saga: where the state that invoked it is left at once, it does not run.
      await Promise.resolve();
      if (self.getSnapshot().status !== 'active') return { output: undefined };
      const { signal } = new AbortController();
      const given: StepContext<unknown> = {
        input,
        context: undefined,
        signal,
        attempt: 1,
        idempotencyKey: `${self.id}:${self.sessionId}`,
      };
      return { output: await spec.run(given as never) };
    } catch (error) {
      return { error };
    }
  };
  const ended = await end();
  if (self.getSnapshot().status === 'active') self.send({ type: 'mcp-saga.end', end: ended });
}
