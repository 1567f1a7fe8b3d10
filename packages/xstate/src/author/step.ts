import type { ActorLogic } from 'xstate';
import {
  step as stepOfSagas,
  type BoundUndo,
  type CheckedResult,
  type Compensable,
  type StepContext,
  type StepOptions,
  type UndoFunction,
} from '@mcp-saga/core';
import { assertKnownOptions, optionNames, specOf, type StepSpec } from '@mcp-saga/core/program';
import type { LiveActor } from '../model/live-actor.ts';
import { stepTransitions, type StepEndEvent, type StepSnapshot } from './step-logic.ts';

const effectBrand: unique symbol = Symbol.for('mcp-saga.xstate.effect');

/** Options of {@link step}: how it runs and how it is undone. See the options of `step` in a saga. */
export interface StepLogicOptions<R, I, U = unknown>
  extends Pick<StepOptions<undefined>, 'retry' | 'timeoutMs' | 'once' | 'undo'>, Compensable<R, I, U> {
  /** Undoes a run of unknown outcome: it timed out, was stopped, or its response was lost. */
  readonly compensateUnknown?: UndoFunction<undefined, I> | BoundUndo;
  /** Describes the effect to people: a text, or a function of `input`. Clients see it. A label that throws is omitted. */
  readonly label?: string | ((effect: { readonly input: I }) => string);
}

const names = /* @__PURE__ */ optionNames<StepLogicOptions<unknown, unknown>>({
  retry: true,
  timeoutMs: true,
  once: true,
  undo: true,
  compensate: true,
  compensateUnknown: true,
  label: true,
});

/** The work of a step's logic. */
export interface EffectSpec extends StepSpec {
  /** The label of a run with this input. */
  readonly labelOf: (input: unknown) => string | undefined;
}

/** A side effect on the server as actor logic. */
export interface StepLogic<O, I> extends ActorLogic<StepSnapshot<O, I>, StepEndEvent, I> {
  readonly [effectBrand]: EffectSpec;
}

/**
 * Runs a side effect on the server, as actor logic. Name it in `setup({ actors })` and invoke it. It runs like a saga's `step`:
 * with attempts, a timeout, and an idempotency key that is the same whenever the same token is processed again, and on every
 * fork. The key does not depend on the input: two forks with different inputs share one key, and their provider rejects the
 * second or answers it as the first. The step ends before the client is asked anything. `onDone` receives the result of `run`,
 * encoded and decoded; `onError` receives a `StepError`.
 *
 * With `compensate`, the step is undone if the machine ends in an error, is cancelled, or reaches a final state tagged
 * `compensate`. The saga must then declare `forks`.
 *
 * Under a live actor, the step runs once, with an idempotency key of its own.
 *
 * @example
 * setup({
 *   actors: {
 *     charge: step(({ input, idempotencyKey }: StepContext<Order>) => bank.charge(input, idempotencyKey), {
 *       compensate: ({ stepKey }) => bank.refund(stepKey),
 *     }),
 *   },
 * });
 */
export function step<R, I = undefined, U = unknown>(
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'A step'>,
  options: StepLogicOptions<R, I, U> = {},
): StepLogic<R, I> {
  assertKnownOptions('step', undefined, options, names);
  const { label, ...others } = options;
  const spec = specOf(stepOfSagas('step', run as never, others as never)) as StepSpec;
  return {
    [effectBrand]: { ...spec, labelOf: toLabelOf(label) },
    ...stepTransitions<R, I>(),
    getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
    start: ({ status, input }, { self, system }) => {
      if (status !== 'active') return;
      const host = hosts.get(system);
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

/** The work of a step's logic, or undefined for any other logic. */
export function effectOf(logic: object): EffectSpec | undefined {
  return (logic as { readonly [effectBrand]?: EffectSpec })[effectBrand];
}

function toLabelOf(label: StepLogicOptions<unknown, never>['label']): EffectSpec['labelOf'] {
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
