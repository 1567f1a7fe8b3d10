import { toClientStep } from '@mcp-saga/core/program';
import type { StepWatch } from '../model/live-actor.ts';
import { definitionOf, versionIn } from './definition-hash.ts';
import { MachineMismatch, MachineRefused } from '../model/errors.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import type { SagaRecord } from '../model/machine-record.ts';
import { toMachineState, toMigratedRecord } from './migrate-record.ts';
import { findIncompatibilities } from './incompatibilities.ts';
import { restore, type Restored } from './restore-record.ts';
import { outsideOf } from '../author/outside-logic.ts';
import { askOf } from '../author/step-logic.ts';
import { survey } from '../adapter/survey.ts';

/** Restored machine, or the reason why a saga cannot continue. */
export type Fitted = Restored | { readonly mismatch: MachineMismatch };

/**
 * Restores a stored state for a machine that may have changed. A state of another definition
 * continues if everything fits and `drift` allows it, or as `migrate` returns it. Every failure is
 * a mismatch without an undo, since older code may still fit.
 * @param asked - IDs of the last questions to the client
 */
export function fit(
  options: MachineProgramOptions,
  first: unknown,
  asked: object,
  watch: StepWatch,
): Fitted {
  const { machine, name } = options;
  try {
    const restored = restore(machine, fittingRecord(options, first as SagaRecord), watch);
    assertWaiting(name, restored, asked);
    return restored;
  } catch (cause) {
    if (cause instanceof MachineMismatch) return { mismatch: cause };
    const why = cause instanceof MachineRefused ? cause.message : 'XState cannot restore the state';
    return { mismatch: new MachineMismatch(name, [why], { cause }) };
  }
}

function fittingRecord(options: MachineProgramOptions, record: SagaRecord): SagaRecord {
  const { machine, name, drift, migrate } = options;
  const definition = definitionOf(machine);
  if (record.d === definition) return record;
  const incompatibilities = findIncompatibilities(machine, record);
  const isRaised = versionIn(record.d) !== versionIn(definition);
  const fits = incompatibilities.length === 0;
  // An author who has raised the version of the machine knows what its state must become.
  if (fits && drift === 'compatible' && !(isRaised && migrate !== undefined))
    return { ...record, d: definition };
  const told = fits ? ['the definition has changed'] : incompatibilities;
  if (migrate === undefined) throw new MachineMismatch(name, told);
  let migrated: SagaRecord;
  let left: readonly string[];
  try {
    migrated = toMigratedRecord(
      migrate(toMachineState(record), { definition: record.d, incompatibilities }),
      definition,
    );
    left = findIncompatibilities(machine, migrated);
  } catch (cause) {
    throw new MachineMismatch(name, [...told, 'its migration failed'], { cause });
  }
  if (left.length > 0) throw new MachineMismatch(name, left);
  return migrated;
}

// A stored machine was waiting, and its questions were valid.
function assertWaiting(name: string, { root, timers, steps }: Restored, asked: object): void {
  const { asks, effects, waits } = survey(root);
  if (asks.length + effects.length + waits.length + timers.length === 0) {
    throw new MachineMismatch(name, ['the machine waits for nothing']);
  }
  // An effect or a wait in place of a question would begin without the user's answer.
  const answerless = [...effects, ...waits].filter(({ actor, path }) => {
    const { r = 1 } = steps.get(actor) ?? {};
    return Object.hasOwn(asked, r === 1 ? path : `${path}@${r}`);
  });
  if (answerless.length > 0) {
    const incompatibilities = answerless.map(
      ({ path }) => `the actor '${path}' is of another kind now`,
    );
    throw new MachineMismatch(name, incompatibilities);
  }
  for (const { actor, path } of [...asks, ...waits]) {
    try {
      const { input } = actor.getSnapshot();
      const ask = askOf(actor.logic);
      if (ask === undefined) outsideOf(actor.logic)?.toSteps(actor.id, input);
      else toClientStep(ask.toSpec(path, input), path);
    } catch (cause) {
      const incompatibility = `the question '${path}' is no longer valid with its stored input`;
      throw new MachineMismatch(name, [incompatibility], { cause });
    }
  }
}
