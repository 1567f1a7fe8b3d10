import type { Program } from '@mcp-saga/server';
import type { ClientNeed, Root } from '@mcp-saga/server/internal';
import type { Answer, AnySteps, Sample, StandIn } from '../script/answer-types.ts';
import { assertApplied } from './never-applied.ts';
import { begin, play } from './play.ts';
import type { Rule } from '../script/rules.ts';
import { SagaRun } from './saga-run.ts';
import { Serving } from './serving.ts';
import { scriptExpression, scriptSource } from '../script/script-source.ts';
import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions, assertSaga } from '../values/known-options.ts';
import { World } from '../world/world.ts';
import {
  testSagaNames,
  type OptionsParameter,
  type ResultOf,
  type TestSagaOptions,
} from '../script/test-options.ts';

/** How often a fault holds. Default: always. */
export interface Times {
  readonly times?: number;
}

/** A script, whatever the types of its steps: what those who explore start from. */
export interface Script {
  readonly saga: Program;
  readonly options: TestSagaOptions;
  readonly rules: readonly Rule[];
}

type Id<Steps> = keyof Steps & string;

/**
 * A saga and a script of the world around it: who answers what, and what goes wrong. It never changes: each word gives a
 * new script, so that one can be the start of many. What is said later about a step holds.
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
   * Names the steps of the saga and the values they give, once: from here on ids are completed and values are checked.
   *
   * `testSaga(deploy).steps<{ target: { target: string }; safety: SampleResult; release: Release }>()`
   */
  steps<S extends object>(): TestSaga<P, S> {
    return new TestSaga<P, S>(this.saga, this.options, this.rules);
  }

  /** What answers, and what stands in for a step. An id holds for its repetitions too: `item` for `item#2`. */
  get on(): On<P, Steps> {
    return {
      elicit: (id, answer) => this.with({ kind: 'answer', id, answer }),
      url: (id) => this.with({ kind: 'answer', id, answer: {} }),
      sample: (id, answer) => this.with({ kind: 'sample', id, answer }),
      roots: (id, roots) => this.with({ kind: 'roots', id, roots }),
      step: (id, result) => this.with({ kind: 'step', id, result }),
    };
  }

  /** What fails. `~id` is the undo of a step. */
  get fail(): Fail<P, Steps> {
    return {
      step: (id, error, at = {}) => {
        assertKnownOptions('fail.step', at, { times: true, from: true });
        const { times = Infinity, from } = at;
        return this.with({ kind: 'fail', id, error, times, ...(from === undefined ? {} : { from }) });
      },
      undo: (id, error, at) =>
        this.with({ kind: 'fail', id: `~${id}`, error, times: timesIn('fail.undo', at) }),
      client: (id, message) => this.with({ kind: 'clientError', id, message }),
    };
  }

  /** What takes too long: its code does not run, and its own timeout passes; nobody knows what became of it. */
  get timeout(): { step(id: Id<Steps>, times?: Times): TestSaga<P, Steps> } {
    return { step: (id, at) => this.with({ kind: 'timeout', id, times: timesIn('timeout.step', at) }) };
  }

  /** What is lost on the way back: `step`, the response of what it calls, after it had its effect; `response`, the host's. */
  get lose(): {
    step(id: Id<Steps>, times?: Times): TestSaga<P, Steps>;
    response(turn: number): TestSaga<P, Steps>;
  } {
    return {
      step: (id, at) => this.with({ kind: 'lose', id, times: timesIn('lose.step', at) }),
      response: (turn) => this.with({ kind: 'loseResponse', turn }),
    };
  }

  /** Where the process dies: the client sends the request again, to another one. `run`: at which run of the code, from 1. */
  get crash(): {
    before(id: Id<Steps>, at?: { readonly run?: number }): TestSaga<P, Steps>;
    after(id: Id<Steps>, at?: { readonly run?: number }): TestSaga<P, Steps>;
  } {
    return {
      before: (id, at) => this.with({ kind: 'crash', id, when: 'before', run: runIn('crash.before', at) }),
      after: (id, at) => this.with({ kind: 'crash', id, when: 'after', run: runIn('crash.after', at) }),
    };
  }

  /** Who says no. Default `decline`; `cancel`: dismisses the question. */
  get refuse(): { elicit(id: Id<Steps>, action?: 'decline' | 'cancel'): TestSaga<P, Steps> } {
    return { elicit: (id, action = 'decline') => this.with({ kind: 'refuse', id, action }) };
  }

  /** Delays the answer to a question, or the answer of a model, by `ms` milliseconds after it was asked. */
  get late(): { elicit(id: Id<Steps>, ms: number): TestSaga<P, Steps> } {
    return { elicit: (id, ms) => this.with({ kind: 'late', id, ms: positive('late.elicit', ms) }) };
  }

  /** Leaves a question without an answer: the client returns every `ms` milliseconds without one. */
  get silent(): { elicit(id: Id<Steps>, ms: number): TestSaga<P, Steps> } {
    return { elicit: (id, ms) => this.with({ kind: 'silent', id, ms: positive('silent.elicit', ms) }) };
  }

  /** What the client cannot do: `ClientCannot` at the steps that need it. */
  get deny(): { client(need: ClientNeed): TestSaga<P, Steps> } {
    return { client: (need) => this.with({ kind: 'deny', need }) };
  }

  /** Where the saga is cancelled: when a question is asked, in place of an answer. */
  get cancel(): { at(id: Id<Steps>, reason?: string): TestSaga<P, Steps> } {
    return { at: (id, reason) => this.with({ kind: 'end', id, reason }) };
  }

  /** The script with more lines. */
  with(...rules: readonly Rule[]): TestSaga<P, Steps> {
    return new TestSaga<P, Steps>(this.saga, this.options, [...this.rules, ...rules]);
  }

  /** The script with some lines left out; for those who look for a smaller one. */
  without(at: number, count: number): TestSaga<P, Steps> {
    return new TestSaga<P, Steps>(
      this.saga,
      this.options,
      this.rules.filter((_, index) => index < at || index >= at + count),
    );
  }

  /**
   * Runs the saga to its end: a real host for every turn, that opens the token of the one before, replays, goes on and
   * seals. Time passes by itself.
   *
   * @throws SagaTestError where a question is not answered, an answer is not accepted, a replay does something else, a
   *   command was never yielded, or what the script lets go wrong never came to pass
   */
  async run(): Promise<SagaRun<Steps, ResultOf<P>>> {
    const world = new World(this.options, this.rules);
    const run = await this.runOn(world);
    assertApplied(world);
    return run;
  }

  /** Runs it in a world that was prepared, for explorers. */
  async runOn(world: World): Promise<SagaRun<Steps, ResultOf<P>>> {
    await begin(world, this.saga);
    const serving = new Serving(this.saga, world);
    return new SagaRun(this.saga, world, serving, await play(this.saga, world, serving));
  }

  /** The script as source code, not run: for what takes a script. */
  get source(): string {
    return scriptExpression(this.saga.name, this.options, this.rules);
  }

  /** The script as source code, ready to paste. */
  toString(): string {
    return scriptSource(this.saga.name, this.options, this.rules);
  }
}

