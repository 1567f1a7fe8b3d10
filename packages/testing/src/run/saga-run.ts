import type { ClientStep, Program, StepAnswer } from '@mcp-saga/server';
import { answerOf } from '../world/answer-question.ts';
import { noteRun } from '../report/coverage.ts';
import { SagaTestError } from '../values/errors.ts';
import type { Effect } from '../world/effect-ledger.ts';
import { mermaidOf } from '../report/trace-diagram.ts';
import { play, type Played, type Point } from './play.ts';
import type { Recording } from '../record/journal-recording.ts';
import { recordingOf } from './record-run.ts';
import type { Rule } from '../script/rules.ts';
import type { Serving, TestRequest } from './serving.ts';
import { World } from '../world/world.ts';
import { standingIn } from '../world/watch-providers.ts';
import { idsMeant } from '../values/step-ids.ts';
import type { Trace } from '../report/trace.ts';

/** What a fork answers otherwise: a refusal, the content of a form, or what a model says. */
export type ForkAnswer<T> = T | 'decline' | 'cancel';

/** What a run was played with. */
interface PlayedOn {
  readonly program: Program;
  readonly world: World;
  readonly serving: Serving;
}

/** A saga that a test has run to its end. */
export class SagaRun<Steps extends object = Record<string, unknown>, Result = unknown> {
  /**
   * `refused`: the host did not continue. Its guard knows that the token was used, the client lacks a capability that the saga
   * needs, or the code of the saga was changed.
   */
  readonly status: 'completed' | 'failed' | 'refused';
  /** What the saga returned; undefined where it failed. */
  readonly result: Result;
  /** What it failed with; undefined where it did not. */
  readonly error: unknown;
  /** The ids of the steps that were undone, last first, as the client is told. */
  readonly compensated: readonly string[];
  /** The ids of the steps that could not be undone, as the client is told. */
  readonly residue: readonly string[];
  /** IDs of the steps whose effects are in the `providers` of the test when the run ends: done, and not undone. */
  readonly standing: readonly string[];
  /** What happened, in order. `String(run.trace)` is a story. */
  readonly trace: Trace;
  /** What the steps did, by idempotency key; a run and its forks share it, as they share the world. */
  readonly effects: readonly Effect[];
  /** Advice for the author. */
  readonly warnings: readonly string[];
  /** Errors that nobody but an operator would hear of. */
  readonly errors: readonly unknown[];
  /** Where it was suspended, in order. */
  readonly points: readonly Point[];

  readonly #played: PlayedOn;

  constructor(program: Program, world: World, serving: Serving, { ended, points }: Played) {
    this.#played = { program, world, serving };
    this.status = ended.status;
    this.result = ('result' in ended ? ended.result : undefined) as Result;
    this.error = 'error' in ended ? ended.error : undefined;
    this.compensated = ended.status === 'failed' ? ended.compensated.map(({ stepId }) => stepId) : [];
    this.residue = ended.status === 'failed' ? ended.residue.map(({ stepId }) => stepId) : [];
    this.standing = standingIn(world);
    this.trace = world.trace;
    this.effects = world.ledger.effects;
    this.warnings = world.warnings;
    this.errors = world.errors;
    this.points = points;
    noteRun(program, this);
  }

