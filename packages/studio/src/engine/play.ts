import type { Program } from '@mcp-saga/server';
import type { HistoryEntry } from '@mcp-saga/server/internal';
import { formatRecording, SagaTestError, type Point } from '@mcp-saga/testing';
import { answerWith, begin, play, recordingOf } from '@mcp-saga/testing/internal';
import { Serving, World, worldAt, wrapProgram } from '@mcp-saga/testing/internal';
import type { Act, Fork, Session } from '../model/session.ts';
import type { Lane, LensView, MachineTrace } from '../model/view.ts';
import { testOf, toRule, type Segment } from './export-test.ts';
import { answerValue, denied, isGiven, Paused, Person, withValue } from './person.ts';
import { machines, type Playground } from './playground.ts';
import { toEntryView, toOutsideView, toQuestionView, toText, withReads } from './to-view.ts';

interface Played extends Segment {
  /** Number of the tokens before, for a fork. */
  readonly before: number;
  readonly serving: Serving;
  readonly person: Person;
  readonly isWaiting: boolean;
  readonly error: unknown;
  readonly machine: MachineTrace | undefined;
  readonly journal: Parameters<typeof withReads>[1];
  readonly from: (NonNullable<Segment['from']> & { readonly lane: number }) | undefined;
}

type Start = Omit<Played, 'isWaiting' | 'error' | 'journal'>;

/** Rules that the person replaces. */
const personal = /^(?:answer|refuse|sample|roots|clientError|outside|late|silent)$/;

/** Plays a session from the start: the run, then each fork. */
export class SessionPlayer {
  readonly #playground: Playground;
  readonly #session: Session;
  readonly #played: Played[] = [];
  /** Reads the journal after the newest turn: since the last `continueAs`. */
  #history: () => readonly HistoryEntry[] = () => [];

  constructor(playground: Playground, session: Session) {
    this.#playground = playground;
    this.#session = session;
  }

  async play(): Promise<void> {
    const { answers, forks } = this.#session;
    await this.#run(answers);
    for (const fork of forks) await this.#fork(fork);
  }

  get lanes(): readonly Lane[] {
    return this.#played.map((played) => this.#lane(played));
  }

  /** The run without its forks. Call `play` before. */
  get run(): Segment {
    return this.#played[0] as Played;
  }

