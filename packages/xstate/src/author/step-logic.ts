import type { ActorLogic, Snapshot } from 'xstate';
import { toClientStep } from '@mcp-saga/core/program';
import type { ElicitSpec, ElicitUrlSpec, RootsSpec, SampleSpec } from '@mcp-saga/core/program';

/** Specification of a client step. */
export type AskSpec = ElicitSpec | ElicitUrlSpec | SampleSpec | RootsSpec;

/** Outcome of a step: a value for `onDone`, or an error for `onError`. */
export type StepEnd = { readonly output: unknown } | { readonly error: unknown };

/** Event that ends a step. */
export interface StepEndEvent {
  readonly type: 'mcp-saga.end';
  readonly end: StepEnd;
}

/** Snapshot of a step. While active, `input` is the pending request. */
export type StepSnapshot<O, I> = Snapshot<O> & { readonly input: I | undefined };

const askBrand: unique symbol = Symbol.for('mcp-saga.xstate.ask');

/** Makes the request of a client step from its input. */
export interface Ask<I> {
  /** Kind for diagrams, which have no input. */
  readonly kind: AskSpec['kind'];
  /** Computes the request from code and input, each time. */
  readonly toSpec: (id: string, input: I) => AskSpec;
  /** Converts an accepted answer into the output. An error makes the answer invalid. */
  readonly parse?: (value: never) => unknown;
}

/**
 * Client step as actor logic for `setup({ actors })`. Under a live actor, the step waits forever.
 */
export interface ClientStepLogic<O, I> extends ActorLogic<StepSnapshot<O, I>, StepEndEvent, I> {
  readonly [askBrand]: Ask<I>;
}

export function clientStepLogic<O, I>(ask: Ask<I>): ClientStepLogic<O, I> {
  const transitions = stepTransitions<O, I>();
  return {
    [askBrand]: ask,
    ...transitions,
    getInitialSnapshot: (scope, input) => {
      // An invalid request is an error of this step, not of the turn.
      toClientStep(ask.toSpec(scope.self.id, input), scope.self.id);
      return transitions.getInitialSnapshot(scope, input);
    },
  };
}

/** Returns the request of a client step; undefined for other logics. */
export function askOf(logic: object): Ask<unknown> | undefined {
  return (logic as { readonly [askBrand]?: Ask<unknown> })[askBrand];
}

/** Start and transitions of every step: end and stop. */
export function stepTransitions<O, I>(): Pick<
  ClientStepLogic<O, I>,
  'transition' | 'getInitialSnapshot' | 'getPersistedSnapshot' | 'restoreSnapshot'
> {
  return {
    transition: (snapshot, event: StepEndEvent | { readonly type: 'xstate.stop' }) => {
      if (snapshot.status !== 'active') return snapshot;
      if (event.type === 'xstate.stop') {
        return { status: 'stopped', output: undefined, error: undefined, input: undefined };
      }
      if (event.type !== 'mcp-saga.end') return snapshot;
      const { end } = event;
      return 'error' in end
        ? { status: 'error', output: undefined, error: end.error, input: undefined }
        : { status: 'done', output: end.output as O, error: undefined, input: undefined };
    },
    getInitialSnapshot: (_, input) => ({
      status: 'active',
      output: undefined,
      error: undefined,
      input,
    }),
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (snapshot) => snapshot as StepSnapshot<O, I>,
  };
}

/** Value, or function of the step's `input`. */
export type OfInput<T, I> = T | ((step: { readonly input: I }) => T);

/** Returns the value for an input. */
export function ofInput<T, I>(given: OfInput<T, I>, input: I): T {
  return typeof given === 'function'
    ? (given as (step: { readonly input: I }) => T)({ input })
    : given;
}
