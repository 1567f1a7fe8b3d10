import type { NamesOf } from '@mcp-saga/server/internal';
import { indented } from '../values/show.ts';
import * as fc from 'fast-check';
import type { ClientStep, Program } from '@mcp-saga/server';
import { answerOf } from '../world/world-answers.ts';
import { SagaTestError, type TestErrorCode } from '../values/errors.ts';
import { firstCareless } from './crash-everywhere.ts';
import type { Explored, Violation } from './exploration.ts';
import { forgotten, keptUndone } from './nothing-forgotten.ts';
import { programmingError } from './baseline.ts';
import { formArbitrary } from '../script/form-arbitrary.ts';
import { formOf } from '../script/form-content.ts';
import type { StandIn } from '../script/script-answers.ts';
import { wasApplied } from '../run/never-applied.ts';
import { kindOfStep } from '../report/trace-questions.ts';
import { answeringKinds, type Rule } from '../script/script-rules.ts';
import type { SagaRun } from '../run/saga-run.ts';
import { scriptSource, toSource } from '../script/script-source.ts';
import { World } from '../world/world.ts';
import { testSagaNames, type TestProvider, type TestSagaOptions } from '../script/test-options.ts';
import { reasonIn, TestSaga } from '../run/test-saga.ts';
import { assertKnownOptions, assertSaga } from '../values/known-options.ts';
import { breathe } from '../values/virtual-clock.ts';

/** Options of `sagaProperty`. */
export interface SagaPropertyOptions<W> extends Omit<
  TestSagaOptions,
  'input' | 'services' | 'before' | 'providers'
> {
  /** Arguments of the saga. Default: none. */
  readonly input?: fc.Arbitrary<unknown>;
  /** Makes the world of a run. */
  readonly world?: () => W;
  /** Makes the services that steps receive. */
  readonly services?: (world: W) => Exclude<TestSagaOptions['services'], undefined>;
  /** Returns the fakes that the kit checks. */
  readonly providers?: (world: W) => readonly TestProvider[];
  /** Returns the stand-ins for steps. */
  readonly steps?: (world: W) => { readonly [id: string]: StandIn<unknown> };
  /**
   * Answers by ID: contents of forms, or texts of models. Default: drawn from the schema of the
   * form.
   */
  readonly answers?: { readonly [id: string]: fc.Arbitrary<unknown> };
  /**
   * Faults: steps that fail, time out, or lose their responses; crashes; refusals. Default: all.
   */
  readonly faults?: readonly ('steps' | 'crashes' | 'refusals')[];
  /** Effects that may happen twice, or stay done, as for the explorers. Default: none. */
  readonly harmless?: readonly string[];
  /**
   * Code or name of the error, or a part of its message, with which the saga fails although nothing
   * disturbs it. Default: undisturbed, the saga completes.
   */
  readonly expectFailure?: string;
}

/** Options that each run has unchanged. */
type SharedOptions = Omit<TestSagaOptions, 'input' | 'services' | 'before' | 'providers'>;

/** Options that the property draws, makes anew for each run, or reads itself. */
const ownOptions: NamesOf<Omit<SagaPropertyOptions<unknown>, keyof SharedOptions>> = {
  input: true,
  world: true,
  services: true,
  providers: true,
  steps: true,
  answers: true,
  faults: true,
  harmless: true,
  expectFailure: true,
};

const { before: _before, ...testNames } = testSagaNames;
const propertyNames: NamesOf<SagaPropertyOptions<unknown>> = { ...testNames, ...ownOptions };

type Draw = fc.GeneratorValue;

