import { SagaTestError } from '../values/errors.ts';
import { indented, showAll, showError } from '../values/show.ts';
import { OutsideWorld } from '../world/outside-world.ts';
import type { World } from '../world/world.ts';
import type { Script, TestSaga } from '../run/test-saga.ts';
import { lineOf, type ByEvent, type TraceEntry, type TraceEvent } from '../report/trace.ts';
import { assertUndisturbed, baselineOf } from './baseline.ts';
import {
  explored,
  scriptOf,
  withAnswers,
  withoutAutoAnswers,
  type Explored,
  type ExploreReport,
} from './exploration.ts';
import { perturbations, standStill, type Perturbation } from './perturbation.ts';
import { shrunk } from './shrink.ts';

/**
 * Runs a script, and then again with another clock, other randomness, another time zone (not in
 * browsers), and another language, with the recorded results, answers, and times. The saga must ask
 * and run the same.
 * @throws SagaTestError `not_deterministic`: the first step that differs, the cause, and the
 * smallest script that shows it
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('ship', ({ idempotencyKey }) => api.ship(idempotencyKey));
 *   return 'done';
 * });
 * await assertDeterministic(testSaga(order));
 * ```
 */
export async function assertDeterministic(script: Script): Promise<ExploreReport> {
  const test = scriptOf('assertDeterministic', script);
  // On a simulated machine without changes, to tell the causes apart.
  const still = standStill();
  try {
    const baseline = await baselineOf(test);
    for (const perturbation of perturbations) {
      still.again();
      const difference = await onAnotherMachine(test, baseline, perturbation);
      if (difference === undefined) continue;
      const again = async (smaller: TestSaga): Promise<Difference | undefined> => {
        still.again();
        const here = await explored(smaller, withoutAutoAnswers);
        assertUndisturbed(smaller, here);
        still.again();
        const found = await onAnotherMachine(smaller, here, perturbation);
        return found?.id === difference.id ? found : undefined;
      };
      const complete = withAnswers(test, baseline.world.autoAnswered);
      throw different(perturbation, await shrunk({ script: complete, found: difference }, again));
    }
  } finally {
    still.end();
  }
  return { cases: perturbations.length };
}

type Difference = Readonly<{ id: string | undefined; what: string; cause: unknown }>;

async function onAnotherMachine(
  test: TestSaga,
  { run, world }: Explored,
  perturbation: Perturbation,
): Promise<Difference | undefined> {
  const worlds: World[] = [];
  let thrown: unknown;
  const restore = perturbation.apply();
  try {
    await explored(test, (each) => {
      worlds.push(each);
      each.playback = world.tape;
      each.outside = new OutsideWorld(each, new Map(world.outside.asked));
    });
  } catch (error) {
    thrown = error;
  } finally {
    restore();
  }
  const there = worlds[0]?.trace ?? [];
  const [one, two] = [tellingOf(run.trace), tellingOf(there)];
  const index = one.findIndex((entry, at) => entry.line !== two[at]?.line);
  const at = index === -1 && two.length > one.length ? one.length : index;
  if (at === -1)
    return thrown === undefined
      ? undefined
      : { id: undefined, what: showError(thrown), cause: thrown };
  const [here, elsewhere] = [one[at], two[at]];
  const id = here?.id ?? elsewhere?.id;
  const what =
    `First difference: ${id === undefined ? 'the end' : `'${id}'`}.\n\n` +
    `    here:  ${here?.line ?? 'nothing more'}\n    there: ${elsewhere?.line ?? 'nothing more'}`;
  return { id, what, cause: thrown };
}

function different(
  { what, advice }: Perturbation,
  { script, found }: { readonly script: TestSaga; readonly found: Difference },
): SagaTestError {
  return new SagaTestError(
    'not_deterministic',
    `The saga '${script.saga.name}' is not deterministic: with ${what}, and the same answers and results, its run differs. ${found.what}\n\n` +
      `${advice}\n\nThe smallest case, to paste into a test:\n\n` +
      indented(`await assertDeterministic(\n${script.source.replaceAll(/^/gm, '  ')},\n);`),
    found.cause === undefined ? undefined : { cause: found.cause },
  );
}

type Telling = Readonly<{ id: string | undefined; line: string }>;

function tellingOf(trace: readonly TraceEntry[]): readonly Telling[] {
  return [...trace].flatMap((entry) => {
    const line = (told[entry.type] as ((event: TraceEvent) => string) | undefined)?.(entry);
    return line === undefined ? [] : [{ id: 'id' in entry ? entry.id : undefined, line }];
  });
}

const what = ({ type, id }: { readonly type: string; readonly id: string }): string =>
  `${type} ${id}`;

const told: Partial<ByEvent<string>> = {
  asked: ({ id, params }) => `asked ${id}: ${showAll(params)}`,
  ran: ({ id, input }) => `ran ${id}${input === undefined ? '' : ` with ${showAll(input)}`}`,
  polled: what,
  failed: what,
  passed: what,
  undone: what,
  uncompensated: what,
  told: lineOf,
  completed: ({ result }) => `completed: ${showAll(result)}`,
  gaveUp: lineOf,
  waited: ({ ms }) => `waited ${ms} ms`,
};
