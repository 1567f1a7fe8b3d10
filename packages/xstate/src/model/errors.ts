import { ReplayMismatch, SagaError } from '@mcp-saga/core';

/**
 * Thrown for a machine that cannot be stored between two requests: a value is not plain data, or an
 * actor has no stable name or is a callback or observable. The message names the place, never a
 * value.
 */
export class MachineRefused extends SagaError {
  declare readonly code: 'machine_refused';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, { ...options, code: 'machine_refused', public: false });
    this.name = 'MachineRefused';
  }
}

/** Thrown for an active machine without a pending step, effect, or delay. */
export class MachineStuck extends SagaError {
  declare readonly code: 'machine_stuck';

  /** @param events - events that the state waits for */
  constructor(saga: string, state: string, events: readonly string[]) {
    const advice =
      events.length === 0
        ? "Add the missing transition, or an actor that sends the event. If the saga ends there, say 'end' in the option `asks`."
        : `It waits for ${events.join(', ')}: say with the option \`asks\` who sends it.`;
    super(
      `Saga '${saga}' is stuck in ${state}, without a pending step, effect, or delay. ${advice}`,
      { code: 'machine_stuck', public: false },
    );
    this.name = 'MachineStuck';
  }
}

/** Thrown if the stored state of a saga does not fit the changed machine. */
export class MachineMismatch extends ReplayMismatch {
  /** Incompatibilities, one clause each. */
  readonly incompatibilities: readonly string[];

  /** @param options - `cause`: error of `migrate`, XState, or the code of a question */
  constructor(
    saga: string,
    incompatibilities: readonly string[],
    options?: { readonly cause: unknown },
  ) {
    super(0, { kind: 'machine', path: '', fingerprint: 0 }, []);
    this.name = 'MachineMismatch';
    this.incompatibilities = incompatibilities;
    if (options !== undefined) {
      Object.defineProperty(this, 'cause', {
        value: options.cause,
        configurable: true,
        writable: true,
      });
    }
    this.message =
      `The stored state of saga '${saga}' does not fit the changed machine: ${incompatibilities.join('; ')}. ` +
      'Give the saga a new version with the old one as `previous`, or convert the state with `migrate`.';
  }
}
