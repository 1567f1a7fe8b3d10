import type { Duration, Json, Program } from '@mcp-saga/server';
import {
  durationForms,
  millisecondsOf,
  type ClientNeed,
  type Root,
} from '@mcp-saga/server/internal';
import type { Answer, AnySteps, OutsideGiven, Sample, StandIn } from '../script/script-answers.ts';
import { assertApplied } from './never-applied.ts';
import { begin, play } from './play.ts';
import type { Rule } from '../script/script-rules.ts';
import { SagaRun } from './saga-run.ts';
import { Serving } from './run-host.ts';
import { scriptExpression, scriptSource } from '../script/script-source.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions, assertSaga } from '../values/known-options.ts';
import { World } from '../world/world.ts';
import { testSagaNames } from '../script/test-options.ts';
import type { OptionsParameter, ResultOf, TestSagaOptions } from '../script/test-options.ts';

/** Number of times a fault applies. Default: always. */
export interface Times {
  readonly times?: number;
}

/** A script for explorers. */
export interface Script {
  readonly saga: Program;
  readonly options: TestSagaOptions;
  readonly rules: readonly Rule[];
}

type Id<Steps> = keyof Steps & string;

/**
 * A saga and its world: answers and faults. Each word returns a new script. The last rule for a
 * step applies.
 */
export class TestSaga<P extends Program = Program, Steps extends object = AnySteps> {
  readonly saga: P;
  readonly options: TestSagaOptions;
  readonly rules: readonly Rule[];

  constructor(saga: P, options: TestSagaOptions, rules: readonly Rule[]) {
    this.saga = saga;
    this.options = options;
    this.rules = rules;
  }

  /**
   * Declares the steps and values, for checked IDs and values.
   * @example
   * ```ts
   * import { elicit, saga } from '@mcp-saga/server';
   *
   * const deploy = saga({ name: 'deploy', version: '1' }, function* () {
   *   yield* elicit('target', { message: 'Where?', schema: z.object({ target: z.string() }) });
   *   return 'done';
   * });
   * testSaga(deploy).steps<{ target: { target: string } }>().on.elicit('target', { target: 'web' });
   * ```
   */
  steps<S extends object>(): TestSaga<P, S> {
    return new TestSaga<P, S>(this.saga, this.options, this.rules);
  }

  /**
   * Answers, and stand-ins for steps. `item` also matches `item#2`, and `item@1` after
   * `continueAs`. `item#1` matches only `item`.
   */
  get on(): On<P, Steps> {
    return {
      elicit: (id, answer) => this.#add({ kind: 'answer', id, answer }),
      url: (id) => this.#add({ kind: 'answer', id, answer: {} }),
      sample: (id, answer) => this.#add({ kind: 'sample', id, answer }),
      roots: (id, roots) => this.#add({ kind: 'roots', id, roots }),
      step: (id, result) => this.#add({ kind: 'step', id, result }),
      approval: (id, answer) =>
        this.#add({ kind: 'outside', id, what: 'approval', given: toGiven('on.approval', answer) }),
      event: (id, content, at = {}) => {
        assertKnownOptions('on.event', at, { after: true });
        const given = toGiven('on.event', { content: content as Json, ...at });
        return this.#add({ kind: 'outside', id, what: 'event', given });
      },
    };
  }