/**
 * Creates a property for `fc.assert`. With any answers, failures, and crashes, a saga that fails
 * must undo or name its effects, repeated effects must use their keys, no run may fail because of a
 * mistake in the code, and the invariant must hold.
 *
 * First, the saga runs without faults and refusals until one run completes: the runs of a saga that
 * always fails would show nothing.
 * @param invariant - throws or returns `false` if it does not hold
 * @throws SagaTestError `script` for invalid arguments, and when the property is awaited without
 * `fc.assert`
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 * import fc from 'fast-check';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   yield* step('look', () => api.look());
 *   return 'done';
 * });
 * await fc.assert(sagaProperty(order, { harmless: ['look'] }, (run) => run.errors.length === 0));
 * ```
 */
export function sagaProperty<W = undefined>(
  saga: Program,
  options: SagaPropertyOptions<W> = {},
  invariant: (run: SagaRun, world: W) => unknown = () => true,
): fc.IAsyncProperty<[Draw]> {
  assertSaga('sagaProperty', saga);
  assertKnownOptions('sagaProperty', options, propertyNames);
  if (typeof invariant !== 'function')
    throw new SagaTestError('script', 'sagaProperty: the invariant must be a function of a run.');
  if (options.expectFailure !== undefined)
    reasonIn('sagaProperty: expectFailure', options.expectFailure);
  // `true` if smaller values would show nothing: the last run was not deterministic, so its drawn
  // values differ as well, or the saga fails without a fault.
  let isUnsteady = false;
  let undisturbed: Promise<void> | undefined;
  const property = fc.asyncProperty(fc.gen(), async (draw) => {
    // Promises alone would starve the timeout of the test runner.
    await breathe();
    isUnsteady = true;
    await (undisturbed ??= endsAsExpected(saga, options));
    isUnsteady = false;
    const { harmless = [], faults = ['steps', 'crashes', 'refusals'] } = options;
    const drawnRun = drawRun(saga, options, draw, faults);
    const { test, world, simulated } = drawnRun;
    let expects: string | undefined;
    try {
      const run = await test.runOn(simulated);
      const violation = wrong({ run, world: simulated }, harmless);
      expects = violation?.expects ?? 'await invariant(run, world); // yours';
      if (violation !== undefined) throw new SagaTestError('violated', violation.what);
      if ((await invariant(run, world)) === false)
        throw new SagaTestError('violated', 'the invariant returned false.');
    } catch (error) {
      isUnsteady = error instanceof SagaTestError && unsteady.has(error.code);
      // The schema is stricter than the form: skip this draw.
      if (error instanceof SagaTestError && error.code === 'answer_not_accepted') fc.pre(false);
      const script = sourceOf(drawnRun);
      throw told(
        error,
        expects === undefined ? script : `const run = ${script}\n${expects}`,
        simulated,
      );
    }
  });
  // A saga without determinism shrinks forever, and the first case is enough.
  const shrink = property.shrink.bind(property);
  property.shrink = (value) => (isUnsteady ? fc.Stream.nil() : shrink(value));
  // An awaited property runs nothing, and the test would always pass.
  // oxlint-disable-next-line unicorn/no-thenable -- it is an error to await it
  Object.defineProperty(property, 'then', {
    get: () => {
      throw new SagaTestError(
        'script',
        'sagaProperty: an awaited property runs nothing. Write await fc.assert(sagaProperty(…)).',
      );
    },
  });
  return property;
}

/** A run with drawn arguments, answers, and faults. */
interface DrawnRun<W> {
  readonly test: TestSaga;
  readonly world: W;
  readonly simulated: World;
  /** Rules that the run has drawn so far. */
  readonly drawn: readonly Rule[];
}

