import {
  ElicitationRefused,
  SagaAborted,
  SagaError,
  StepError,
  type StepErrorData,
} from '@mcp-saga/core';
import { encodeError, decode, type EndRequest } from '@mcp-saga/core/program';
import type { OpenWait } from './open-wait.ts';
import type { UndoRecord } from '../model/machine-record.ts';

/** Reason to undo a machine saga: an error, or an end from outside. */
export type UndoCause = ({ readonly error: unknown } | { readonly end: EndRequest }) & {
  /** Waits to withdraw before the undo. */
  readonly waits: readonly OpenWait[];
};

/** Converts the reason into the record that later turns of the undo read. */
export function toUndoRecord(cause: UndoCause): UndoRecord {
  if ('end' in cause) return { error: null };
  const { error } = cause;
  return { error: decode(encodeError(error)) as StepErrorData, ...stepOf(error) };
}

// The prototype of a thrown value can throw, too.
function stepOf(error: unknown): Pick<UndoRecord, 'step' | 'refusal'> {
  try {
    if (error instanceof ElicitationRefused) return { step: error.stepId, refusal: error.action };
    return error instanceof StepError ? { step: error.stepId } : {};
  } catch {
    return {};
  }
}

/** Restores the error for an undo in a later turn; undefined after an end from outside. */
export function errorOf({
  error,
  step,
  refusal,
}: UndoRecord): { readonly error: unknown } | undefined {
  if (error === null) return undefined;
  if (step !== undefined) {
    const isRefused = refusal !== undefined;
    return {
      error: isRefused ? new ElicitationRefused(step, refusal) : new StepError(step, error),
    };
  }
  const isAborted = error.code === 'saga_aborted' && error.public === true;
  return { error: isAborted ? new SagaAborted(error.message) : new MachineFailed(error) };
}

/** Error of a machine in an earlier turn, without its class. */
export class MachineFailed extends SagaError {
  constructor({ name, message, code, public: isPublic }: StepErrorData) {
    super(message, { code: code ?? 'machine_failed', public: isPublic === true });
    this.name = name;
  }
}
