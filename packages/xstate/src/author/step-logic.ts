import type { ActorLogic, Snapshot } from 'xstate';
import { toClientStep } from '@mcp-saga/core/program';
import type { ElicitSpec, ElicitUrlSpec, RootsSpec, SampleSpec } from '@mcp-saga/core/program';

/** What a client step asks, as core knows it. */
export type AskSpec = ElicitSpec | ElicitUrlSpec | SampleSpec | RootsSpec;

/** How a step came to its end: a value for `onDone`, or an error for `onError`. */
export type StepEnd = { readonly output: unknown } | { readonly error: unknown };

/** The one event that ends a step: its answer, or what became of an effect. */
export interface StepEndEvent {
  readonly type: 'mcp-saga.end';
  readonly end: StepEnd;
}

/** The snapshot of a step: while it is active, it *is* the pending request. */
export type StepSnapshot<O, I> = Snapshot<O> & { readonly input: I | undefined };

const askBrand: unique symbol = Symbol.for('mcp-saga.xstate.ask');

/** What makes a request of a step's input. */
export interface Ask<I> {
  /** Told without an input: what pictures show. */
  readonly kind: AskSpec['kind'];
  /** The request, computed of code and input, whenever it is asked. */
  readonly toSpec: (id: string, input: I) => AskSpec;
  /** Makes the output of an answer that was accepted. What it throws makes the answer invalid. */
  readonly parse?: (value: never) => unknown;
}

/** A step that the client does, as actor logic for `setup({ actors })`. Under a live actor it waits forever. */
export interface ClientStepLogic<O, I> extends ActorLogic<StepSnapshot<O, I>, StepEndEvent, I> {
  readonly [askBrand]: Ask<I>;
}

export function clientStepLogic<O, I>(ask: Ask<I>): ClientStepLogic<O, I> {
  return {
    [askBrand]: ask,
    ...stepTransitions<O, I>(),
    getInitialSnapshot: ({ self }, input) => {
      // At once, so that what cannot be asked is an error of this step and not of the turn that would ask it.
      toClientStep(ask.toSpec(self.id, input), self.id);
      return { status: 'active', output: undefined, error: undefined, input };
    },
  };
}

/** What the logic of a client step asks, or undefined for any other logic. */
export function askOf(logic: object): Ask<unknown> | undefined {
  return (logic as { readonly [askBrand]?: Ask<unknown> })[askBrand];
}

/** What every step does with its events: it ends, or is stopped. */
export function stepTransitions<O, I>(): Pick<
  ClientStepLogic<O, I>,
  'transition' | 'getPersistedSnapshot' | 'restoreSnapshot'
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
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (snapshot) => snapshot as StepSnapshot<O, I>,
  };
}

/** Something that a step says: as it is, or made of the step's `input`. */
export type OfInput<T, I> = T | ((step: { readonly input: I }) => T);

/** What a step says for this input. */
export function ofInput<T, I>(given: OfInput<T, I>, input: I): T {
  return typeof given === 'function' ? (given as (step: { readonly input: I }) => T)({ input }) : given;
}