/** Prepares a run whose arguments, answers, and faults are drawn as the saga needs them. */
function drawRun<W>(
  saga: Program,
  options: SagaPropertyOptions<W>,
  draw: Draw,
  faults: NonNullable<SagaPropertyOptions<W>['faults']>,
): DrawnRun<W> {
  const { input, world: makeWorld, services, providers, steps, answers } = options;
  const world = makeWorld?.() as W;
  const stands = Object.entries(steps?.(world) ?? {}).map(([id, result]): Rule => ({
    kind: 'step',
    id,
    result,
  }));
  const given = input === undefined ? undefined : draw(() => input);
  const test = new TestSaga(
    saga,
    {
      ...sharedOptions(options),
      ...(given === undefined ? {} : { input: given }),
      ...(providers === undefined ? {} : { providers: providers(world) }),
      ...(services === undefined ? {} : { services: services(world) }),
    },
    stands,
  );
  const drawn: Rule[] = [];
  const simulated = new World(test.options, test.rules);
  const goesWrong = new Set(faults);
  simulated.foresee = (id) =>
    noted(drawn, draw(stepRules, id, goesWrong.has('steps'), goesWrong.has('crashes')));
  simulated.autoAnswer = (step) => {
    const rule = draw(answerRule, step, answers?.[step.stepId], goesWrong.has('refusals'));
    // A repeated question: the rejected answer is no part of the script.
    if (step.reason !== undefined)
      drawn.splice(
        drawn.findLastIndex((each) => 'id' in each && each.id === rule.id),
        1,
      );
    drawn.push(rule);
    return answerOf(step, rule, 'answer' in rule ? rule.answer : undefined);
  };
  return { test, world, simulated, drawn };
}

/** Returns the options that each run has unchanged. */
function sharedOptions<W>(options: SagaPropertyOptions<W>): SharedOptions {
  const shared = Object.entries(options).filter(([name]) => !Object.hasOwn(ownOptions, name));
  return Object.fromEntries(shared);
}

/** Formats a drawn run. Omits unreached steps: an unused fault fails a pasted test. */
function sourceOf({ test, simulated, drawn }: DrawnRun<unknown>): string {
  const heard = drawn.filter(
    (rule) => answeringKinds.has(rule.kind) || wasApplied(simulated, rule),
  );
  return scriptSource(test.saga.name, test.options, [
    ...test.rules,
    ...heard,
    ...simulated.autoAnswered,
  ]);
}

const undisturbedRuns = 100;

/**
 * Runs a saga without faults and refusals until a run ends as the property expects. Drawn arguments
 * and answers may lead to a failure that is right, so not each run has to. Throws `violated` if
 * none does.
 */
async function endsAsExpected<W>(saga: Program, options: SagaPropertyOptions<W>): Promise<void> {
  const { expectFailure: reason } = options;
  let first: SagaTestError | undefined;
  for (const draw of fc.sample(fc.gen(), { numRuns: undisturbedRuns, seed: 1 })) {
    // As above: a hundred runs would starve the timeout of the test runner.
    await breathe();
    const drawnRun = drawRun(saga, options, draw, []);
    const { test, simulated } = drawnRun;
    const expected: Rule | undefined =
      reason === undefined ? undefined : { kind: 'expectFailure', reason };
    if (expected !== undefined) simulated.rules.add(expected);
    try {
      const run = await test.runOn(simulated);
      const isExpected =
        expected === undefined ? run.status === 'completed' : wasApplied(simulated, expected);
      if (isExpected) return;
      const end = String(simulated.trace.lines.at(-1));
      const what =
        `The saga never ends as expected, in ${undisturbedRuns} runs without a fault or a refusal. ` +
        `Expected: ${reason === undefined ? 'the saga completes' : `the saga fails with ${toSource(reason)}`}. ` +
        `The first run ${end}.\n\nDraw \`input\` and \`answers\` with which the saga completes. ` +
        'If it is meant to fail, pass { expectFailure: … } with the code or the name of its error, or a part of its message.';
      first ??= told(new SagaTestError('violated', what), sourceOf(drawnRun), simulated);
    } catch (error) {
      // The schema is stricter than the form.
      if (!(error instanceof SagaTestError && error.code === 'answer_not_accepted'))
        throw told(error, sourceOf(drawnRun), simulated);
      first ??= error;
    }
  }
  throw first ?? new SagaTestError('violated', 'The saga never ran.');
}

