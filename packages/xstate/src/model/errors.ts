import { ReplayMismatch, SagaError } from '@mcp-saga/core';

/**
 * A machine cannot be stored between two requests: a value is not plain data, or an actor has no stable name or runs by itself.
 * The message names the place, never a value.
 */
export class MachineRefused extends SagaError {
  declare readonly code: 'machine_refused';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, { ...options, code: 'machine_refused', public: false });
    this.name = 'MachineRefused';
  }
}

/** A machine waits for nothing that could ever come: no step, no effect, no delay. */
export class MachineStuck extends SagaError {
  declare readonly code: 'machine_stuck';

  constructor(saga: string, state: string) {
    super(
      `Saga '${saga}' is stuck in ${state}: it asks nothing, runs nothing, and no delay is set, so nothing will ever ` +
        'happen. Is a transition missing, or does it wait for an event that nobody sends?',
      { code: 'machine_stuck', public: false },
    );
    this.name = 'MachineStuck';
  }
}

/** A machine was changed while a saga was under way, and the saga's state does not fit it any more. (R3) */
export class MachineMismatch extends ReplayMismatch {
  /** What does not fit, a sentence each. */
  readonly misfits: readonly string[];

  /** @param options - `cause`: the error that `migrate`, XState, or the code of a question threw */
  constructor(saga: string, misfits: readonly string[], options?: { readonly cause: unknown }) {
    super(0, { kind: 'machine', path: '', fingerprint: 0 }, []);
    this.name = 'MachineMismatch';
    this.misfits = misfits;
    if (options !== undefined) {
      Object.defineProperty(this, 'cause', { value: options.cause, configurable: true, writable: true });
    }
    this.message =
      `The machine of saga '${saga}' was changed, and a saga under way does not fit it any more: ${misfits.join('; ')}. ` +
      'Give the saga a new version and the old one as `previous`, or bring its state along with `migrate`.';
  }
}
