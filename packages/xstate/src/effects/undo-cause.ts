import { ElicitationRefused, SagaAborted, SagaError, StepError, type StepErrorData } from '@mcp-saga/core';
import { encodeError, decode, type EndRequest } from '@mcp-saga/core/program';
import type { UndoRecord } from '../model/machine-record.ts';

/** Why a machine saga is undone: it ended in an error, or somebody ended it from outside. */
export type UndoCause = { readonly error: unknown } | { readonly end: EndRequest };

/** What a saga that is undone in later turns too keeps of the reason. */
export function toUndoRecord(cause: UndoCause): UndoRecord {
  if ('end' in cause) return { u: null };
  const { error } = cause;
  return { u: decode(encodeError(error)) as StepErrorData, ...stepOf(error) };
}

// Whatever may have been thrown, with a prototype that throws as well.
function stepOf(error: unknown): Pick<UndoRecord, 's' | 'a'> {
  try {
    if (error instanceof ElicitationRefused) return { s: error.stepId, a: error.action };
    return error instanceof StepError ? { s: error.stepId } : {};
  } catch {
    return {};
  }
}

/** Error for which a saga is undone in a later turn, as a generator would throw it; undefined if it was ended from outside. */
export function errorOf({ u, s, a }: UndoRecord): { readonly error: unknown } | undefined {
  if (u === null) return undefined;
  if (s !== undefined) return { error: a === undefined ? new StepError(s, u) : new ElicitationRefused(s, a) };
  const isAborted = u.code === 'saga_aborted' && u.public === true;
  return { error: isAborted ? new SagaAborted(u.message) : new MachineFailed(u) };
}

/** A machine ended in an error, in a turn before this one: of its class nothing is left but what it says. */
export class MachineFailed extends SagaError {
  constructor({ name, message, code, public: isPublic }: StepErrorData) {
    super(message, { code: code ?? 'machine_failed', public: isPublic === true });
    this.name = name;
  }
}