/** What answers, and what stands in for a step. */
export interface On<P extends Program, Steps extends object> {
  /** The user accepts a form with this content, or with what a function makes of the question. */
  elicit<K extends Id<Steps>>(id: K, answer: Answer<Steps[K]>): TestSaga<P, Steps>;
  /** The user agrees to open the page. */
  url(id: Id<Steps>): TestSaga<P, Steps>;
  /** The client's model says this. */
  sample(id: Id<Steps>, answer: Sample): TestSaga<P, Steps>;
  roots(id: Id<Steps>, roots: readonly Root[]): TestSaga<P, Steps>;
  /**
   * Stands in for the code of a step, or of a poll: its result, or a function that is called in its place. Without one the
   * saga's own code runs. `~id` is the undo of a step.
   */
  step<K extends Id<Steps>>(id: K, result: StandIn<Steps[K]>): TestSaga<P, Steps>;
}

/** What fails. */
export interface Fail<P extends Program, Steps extends object> {
  /** The step throws, and its code does not run: known to have had no effect. `from`: run of its code to start at, from 1. */
  step(id: Id<Steps>, error: unknown, times?: Times & { readonly from?: number }): TestSaga<P, Steps>;
  /** The undo of the step throws. */
  undo(id: Id<Steps>, error: unknown, times?: Times): TestSaga<P, Steps>;
  /** The client answers the question with an error. */
  client(id: Id<Steps>, message: string): TestSaga<P, Steps>;
}

/** Begins a script: a saga, its arguments, and the world it starts in: `testSaga(order, { input: { cents: 900 } })`. */
export function testSaga<P extends Program>(saga: P, ...[options]: OptionsParameter<P>): TestSaga<P> {
  assertSaga('testSaga', saga);
  assertKnownOptions('testSaga', options, testSagaNames, ' The arguments of the saga are `input`.');
  return new TestSaga<P>(saga, options ?? {}, []);
}

function timesIn(of: string, at: Times = {}): number {
  assertKnownOptions(of, at, { times: true });
  return at.times ?? Infinity;
}

function runIn(of: string, at: { readonly run?: number } = {}): number {
  assertKnownOptions(of, at, { run: true });
  return at.run ?? 1;
}

function positive(of: string, ms: number): number {
  if (typeof ms === 'number' && Number.isFinite(ms) && ms > 0) return ms;
  throw new SagaTestError('script', `${of}: the time must be a positive number of milliseconds.`);
}