  /**
   * What happened, as a file that later code can be tried on: see `replayRecordings` of `@mcp-saga/testing/node`.
   *
   * @throws SagaTestError where the saga did not end by itself
   */
  get recording(): Recording {
    return recordingOf(this.#played.world);
  }

  /** Writes the recording to a file; in Node, Bun and Deno. */
  async save(file: string | URL): Promise<void> {
    const { saveRecording } = await import('../record/replay/recording-files.ts');
    saveRecording(file, this.recording);
  }

  /** The run as a Mermaid sequence diagram: its turns between client, server and world. */
  toMermaid(): string {
    return mermaidOf(this.trace);
  }

  /**
   * Goes back to where a question was first asked: the token of then, which its client still has.
   *
   * @throws SagaTestError where it was not asked
   */
  at<K extends keyof Steps & string>(id: K): TimeTravel<Steps, Steps[K], Result> {
    const asked = this.points.flatMap((each) => each.asked.map((step) => step.stepId));
    const [meant] = idsMeant(id, asked);
    const point = this.points.find((each) => each.asked.some((step) => step.stepId === meant));
    if (point !== undefined) return new TimeTravel(this.#played, this, point, meant);
    throw new SagaTestError('script', `'${id}' was not asked. Asked were: ${asked.join(', ') || 'nothing'}.`);
  }

  /**
   * Goes back so many turns: 1 is the last token before the end.
   *
   * @throws SagaTestError where the saga had not so many
   */
  back(turns: number): TimeTravel<Steps, unknown, Result> {
    const point = this.points.at(-turns);
    if (point !== undefined && turns > 0)
      return new TimeTravel(this.#played, this, point, point.asked[0]?.stepId);
    throw new SagaTestError(
      'script',
      `There are ${this.points.length} tokens to go back to: back(1) to back(${this.points.length}).`,
    );
  }
}

/** An older token of a run: it can be used again, as its client can. */
export class TimeTravel<Steps extends object, T, Result> {
  readonly #played: PlayedOn;
  readonly #run: Pick<SagaRun, 'trace'>;
  readonly #id: string | undefined;
  /** Where it went back to. */
  readonly point: Point;

  constructor(played: PlayedOn, run: Pick<SagaRun, 'trace'>, point: Point, id: string | undefined) {
    this.#played = played;
    this.#run = run;
    this.#id = id;
    this.point = point;
  }

  /**
   * Uses the token again, with another answer or the same ones, and goes on by the same script. What the saga did after
   * it stays done: the world does not go back. A guard refuses another answer: the run is `refused`.
   */
  async fork(answer?: ForkAnswer<unknown extends T ? object | string : T>): Promise<SagaRun<Steps, Result>> {
    const id = this.#id;
    const answers = this.point.answers.map((given) =>
      answer === undefined || given.stepId !== id ? given : this.#otherwise(id, answer),
    );
    const request = { type: 'resume', token: this.point.token, answers } as const;
    return await this.#go(id ?? `turn ${this.point.turn}`, request, answer === undefined ? undefined : id);
  }

  /** Cancels the saga with the token: undone is what it did until then, if a guard does not know better. */
  async cancel(reason?: string): Promise<SagaRun<Steps, Result>> {
    return await this.#go(this.#id ?? `turn ${this.point.turn}`, {
      type: 'cancel',
      token: this.point.token,
      reason,
    });
  }

  async #go(to: string, request: TestRequest, id?: string): Promise<SagaRun<Steps, Result>> {
    const { program, world: before, serving } = this.#played;
    const { point } = this;
    const world = new World(before.options, before.rules.all, before);
    world.clock.reset(point.time);
    world.turn = point.turn;
    world.generation = point.generation;
    world.restarts = before.restarts;
    world.mayMismatch = before.mayMismatch;
    world.autoAnswer = before.autoAnswer;
    world.trace.push(...[...this.#run.trace].slice(0, point.traced));
    world.tell({ type: 'forked', id: to });
    world.turn += 1;
    world.asked = new Map(point.asked.map((step) => [step.stepId, step]));
    if (request.type === 'resume') {
      world.sent = new Map(request.answers.map((each) => [each.stepId, each]));
      for (const { stepId } of request.answers) world.answered.set(stepId, 1);
      if (id !== undefined) world.forked.add(id);
    }
    return new SagaRun(program, world, serving, await play(program, world, serving, { first: request }));
  }

  #otherwise(id: string, answer: unknown): StepAnswer {
    const step = this.point.asked.find(({ stepId }) => stepId === id) as ClientStep;
    const rule: Extract<Rule, { kind: 'refuse' | 'sample' | 'answer' }> =
      step.type === 'sampling'
        ? { kind: 'sample', id, answer }
        : answer === 'decline' || answer === 'cancel'
          ? { kind: 'refuse', id, action: answer }
          : { kind: 'answer', id, answer };
    return answerOf(step, rule, answer);
  }
}
