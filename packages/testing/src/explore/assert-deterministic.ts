import { SagaTestError } from '../errors.ts';
import { showAll, showError } from '../show.ts';
import type { Stage, Tape } from '../stage.ts';
import type { Script, TestSaga } from '../test-saga.ts';
import type { TraceEntry } from '../trace.ts';
import { explored, scriptOf, type Explored, type ExploreReport } from './exploration.ts';
import { perturbations, standStill, type Perturbation } from './perturbation.ts';

/**
 * Runs a script once, and then on machines with another clock, other randomness, another time zone and another language,
 * with everything the first run got from outside: what its steps returned, what it was answered, what `now()` said. The
 * saga must ask and do the very same.
 *
 * @throws SagaTestError `not_deterministic`: the first step that differs, side by side, and what makes it differ
 */
export async function assertDeterministic(script: Script): Promise<ExploreReport> {
  const test = scriptOf(script);
  // On a machine that stands still, so that each thing that varies can be told from the others.
  const still = standStill();
  try {
    const baseline = await explored(test);
    for (const perturbation of perturbations) {
      still.again();
      // oxlint-disable-next-line no-await-in-loop -- the machine is another one, one time after the other
      await onAnotherMachine(test, baseline, perturbation);
    }
  } finally {
    still.end();
  }
  return { cases: perturbations.length };
}

async function onAnotherMachine(
  test: TestSaga,
  { run, stage }: Explored,
  perturbation: Perturbation,
): Promise<void> {
  const stages: Stage[] = [];
  let thrown: unknown;
  const restore = perturbation.apply();
  try {
    await explored(test, (each) => {
      stages.push(each);
      each.playback = stage.tape satisfies Tape;
    });
  } catch (error) {
    thrown = error;
  } finally {
    restore();
  }
  const there = stages[0]?.trace ?? [];
  const [one, two] = [tellingOf(run.trace), tellingOf(there)];
  const index = one.findIndex((entry, at) => entry.line !== two[at]?.line);
  const at = index === -1 && two.length > one.length ? one.length : index;
  if (at === -1) {
    if (thrown === undefined) return;
    throw different(test, perturbation, showError(thrown), thrown);
  }
  const [here, elsewhere] = [one[at], two[at]];
  const id = here?.id ?? elsewhere?.id;
  throw different(
    test,
    perturbation,
    `${id === undefined ? 'how it ends' : `'${id}'`} is the first that differs:\n\n` +
      `    here:  ${here?.line ?? 'nothing more'}\n    there: ${elsewhere?.line ?? 'nothing more'}`,
    thrown,
  );
}

function different(
  test: TestSaga,
  { what, advice }: Perturbation,
  difference: string,
  cause: unknown,
): SagaTestError {
  return new SagaTestError(
    'not_deterministic',
    `With ${what}, the saga '${test.saga.name}' does something else with the same answers and results. ${difference}\n\n${advice}`,
    cause === undefined ? undefined : { cause },
  );
}

interface Telling {
  readonly id: string | undefined;
  readonly line: string;
}

/** What a saga did of its own, in full. */
function tellingOf(trace: readonly TraceEntry[]): readonly Telling[] {
  return [...trace].flatMap((entry) => {
    const line = tell(entry);
    return line === undefined ? [] : [{ id: 'id' in entry ? entry.id : undefined, line }];
  });
}

function tell(entry: TraceEntry): string | undefined {
  switch (entry.type) {
    case 'asked':
      return `asked ${entry.id}: ${showAll(entry.params)}`;
    case 'ran':
      return `ran ${entry.id}${entry.input === undefined ? '' : ` with ${showAll(entry.input)}`}`;
    case 'polled':
    case 'failed':
    case 'passed':
    case 'undone':
    case 'residue':
      return `${entry.type} ${entry.id}`;
    case 'told':
      return `told ${entry.what} ${entry.text}`;
    case 'completed':
      return `completed: ${showAll(entry.result)}`;
    case 'gaveUp':
      return `failed: ${showError(entry.error)}`;
    case 'waited':
      return `waited ${entry.ms} ms`;
    case 'started':
    case 'answered':
    case 'declined':
    case 'cancelled':
    case 'retried':
    case 'undoFailed':
    case 'crashed':
    case 'lost':
    case 'forked':
    case 'cancelledFromOutside':
    case 'refused':
      return undefined;
  }
}
