import { toClientStep } from '@mcp-saga/core/program';
import type { StepWatch } from './adapter.ts';
import { definitionOf } from './definition.ts';
import { MachineMismatch, MachineRefused } from './errors.ts';
import type { MachineProgramOptions } from './machine-program.ts';
import type { SagaRecord } from './machine-record.ts';
import { fromMachineState, toMachineState } from './machine-state.ts';
import { toMigratedRecord } from './migrated.ts';
import { misfitsOf } from './misfits.ts';
import { restore, type Restored } from './restore.ts';
import { askOf, type Ask } from './step-logic.ts';
import { survey } from './survey.ts';

/** A machine that goes on where it was, or why it does not. */
export type Fitted = Restored | { readonly mismatch: MachineMismatch };

/**
 * Fits a kept state to a machine that may have been changed since. The same definition: it goes on. Another one: it goes on
 * where nothing misfits, unless the author wants none of that; else as the author migrates it; else it does not. Whatever
 * fails before anything has happened is a mismatch: nothing is undone for it, since older code may still fit.
 *
 * @param asked - the IDs of the questions that the client was asked last
 */
export function fit(options: MachineProgramOptions, first: unknown, asked: object, watch: StepWatch): Fitted {
  const { machine, name } = options;
  const fitting = fittingRecord(options, first as SagaRecord);
  if ('mismatch' in fitting) return fitting;
  try {
    const restored = restore(machine, fitting.record, watch);
    return mismatchOfRestored(name, restored, asked) ?? restored;
  } catch (cause) {
    const why = cause instanceof MachineRefused ? cause.message : 'what was kept cannot be restored';
    return { mismatch: new MachineMismatch(name, [why], { cause }) };
  }
}

function fittingRecord(
  options: MachineProgramOptions,
  record: SagaRecord,
): { readonly record: SagaRecord } | { readonly mismatch: MachineMismatch } {
  const { machine, name, drift, migrate } = options;
  const definition = definitionOf(machine);
  if (record.d === definition) return { record };
  const misfits = misfitsOf(machine, record);
  if (misfits.length === 0 && drift === 'compatible') return { record: moved(record, definition) };
  const told = misfits.length === 0 ? ['it has another definition'] : misfits;
  if (migrate === undefined) return { mismatch: new MachineMismatch(name, told) };
  try {
    const returned = migrate(toMachineState(record), { definition: record.d, misfits });
    const migrated = toMigratedRecord(returned, definition);
    const left = misfitsOf(machine, migrated);
    return left.length === 0 ? { record: migrated } : { mismatch: new MachineMismatch(name, left) };
  } catch (cause) {
    return { mismatch: new MachineMismatch(name, [...told, 'its migration failed'], { cause }) };
  }
}

/** Positions of states are another machine's: their order is the one XState restores. */
function moved(record: SagaRecord, definition: string): SagaRecord {
  return { ...fromMachineState(toMachineState(record), definition) };
}

// A machine that was kept waits for something, and the questions it waits with could be asked.
function mismatchOfRestored(
  name: string,
  { root, timers, steps }: Restored,
  asked: object,
): { readonly mismatch: MachineMismatch } | undefined {
  const { asks, effects, promises } = survey(root);
  if (asks.length + effects.length + promises.length + timers.length === 0) {
    return { mismatch: new MachineMismatch(name, ['nothing is left that it waits for']) };
  }
  // An effect in the place of a question would run without its answer.
  const answerless = effects.filter(({ actor, path }) => {
    const { r = 1 } = steps.get(actor) ?? {};
    return Object.hasOwn(asked, r === 1 ? path : `${path}@${r}`);
  });
  if (answerless.length > 0) {
    const misfits = answerless.map(({ path }) => `the actor '${path}' is of another kind now`);
    return { mismatch: new MachineMismatch(name, misfits) };
  }
  for (const { actor, path } of asks) {
    try {
      toClientStep((askOf(actor.logic) as Ask<unknown>).toSpec(path, actor.getSnapshot().input), path);
    } catch (cause) {
      const misfit = `the question '${path}' can no longer be asked with the input it has`;
      return { mismatch: new MachineMismatch(name, [misfit], { cause }) };
    }
  }
  return undefined;
}