  /** Failures. `~id` is the undo of a step. */
  get fail(): Fail<P, Steps> {
    return {
      step: (id, error, at = {}) => {
        assertKnownOptions('fail.step', at, { times: true, from: true });
        const { times = Infinity, from } = at;
        return this.#add({
          kind: 'fail',
          id,
          error,
          times,
          ...(from === undefined ? {} : { from }),
        });
      },
      undo: (id, error, at) =>
        this.#add({ kind: 'fail', id: `~${id}`, error, times: timesIn('fail.undo', at) }),
      client: (id, message) => this.#add({ kind: 'clientError', id, message }),
    };
  }

  /** Timeouts: the code of the step does not run, and its outcome is unknown. */
  get timeout(): { step(id: Id<Steps>, times?: Times): TestSaga<P, Steps> } {
    return {
      step: (id, at) => this.#add({ kind: 'timeout', id, times: timesIn('timeout.step', at) }),
    };
  }

  /** Dropped responses: of a step after its effect, or of the host. */
  get lose(): {
    step(id: Id<Steps>, times?: Times): TestSaga<P, Steps>;
    response(turn: number): TestSaga<P, Steps>;
  } {
    return {
      step: (id, at) => this.#add({ kind: 'lose', id, times: timesIn('lose.step', at) }),
      response: (turn) => this.#add({ kind: 'loseResponse', turn }),
    };
  }

  /**
   * Crashes of the process. The client sends the request again. `run`: number of the run of the
   * code, from 1.
   */
  get crash(): {
    before(id: Id<Steps>, at?: { readonly run?: number }): TestSaga<P, Steps>;
    after(id: Id<Steps>, at?: { readonly run?: number }): TestSaga<P, Steps>;
  } {
    return {
      before: (id, at) =>
        this.#add({ kind: 'crash', id, when: 'before', run: runIn('crash.before', at) }),
      after: (id, at) =>
        this.#add({ kind: 'crash', id, when: 'after', run: runIn('crash.after', at) }),
    };
  }

  /** Refused questions. Default `decline`; `cancel` dismisses the question. */
  get refuse(): { elicit(id: Id<Steps>, action?: 'decline' | 'cancel'): TestSaga<P, Steps> } {
    return { elicit: (id, action = 'decline') => this.#add({ kind: 'refuse', id, action }) };
  }

  /** Delays the answer to a question by `ms` milliseconds. */
  get late(): {
    elicit(id: Id<Steps>, ms: number): TestSaga<P, Steps>;
    approval(id: Id<Steps>, ms: number): TestSaga<P, Steps>;
    event(id: Id<Steps>, ms: number): TestSaga<P, Steps>;
  } {
    const late =
      (word: string) =>
      (id: Id<Steps>, ms: number): TestSaga<P, Steps> =>
        this.#add({ kind: 'late', id, ms: positive(`late.${word}`, ms) });
    return { elicit: late('elicit'), approval: late('approval'), event: late('event') };
  }

  /**
   * Gives no answer. The client returns every `ms` milliseconds to its own questions, and as asked
   * to the others.
   */
  get silent(): {
    elicit(id: Id<Steps>, ms: number): TestSaga<P, Steps>;
    approval(id: Id<Steps>): TestSaga<P, Steps>;
    event(id: Id<Steps>): TestSaga<P, Steps>;
  } {
    const nobody = (id: Id<Steps>, what: 'approval' | 'event'): TestSaga<P, Steps> =>
      this.#add({ kind: 'outside', id, what, given: [] });
    return {
      elicit: (id, ms) => this.#add({ kind: 'silent', id, ms: positive('silent.elicit', ms) }),
      approval: (id) => nobody(id, 'approval'),
      event: (id) => nobody(id, 'event'),
    };
  }

  /** Missing capabilities: dependent steps throw `ClientCannot`. */
  get deny(): { client(need: ClientNeed): TestSaga<P, Steps> } {
    return { client: (need) => this.#add({ kind: 'deny', need }) };
  }

  /** Cancels the saga instead of an answer. */
  get cancel(): { at(id: Id<Steps>, reason?: string): TestSaga<P, Steps> } {
    return { at: (id, reason) => this.#add({ kind: 'end', id, reason }) };
  }

  /**
   * Expects the run to fail with an error whose code or name is `reason`, or whose message contains
   * it. A run that ends otherwise throws. Without this word, explorers accept only a script whose
   * undisturbed run completes. Further words keep the expectation, and a second one replaces it.
   */
  expectFailure(reason: string): TestSaga<P, Steps> {
    return this.with({ kind: 'expectFailure', reason: reasonIn('expectFailure', reason) });
  }

  /**
   * Adds rules to the script, for explorers, and drops the expected failure: a disturbed run may end
   * otherwise.
   */
  with(...rules: readonly Rule[]): TestSaga<P, Steps> {
    const kept = this.rules.filter(({ kind }) => kind !== 'expectFailure');
    return new TestSaga<P, Steps>(this.saga, this.options, [...kept, ...rules]);
  }

  /**
   * Adds a rule that the author writes. An expected failure stays in the script: if it were dropped,
   * the test would pass without it, and nobody would notice.
   */
  #add(rule: Rule): TestSaga<P, Steps> {
    return new TestSaga<P, Steps>(this.saga, this.options, [...this.rules, rule]);
  }

  /** Drops rules from the script, for explorers. */
  without(at: number, count: number): TestSaga<P, Steps> {
    return new TestSaga<P, Steps>(
      this.saga,
      this.options,
      this.rules.filter((_, index) => index < at || index >= at + count),
    );
  }

  /**
   * Runs the saga to its end. Each turn has a new host to open the token, replay, continue, and
   * seal. Waits take no real time.
   * @throws SagaTestError for a question without an answer, an answer that is not accepted, a
   * replay that differs, a command without `yield*`, a fault that never applied, or an expected
   * failure that did not happen
   */
  async run(): Promise<SagaRun<Steps, ResultOf<P>>> {
    const world = new World(this.options, this.rules);
    const run = await this.runOn(world);
    assertApplied(world);
    return run;
  }

  /** Runs the saga in a prepared world, for explorers. */
  async runOn(world: World): Promise<SagaRun<Steps, ResultOf<P>>> {
    await begin(world, this.saga);
    const serving = new Serving(this.saga, world);
    return new SagaRun(this.saga, world, serving, await play(this.saga, world, serving));
  }

  /** Source code of the script, without its run. */
  get source(): string {
    return scriptExpression(this.saga.name, this.options, this.rules);
  }

  /** Source code of the script and its run, ready to paste. */
  toString(): string {
    return scriptSource(this.saga.name, this.options, this.rules);
  }
}

/** Answers, and stand-ins for steps. */
export interface On<P extends Program, Steps extends object> {
  /** Accepts a form with content, or with the result of a function of the question. */
  elicit<K extends Id<Steps>>(id: K, answer: Answer<Steps[K]>): TestSaga<P, Steps>;
  /** Accepts to open a page. */
  url(id: Id<Steps>): TestSaga<P, Steps>;
  /** Answers for the model. */
  sample(id: Id<Steps>, answer: Sample): TestSaga<P, Steps>;
  roots(id: Id<Steps>, roots: readonly Root[]): TestSaga<P, Steps>;
  /**
   * Replaces the code of a step, a poll, or an undo (`~id`) with a result or a function. Without a
   * stand-in, the code runs.
   *
   * `x/deliver`, `x/remind`, and `x/escalate` of an approval `x` replace its `deliver`, and
   * `x/register` the `register` of an event. The function gets the link, and its result is ignored.
   */
  step<K extends Id<Steps>>(id: K, result: StandIn<Steps[K]>): TestSaga<P, Steps>;
  /**
   * Answers an approval. `true` or `false`: everybody approves or denies immediately. A list: these
   * people answer, each after a duration, `after`.
   */
  approval(
    id: Id<Steps>,
    answer: boolean | OutsideGiven | readonly OutsideGiven[],
  ): TestSaga<P, Steps>;
  /**
   * Sends the event that `waitFor` waits for, a duration `after` the start of the wait.
   * @default 0
   */
  event(id: Id<Steps>, content: unknown, at?: { readonly after?: Duration }): TestSaga<P, Steps>;
}

/** Failures. */
export interface Fail<P extends Program, Steps extends object> {
  /**
   * Throws in place of the code, without an effect. `from`: number of the first failing run, from
   * 1.
   */
  step(
    id: Id<Steps>,
    error: unknown,
    times?: Times & { readonly from?: number },
  ): TestSaga<P, Steps>;
  /** Throws in the undo of a step. */
  undo(id: Id<Steps>, error: unknown, times?: Times): TestSaga<P, Steps>;
  /** Answers a question with an error of the client. */
  client(id: Id<Steps>, message: string): TestSaga<P, Steps>;
}

/**
 * Begins a script with a saga, its arguments, and its world.
 * @example
 * ```ts
 * import { elicit, saga } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   const { sure } = yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
 *   return sure ? 'ordered' : 'kept';
 * });
 * const run = await testSaga(order).on.elicit('sure', { sure: true }).run();
 * console.log(run.status, String(run.trace));
 * ```
 */
export function testSaga<P extends Program>(
  saga: P,
  ...[options]: OptionsParameter<P>
): TestSaga<P> {
  assertSaga('testSaga', saga);
  assertKnownOptions('testSaga', options, testSagaNames, ' The arguments of the saga are `input`.');
  return new TestSaga<P>(saga, options ?? {}, []);
}

function toGiven(
  of: string,
  answer: boolean | OutsideGiven | readonly OutsideGiven[],
): boolean | readonly OutsideGiven[] {
  if (typeof answer === 'boolean') return answer;
  const given = [answer].flat();
  for (const one of given) {
    assertKnownOptions(of, one, { approved: true, by: true, content: true, after: true });
    const { after = 0 } = one;
    if (!(millisecondsOf(after) >= 0))
      throw new SagaTestError('script', `after of ${of} takes ${durationForms}.`);
  }
  return given;
}

function timesIn(of: string, at: Times = {}): number {
  assertKnownOptions(of, at, { times: true });
  return at.times ?? Infinity;
}

function runIn(of: string, at: { readonly run?: number } = {}): number {
  assertKnownOptions(of, at, { run: true });
  return at.run ?? 1;
}

/** Checks the reason of an expected failure. An empty one would fit each error. */
export function reasonIn(of: string, reason: unknown): string {
  if (typeof reason === 'string' && reason !== '') return reason;
  throw new SagaTestError(
    'script',
    `${of}: the reason must be the code or the name of the error, or a part of its message.`,
  );
}

function positive(of: string, ms: number): number {
  if (typeof ms === 'number' && Number.isFinite(ms) && ms > 0) return ms;
  throw new SagaTestError('script', `${of}: the time must be a positive number of milliseconds.`);
}