const unsteady: ReadonlySet<TestErrorCode> = new Set<TestErrorCode>([
  'not_deterministic',
  'floating',
]);

function wrong(explored: Explored, harmless: readonly string[]): Violation | undefined {
  const { world: simulated } = explored;
  return (
    programmingError(explored.run) ??
    forgotten(explored, { harmless }) ??
    keptUndone(explored, { harmless }) ??
    firstCareless(simulated, { harmless })
  );
}

function told(error: unknown, script: string, simulated: World): SagaTestError {
  const what = error instanceof Error ? error.message : 'a value was thrown that is not an error';
  return new SagaTestError(
    'violated',
    `${what}\n\nTo reproduce, paste into a test, or run fast-check with the same seed (not path: values are drawn during the ` +
      `run):\n\n${indented(script)}\n\nWhat happened:\n\n${indented(String(simulated.trace))}`,
    { cause: error },
  );
}

function noted(drawn: Rule[], rules: readonly Rule[]): readonly Rule[] {
  drawn.push(...rules);
  return rules;
}

function stepRules(id: string, faults: boolean, crashes: boolean): fc.Arbitrary<readonly Rule[]> {
  const times = fc.constantFrom(1, 2, Infinity);
  const fault: fc.Arbitrary<Rule> = fc.oneof(
    times.map((count): Rule => ({ kind: 'fail', id, error: new Error('refused'), times: count })),
    times.map((count): Rule => ({ kind: 'timeout', id, times: count })),
    times.map((count): Rule => ({ kind: 'lose', id, times: count })),
  );
  const crash: fc.Arbitrary<Rule> = fc
    .record({
      when: fc.constantFrom('before' as const, 'after' as const),
      run: fc.constantFrom(1, 2),
    })
    .map(({ when, run }): Rule => ({ kind: 'crash', id, when, run }));
  const none: fc.Arbitrary<readonly Rule[]> = fc.constant([]);
  return fc.oneof(
    { weight: 4, arbitrary: none },
    ...(faults ? [{ weight: 2, arbitrary: fault.map((rule) => [rule]) }] : []),
    ...(crashes ? [{ weight: 1, arbitrary: crash.map((rule) => [rule]) }] : []),
  );
}

type AnswerRule = Extract<Rule, { kind: 'answer' | 'refuse' | 'sample' | 'roots' | 'clientError' }>;

function answerRule(
  step: ClientStep,
  wanted: fc.Arbitrary<unknown> | undefined,
  refusals: boolean,
): fc.Arbitrary<AnswerRule> {
  const { stepId: id } = step;
  const answers = wanted ?? answersFor(step);
  const kind =
    step.type === 'elicitation' ? 'answer' : step.type === 'sampling' ? 'sample' : 'roots';
  const accepted = answers.map((answer): AnswerRule =>
    kind === 'roots' ? { kind, id, roots: answer as never } : { kind, id, answer },
  );
  if (!refusals) return accepted;
  const refused: fc.Arbitrary<AnswerRule> =
    kind === 'answer'
      ? fc
          .constantFrom('decline' as const, 'cancel' as const)
          .map((action): AnswerRule => ({ kind: 'refuse', id, action }))
      : fc.constant<AnswerRule>({ kind: 'clientError', id, message: 'not now' });
  return fc.oneof({ weight: 4, arbitrary: accepted }, { weight: 1, arbitrary: refused });
}

function answersFor(step: ClientStep): fc.Arbitrary<unknown> {
  switch (kindOfStep(step)) {
    case 'elicit': {
      const form = formOf(step.params);
      return form === undefined ? fc.constant({}) : formArbitrary(form);
    }
    case 'elicitUrl':
      return fc.constant({});
    case 'sample':
      return fc.oneof(fc.constantFrom('Yes', 'No'), fc.lorem());
    case 'roots':
      return fc.array(
        fc.webUrl().map((uri) => ({ uri })),
        { maxLength: 3 },
      );
  }
}
