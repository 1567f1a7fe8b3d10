import type { ActorLogic } from 'xstate';
import {
  step as stepOfSagas,
  type CheckedResult,
  type Compensable,
  type StepContext,
  type StepOptions,
  type WhenUnknown,
} from '@mcp-saga/core';
import { AuthoringError, assertKnownOptions, specOf, type StepSpec } from '@mcp-saga/core/program';
import type { NamesOf } from '@mcp-saga/core/shared';
import type { LiveActor } from '../model/live-actor.ts';
import { stepTransitions, type StepEndEvent, type StepSnapshot } from './step-logic.ts';

const effectBrand: unique symbol = Symbol.for('mcp-saga.xstate.effect');

/** Options of {@link step}. See the options of `step` in a saga. */
export interface StepLogicOptions<R, I, U = unknown, When extends WhenUnknown = WhenUnknown>
  extends
    Pick<StepOptions<undefined>, 'retry' | 'timeout' | 'once' | 'reads' | 'undo'>,
    Compensable<R, I, U, true, When> {
  /**
   * Description for clients and users: a text, or a function of `input`. If the function throws,
   * there is no label.
   */
  readonly label?: string | ((effect: { readonly input: I }) => string);
}

const names: NamesOf<StepLogicOptions<unknown, unknown>> = {
  retry: true,
  timeout: true,
  once: true,
  reads: true,
  undo: true,
  compensate: true,
  unknown: true,
  label: true,
};

/** Specification of an effect. */
export interface EffectSpec extends StepSpec {
  /** Returns the label of a run with this input. */
  readonly labelOf: (input: unknown) => string | undefined;
  /**
   * `true` for a promise of the author, which gets its actor. It may never settle, so a machine that
   * leaves its state does not await it. @default false
   */
  readonly isPromise?: boolean;
}

/** Effect on the server as actor logic. */
export interface StepLogic<O, I> extends ActorLogic<StepSnapshot<O, I>, StepEndEvent, I> {
  readonly [effectBrand]: EffectSpec;
}

/**
 * Runs an effect on the server, as actor logic for `setup({ actors })`. Attempts, timeout, and
 * idempotency key are those of a saga's `step`. The key is the same for every repetition and fork
 * of a turn, whatever the input: a provider rejects a second input, or answers as for the first.
 * The step ends before the client is asked. `onDone` receives the result of `run`, encoded and
 * decoded; `onError` receives a `StepError`. Under a live actor, the step runs once, with an
 * idempotency key of its own.
 *
 * With `compensate`, the step is undone if the machine ends in an error, is cancelled, or reaches a
 * final state tagged `compensate`. The host then needs a store.
 * @example
 * ```ts
 * const charge = step(
 *   ({ input, idempotencyKey }: { input: { amount: number }; idempotencyKey: string }) =>
 *     bank.charge(input.amount, idempotencyKey),
 *   { compensate: ({ stepKey }) => bank.refund(stepKey) },
 * );
 * ```
 */
export function step<R, I = undefined, U = unknown, When extends WhenUnknown = 'report'>(
  run: ((step: StepContext<I>) => R | PromiseLike<R>) & CheckedResult<R, 'A step'>,
  options: StepLogicOptions<R, I, U, When> = {},
): StepLogic<R, I> {
  if (typeof run === 'string')
    throw new AuthoringError(
      'step() of a machine has no ID, because the invoke has one. Write: step(() => …, { … }).',
      { anchor: 'machines' },
    );
  assertKnownOptions('step', undefined, options, names);
  const { label, ...others } = options;
  const spec = specOf(stepOfSagas('step', run as never, others as never)) as StepSpec;
  return {
    [effectBrand]: { ...spec, labelOf: toLabelOf(label) },
    ...stepTransitions<R, I>(),
    start: ({ status, input }, { self, system }) => {
      if (status !== 'active') return;
      const host = (system as { readonly [hostKey]?: EffectHost })[hostKey];
      if (host === undefined) void runAlone(spec, input, self);
      else host.begin(self as unknown as LiveActor, spec, input);
    },
  };
}

/** Marks an effect as a promise of the author. */
export function asPromise<L extends StepLogic<unknown, unknown>>(logic: L): L {
  return { ...logic, [effectBrand]: { ...logic[effectBrand], isPromise: true } };
}

/** Runs the effects of the actors of one system. */
export interface EffectHost {
  begin(actor: LiveActor, spec: StepSpec, input: unknown): void;
}

const hostKey: unique symbol = Symbol('mcp-saga.xstate.host');

/**
 * Lets a host run the effects of a system from now on. A WeakMap would burden each garbage
 * collection.
 */
export function hostEffects(system: object, host: EffectHost): void {
  Object.assign(system, { [hostKey]: host });
}

/** Returns the specification of an effect; undefined for other logics. */
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
      // An error in a label must not prevent the undo.
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
  let end: StepEndEvent['end'];
  try {
    // As in a saga, a step whose state is left at once does not run.
    await Promise.resolve();
    if (self.getSnapshot().status !== 'active') return;
    const { signal } = new AbortController();
    const idempotencyKey = `${self.id}:${self.sessionId}`;
    const given: StepContext<unknown> = {
      input,
      services: undefined,
      user: undefined,
      signal,
      attempt: 1,
      idempotencyKey,
    };
    end = { output: await spec.run(given as never) };
  } catch (error) {
    end = { error };
  }
  if (self.getSnapshot().status === 'active') self.send({ type: 'mcp-saga.end', end });
}
