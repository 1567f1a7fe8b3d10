import type { Program } from '@mcp-saga/server';
import { answerWith } from '../world/world-answers.ts';
import { noteRun } from '../report/coverage.ts';
import { SagaTestError } from '../values/errors.ts';
import { indented } from '../values/show.ts';
import type { Effect } from '../world/world-effects.ts';
import { mermaidOf } from '../report/trace-diagram.ts';
import { svgOf } from '../report/trace-svg.ts';
import { play, type Played } from './play.ts';
import type { Recording } from '../record/recording.ts';
import { saveRecording } from '../record/save-recording.ts';
import { recordingOf } from './record-run.ts';
import type { Ended, Serving, TestRequest } from './run-host.ts';
import { World, type Point } from '../world/world.ts';
import { standingIn } from '../world/watch-providers.ts';
import { idsMeant, suggestId } from '../values/step-ids.ts';
import { lineOf, type Trace, type TraceEntry } from '../report/trace.ts';

/** Answer of a fork: a refusal, content of a form, or text of a model. */
export type ForkAnswer<T> = T | 'decline' | 'cancel';

type PlayedOn = Readonly<{ program: Program; world: World; serving: Serving }>;

/** Result of `testSaga(…).run()`. */
export class SagaRun<Steps extends object = Record<string, unknown>, Result = unknown> {
  /**
   * `refused`: the host rejected a request. The token was used, the client lacks a capability, or
   * the code changed.
   */
  readonly status: 'completed' | 'failed' | 'refused';
  /** Error of the saga, or of the refused request; undefined if the saga completed. */
  readonly error: unknown;
  /** IDs of the undone steps, last first, as the client sees them. */
  readonly compensated: readonly string[];
  /** IDs of the uncompensated steps, as the client sees the IDs. */
  readonly uncompensated: readonly string[];
  /** IDs of the steps whose effects remain in the `providers` of the test. */
  readonly standing: readonly string[];
  /** Events, in order. `String(run.trace)` is readable. */
  readonly trace: Trace;
  /** Effects of the steps, by idempotency key. Shared with forks. */
  readonly effects: readonly Effect[];
  /** Advice for the author. */
  readonly warnings: readonly string[];
  /** Errors that only an operator would see. */
  readonly errors: readonly unknown[];
  /** Suspensions, in order. */
  readonly points: readonly Point[];
  readonly #played: PlayedOn;
  readonly #ended: Ended;

  constructor(program: Program, world: World, serving: Serving, { ended, points }: Played) {
    this.#ended = ended;
    this.#played = { program, world, serving };
    this.status = ended.status;
    this.error = 'error' in ended ? ended.error : undefined;
    this.compensated =
      ended.status === 'failed' ? ended.compensated.map(({ stepId }) => stepId) : [];
    this.uncompensated =
      ended.status === 'failed' ? ended.uncompensated.map(({ stepId }) => stepId) : [];
    this.standing = standingIn(world);
    this.trace = world.trace;
    this.effects = world.ledger.effects;
    this.warnings = world.warnings;
    this.errors = world.errors;
    this.points = points;
    noteRun(program, this);
  }

  /**
   * Result of the saga.
   * @throws SagaTestError `no_result` if the run failed or was refused, with the error of the run
   * as `cause`
   */
  get result(): Result {
    const { status } = this.#ended;
    if (status === 'completed') return this.#ended.result as Result;
    throw new SagaTestError(
      'no_result',
      `The run has no result, because the saga ${status === 'failed' ? 'failed' : 'was refused'}. ` +
        `Check run.status and run.error.\n\nWhat happened:\n\n${indented(String(this.trace))}`,
      { cause: this.error },
    );
  }