  /** Formats the recording of a lane as JSON. Call `play` before. */
  recording(lane: number): string {
    return formatRecording(recordingOf((this.#played[lane] as Played).world));
  }

  /** Opens a token for the lens, and sends a changed one if `isChanged`. Call `play` before. */
  async lens(lane: number, point: number, isChanged: boolean): Promise<LensView> {
    const { world, serving } = this.#played[lane] as Played;
    const { token, time } = world.points[point] as Point;
    const { claims, keyId, parts, timeline = [] } = await serving.inspect(world, token);
    const refusal = isChanged ? await tamper(world, serving, token) : undefined;
    return { token, ttlMs: claims.exp - time, keyId, parts, timeline, refusal };
  }

  async #run(acts: readonly Act[]): Promise<void> {
    const { script } = this.#playground;
    const kept = script.rules.filter(({ kind }) => !personal.test(kind));
    const sagas = (script.options.sagas ?? []).map((each) => this.#noting(each));
    const world = new World({ ...script.options, sagas }, [...kept, ...denied(this.#session)]);
    const serving = new Serving(this.#noting(script.saga), world);
    const person = new Person(world, acts, script.rules, this.#session);
    const start = { world, serving, person, before: 0, from: undefined, machine: undefined };
    await this.#playTo(start, async () => {
      await begin(world, script.saga);
      await play(script.saga, world, serving);
    });
  }

  async #fork({ lane, point, answers: acts }: Fork): Promise<void> {
    const { script } = this.#playground;
    const before = this.#played[lane];
    const from = before?.world.points[point];
    if (before === undefined || from === undefined) return;
    const { serving } = before;
    const [first, ...others] = acts;
    const given = first !== undefined && isGiven(first) ? first : undefined;
    const step = from.asked.find(({ stepId }) => stepId === given?.id);
    const chosen = given && step && withValue(given, step, script.rules);
    const answers = [
      ...from.answers.filter(({ stepId }) => stepId !== step?.stepId),
      ...(chosen === undefined || step === undefined
        ? []
        : [answerWith(step, answerValue(chosen))]),
    ];
    const request = { type: 'resume', token: from.token, answers } as const;
    const number = before.before + point + 1;
    const to = chosen?.id ?? `token ${number}`;
    const world = worldAt(before.world, before.world.trace, from, { to, request, id: chosen?.id });
    const person = new Person(
      world,
      chosen === undefined ? acts : others,
      script.rules,
      this.#session,
    );
    person.inherit(before.person, point);
    const { chart, changes = [] } = before.machine ?? {};
    const machine = chart && { chart, changes: changes.filter(({ turn }) => turn <= from.turn) };
    const start = {
      world,
      serving,
      person,
      before: number,
      from: { lane, point, chosen },
      machine,
    };
    await this.#playTo(start, async () => {
      await play(script.saga, world, serving, { first: request });
    });
  }

  #noting(program: Program): Program {
    return wrapProgram(program, (engine) => ({
      advance: async (...turn) => {
        const outcome = await engine.advance(...turn);
        const { state } = outcome;
        // A state that no replay reaches again is undefined.
        if (state !== undefined) this.#history = () => engine.history?.(state).entries ?? [];
        return outcome;
      },
    }));
  }

  /** Plays until the end, or until the run waits for the person. */
  async #playTo(start: Start, run: () => Promise<unknown>): Promise<void> {
    const trace = machines.trace?.(start.world, start.machine);
    this.#history = () => [];
    const error = await run().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const isWaiting =
      error instanceof Paused || (error instanceof SagaTestError && error.code === 'unanswered');
    const found = { isWaiting, error: isWaiting ? undefined : error, machine: trace?.() };
    const journal = this.#history().map(({ path, ...entry }) => ({
      ...entry,
      id: start.world.idOf(path),
    }));
    this.#played.push({ ...start, ...found, journal });
  }

  #lane(played: Played): Lane {
    const { before, world, person, isWaiting, error, from, machine, journal } = played;
    const { rules } = this.#playground.script;
    const given = [...rules, ...person.given.map(toRule)];
    const stops = person.stops.map(({ dueInMs, outside, acts }) => ({
      dueInMs: Number.isFinite(dueInMs) ? dueInMs : undefined,
      outside: outside.map((asked) => toOutsideView(asked, rules)),
      acts,
    }));
    const tokens = world.points.map(({ token, asked, traced }, at) => {
      const { outside = [], acts = 0 } = stops[at] ?? {};
      const questions = [...asked.map((step) => toQuestionView(step, rules)), ...outside];
      return { number: before + at + 1, bytes: token.length, questions, acts, traced };
    });
    const question = world.points
      .at(-1)
      ?.asked.find(({ stepId }) => stepId === person.question?.stepId);
    return {
      status: statusOf(played),
      entries: withReads(Array.from(world.trace, toEntryView), journal),
      tokens,
      // A repeated question starts with the rejected answer.
      question: isWaiting && question !== undefined ? toQuestionView(question, given) : undefined,
      pause: isWaiting ? stops.at(-1) : undefined,
      error: error === undefined ? undefined : toText(error),
      from: from === undefined ? undefined : before,
      test: this.#testOf(played),
      // Nothing ran for a stored response, so the states are unknown.
      machine: world.trace.some(({ type }) => type === 'repeated') ? undefined : machine,
    };
  }

  /**
   * Prints a test of a lane; undefined if the lane or an earlier lane has not ended, or if a fork
   * needs another script.
   */
  #testOf(lane: Played): string | undefined {
    const path = [lane];
    for (let at = lane.from; at !== undefined; at = path[0]?.from)
      path.unshift(this.#played[at.lane] as Played);
    if (path.some(({ isWaiting, error }) => isWaiting || error !== undefined)) return undefined;
    const own = path.slice(1).flatMap(({ person }) => person.given.map(toRule));
    const rules = [...own, ...path.flatMap(({ person }) => person.rules)];
    const isStored = path.some(({ world }) => world.trace.some(({ type }) => type === 'repeated'));
    // A test has one script for all its lanes.
    const isOwn =
      isStored || rules.some(({ kind }) => /^(?:outside|late|silent|refuse)$/.test(kind));
    if (path.length > 1 && isOwn) return undefined;
    return testOf(this.#playground, path);
  }
}

function statusOf({ world, isWaiting, error }: Played): Lane['status'] {
  if (error !== undefined) return 'broken';
  if (isWaiting) return 'waiting';
  const last = world.trace.at(-1)?.type;
  return last === 'completed' || last === 'refused' ? last : 'failed';
}

/** Sends a token with one changed character to the host. */
async function tamper(world: World, serving: Serving, token: string): Promise<LensView['refusal']> {
  const at = Math.floor((token.lastIndexOf('.') + token.split('.', 3).join('.').length) / 2);
  const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
  try {
    await serving.serve(world, { type: 'resume', token: changed, answers: [] });
  } catch (error) {
    const { code, message, reason } = error as Error & {
      readonly code?: string;
      readonly reason?: string;
    };
    return { client: `${code ?? 'error'}: ${message}`, operator: reason ?? message };
  }
  throw new Error('The host accepted a changed token.');
}
