import type { StepWatch } from './adapter.ts';
import { definitionOf } from './definition.ts';
import { MachineMismatch, MachineRefused } from './errors.ts';
import type { MachineProgramOptions } from './machine-program.ts';
import type { SagaRecord } from './machine-record.ts';
import { fromMachineState, toMachineState } from './machine-state.ts';
import { misfitsOf } from './misfits.ts';
import { restore, type Restored } from './restore.ts';

/** A machine that goes on where it was, or why it does not. */
export type Fitted = Restored | { readonly mismatch: MachineMismatch };

/**
 * Fits a kept state to a machine that may have been changed since. The same definition: it goes on. Another one: it goes on
 * where nothing misfits, unless the author wants none of that; else as the author migrates it; else it does not. (R3)
 */
export function fit(options: MachineProgramOptions, first: unknown, watch: StepWatch): Fitted {
  const fitting = fittingRecord(options, first);
  if ('mismatch' in fitting) return fitting;
  try {
    return restore(options.machine, fitting.record, watch);
  } catch (error) {
    // What XState cannot restore must not be undone for that: another release may.
    if (!(error instanceof MachineRefused)) throw error;
    return { mismatch: new MachineMismatch(options.name, [error.message]) };
  }
}

function fittingRecord(
  options: MachineProgramOptions,
  first: unknown,
): { readonly record: SagaRecord } | { readonly mismatch: MachineMismatch } {
  const { machine, name, drift, migrate } = options;
  const record = first as SagaRecord;
  const definition = definitionOf(machine);
  if (record.d === definition) return { record };
  const misfits = misfitsOf(machine, record);
  if (misfits.length === 0 && drift === 'compatible') return { record: moved(record, definition) };
  const told = misfits.length === 0 ? ['it has another definition'] : misfits;
  if (migrate === undefined) return { mismatch: new MachineMismatch(name, told) };
  const migrated = fromMachineState(
    migrate(toMachineState(record), { definition: record.d, misfits }),
    definition,
  );
  const left = misfitsOf(machine, migrated);
  return left.length === 0 ? { record: migrated } : { mismatch: new MachineMismatch(name, left) };
}

/** Positions of states are another machine's: their order is the one XState restores. */
function moved(record: SagaRecord, definition: string): SagaRecord {
  return { ...fromMachineState(toMachineState(record), definition) };
}