  /**
   * Recording of the run, for `replayRecordings` of `@mcp-saga/testing/node`.
   * @throws SagaTestError `script` if the host refused a request
   */
  get recording(): Recording {
    return recordingOf(this.#played.world);
  }

  /**
   * Writes the recording to a file. Throws `script` without a file system, such as in a browser.
   */
  async save(file: string | URL): Promise<void> {
    saveRecording(file, this.recording);
  }

  /** Formats the run as a Mermaid sequence diagram of client, server, and world. */
  toMermaid(): string {
    return mermaidOf(this.trace);
  }

  /**
   * Draws the run as an SVG file: a row for each event, between client, server, and outside world.
   */
  toSvg(): string {
    const entries = Array.from(this.trace, (entry) => ({ ...entry, text: lineOf(entry) }));
    return svgOf(this.#played.program.name, entries);
  }

  /**
   * Returns the token of the first time of a question.
   * @throws SagaTestError `script` if it was not asked
   */
  at<K extends keyof Steps & string>(id: K): TimeTravel<Steps, Steps[K], Result> {
    const asked = this.points.flatMap((each) => each.asked.map((step) => step.stepId));
    const [meant] = idsMeant(id, asked);
    const point = this.points.find((each) => each.asked.some((step) => step.stepId === meant));
    if (point !== undefined) return new TimeTravel(this.#played, this, point, meant);
    throw new SagaTestError(
      'script',
      `run.at: '${id}' was not asked.${suggestId(id, asked)} Questions of the run: ${asked.join(', ') || 'none'}.`,
    );
  }

  /**
   * Returns the token of some turns ago; 1 is the last token.
   * @throws SagaTestError `script` if there were fewer turns
   */
  back(turns: number): TimeTravel<Steps, unknown, Result> {
    const point = this.points.at(-turns);
    if (point !== undefined && turns > 0)
      return new TimeTravel(this.#played, this, point, point.asked[0]?.stepId);
    throw new SagaTestError(
      'script',
      `run.back: the run has ${this.points.length} tokens: back(1) to back(${this.points.length}).`,
    );
  }
}

/** An older token of a run, which a client may use again. */
export class TimeTravel<Steps extends object, T, Result> {
  readonly #played: PlayedOn;
  readonly #run: Pick<SagaRun, 'trace'>;
  readonly #id: string | undefined;
  /** Point of the token. */
  readonly point: Point;

  constructor(played: PlayedOn, run: Pick<SagaRun, 'trace'>, point: Point, id: string | undefined) {
    this.#played = played;
    this.#run = run;
    this.#id = id;
    this.point = point;
  }

  /**
   * Uses the token again at its time, with another answer or the same answers, and continues with
   * the script. Effects after the token remain. If a guard rejects the other answer, the run is
   * `refused`.
   */
  async fork(
    answer?: ForkAnswer<unknown extends T ? object | string : T>,
  ): Promise<SagaRun<Steps, Result>> {
    const id = this.#id;
    const { answers: first, asked } = this.point;
    const answers = first.map((given) => {
      const step = answer === undefined ? undefined : asked.find(({ stepId }) => stepId === id);
      return step === undefined || given.stepId !== id ? given : answerWith(step, answer);
    });
    const request = { type: 'resume', token: this.point.token, answers } as const;
    return await this.#go(
      id ?? `turn ${this.point.turn}`,
      request,
      answer === undefined ? undefined : id,
    );
  }

  /**
   * Cancels the saga with the token. Undoes the steps before the token, unless a guard knows a
   * newer token.
   */
  async cancel(reason?: string): Promise<SagaRun<Steps, Result>> {
    return await this.#go(this.#id ?? `turn ${this.point.turn}`, {
      type: 'cancel',
      token: this.point.token,
      reason,
    });
  }

  async #go(to: string, request: TestRequest, id?: string): Promise<SagaRun<Steps, Result>> {
    const { program, world: before, serving } = this.#played;
    const world = worldAt(before, this.#run.trace, this.point, { to, request, id });
    return new SagaRun(
      program,
      world,
      serving,
      await play(program, world, serving, { first: request }),
    );
  }
}

/** Request with an older token. */
interface Return {
  /** Name of the point in the trace. */
  readonly to: string;
  readonly request: TestRequest;
  /** Question with another answer. */
  readonly id?: string | undefined;
}

/** Makes the world of a run that returns to a point. */
export function worldAt(
  before: World,
  trace: Iterable<TraceEntry>,
  point: Point,
  { to, request, id }: Return,
): World {
  const world = new World(before.options, before.rules.all, before);
  world.clock.reset(point.time);
  world.turn = point.turn;
  world.restarts = before.restarts;
  world.mayMismatch = before.mayMismatch;
  world.autoAnswer = before.autoAnswer;
  world.trace.push(...[...trace].slice(0, point.traced));
  world.tell({ type: 'forked', id: to });
  world.turn += 1;
  if (request.type === 'cancel')
    world.tell({ type: 'cancelledFromOutside', reason: request.reason });
  world.asked = new Map(point.asked.map((step) => [step.stepId, step]));
  if (request.type === 'resume') {
    world.sent = new Map(request.answers.map((each) => [each.stepId, each]));
    for (const { stepId } of request.answers) world.answered.set(stepId, 1);
    if (id !== undefined) world.forked.add(id);
  }
  return world;
}
