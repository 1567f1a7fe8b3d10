import { toClientStep } from '@mcp-saga/core/program';
import type { StepWatch } from '../model/live-actor.ts';
import { definitionOf } from './definition-hash.ts';
import { MachineMismatch, MachineRefused } from '../model/errors.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import type { SagaRecord } from '../model/machine-record.ts';
import { toMachineState, toMigratedRecord } from './migrate-record.ts';
import { misfitsOf } from './record-misfits.ts';
import { restore, type Restored } from './restore-record.ts';
import { askOf, type Ask } from '../author/step-logic.ts';
import { survey } from '../adapter/survey.ts';

/** A machine that continues, or the reason why it cannot. */
export type Fitted = Restored | { readonly mismatch: MachineMismatch };

/**
 * Fits a stored state to a machine that may have changed. A state with another definition continues if everything in it fits
 * and `drift` allows it, or as `migrate` returns it. Every failure here is a mismatch that undoes nothing, since older code
 * may still fit.
 *
 * @param asked - IDs of the questions that the client was asked last
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
  if (misfits.length === 0 && drift === 'compatible') return { record: { ...record, d: definition } };
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

// A stored machine waits for something, and its questions could be asked.
function mismatchOfRestored(
  name: string,
  { root, timers, steps }: Restored,
  asked: object,
): { readonly mismatch: MachineMismatch } | undefined {
  const { asks, effects, promises } = survey(root);
  if (asks.length + effects.length + promises.length + timers.length === 0) {
    return { mismatch: new MachineMismatch(name, ['nothing is left that it waits for']) };
  }
  // An effect in the place of a question would run without the answer of the user.
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
