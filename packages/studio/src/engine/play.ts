import { formatRecording, SagaTestError, type Point, type Rule } from '@mcp-saga/testing';
import { answerWith, begin, play, recordingOf, Serving, World, worldAt } from '@mcp-saga/testing/internal';
import type { Act, ClientKind, CompiledFile, Fork, Given, Session } from '../model/session.ts';
import type { Lane, LensView, QuestionView } from '../model/view.ts';
import type { Refusal } from '../model/messages.ts';
import { answerValue, withValue } from './answer-value.ts';
import { evaluate, type Playground } from './evaluate.ts';
import { testOf } from './export-test.ts';
import { denied, isGiven, Paused, Person, type Stop } from './person.ts';
import { toEntryView, toOutsideView, toQuestionView, toText } from './to-view.ts';

interface Played {
  /** Number of the tokens before, for a fork. */
  readonly before: number;
  readonly world: World;
  readonly serving: Serving;
  readonly person: Person;
  readonly isWaiting: boolean;
  readonly error: unknown;
  readonly from: ForkFrom | undefined;
}

/** Token of a fork, and the first answer. */
interface ForkFrom {
  readonly lane: number;
  readonly point: number;
  readonly chosen: Given | undefined;
}

/** Rules that the person replaces. */
const personal: ReadonlySet<Rule['kind']> = new Set<Rule['kind']>([
  'answer',
  'refuse',
  'sample',
  'roots',
  'clientError',
  'outside',
  'late',
  'silent',
]);

/** Plays a session from the start: the run, then each fork. */
export class SessionPlayer {
  readonly #playground: Playground;
  readonly #session: Session;
  readonly #played: Played[] = [];

  constructor(files: readonly CompiledFile[], session: Session) {
    this.#playground = evaluate(files);
    this.#session = session;
  }

  /** Plays all lanes, in order. */
  async play(): Promise<void> {
    const { answers, forks } = this.#session;
    await this.#run(answers);
    for (const fork of forks) await this.#fork(fork);
  }

  /** Lanes that were played. */
  get lanes(): readonly Lane[] {
    return this.#played.map((played) => this.#lane(played));
  }

  /** The run without its forks. Call `play` before. */
  get run(): Pick<Person, 'given' | 'rules'> & {
    readonly playground: Playground;
    readonly points: readonly Point[];
  } {
    const { world, person } = this.#played[0] as Played;
    return { playground: this.#playground, points: world.points, given: person.given, rules: person.rules };
  }

  /** Formats the recording of a lane as JSON. Call `play` before. */
  recording(lane: number): string {
    const { world } = this.#played[lane] as Played;
    return formatRecording(recordingOf(world));
  }

  /** Sends a token with one changed character to the host. Call `play` before. */
  async tamper(lane: number, point: number): Promise<Refusal> {
    const { world, serving } = this.#played[lane] as Played;
    const { token = '' } = world.points[point] ?? {};
    const at = Math.floor((token.lastIndexOf('.') + token.split('.', 3).join('.').length) / 2);
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    try {
      await serving.serve(world, { type: 'resume', token: changed, answers: [] });
    } catch (error) {
      const { code, message, reason } = error as Error & { readonly code?: string; readonly reason?: string };
      return { client: `${code ?? 'error'}: ${message}`, operator: reason ?? message };
    }
    throw new Error('The host accepted a changed token.');
  }

  /** Opens a token for the lens. Call `play` before. */
  async lens(lane: number, point: number): Promise<LensView> {
    const { world, serving } = this.#played[lane] as Played;
    const { token, time } = world.points[point] as Point;
    const { claims, keyId, timeline = [] } = await serving.inspect(world, token);
    return { token, ttlMs: claims.exp - time, keyId, timeline };
  }

  async #run(acts: readonly Act[]): Promise<void> {
    const { script } = this.#playground;
    const world = new World(script.options, [
      ...script.rules.filter(({ kind }) => !personal.has(kind)),
      ...denied(this.#client),
    ]);
    const serving = new Serving(script.saga, world);
    const person = this.#person(world, acts);
    await this.#playTo({ world, serving, person, before: 0, from: undefined }, async () => {
      await begin(world, script.saga);
      await play(script.saga, world, serving);
    });
  }

  async #fork({ lane, point, answers: acts }: Fork): Promise<void> {
    const before = this.#played[lane];
    const from = before?.world.points[point];
    if (before === undefined || from === undefined) return;
    const { serving } = before;
    const [first, ...others] = acts;
    const step = from.asked.find(({ stepId }) => first !== undefined && 'id' in first && stepId === first.id);
    const chosen =
      first !== undefined && isGiven(first) && step !== undefined
        ? withValue(first, step, this.#playground.script.rules)
        : undefined;
    const answers = [
      ...from.answers.filter(({ stepId }) => stepId !== step?.stepId),
      ...(chosen === undefined || step === undefined ? [] : [answerWith(step, answerValue(chosen))]),
    ];
    const request = { type: 'resume', token: from.token, answers } as const;
    const to = chosen?.id ?? `token ${before.before + point + 1}`;
    const world = worldAt(before.world, before.world.trace, from, { to, request, id: chosen?.id });
    const person = this.#person(world, chosen === undefined ? acts : others);
    person.inherit(before.person, point);
    const start = {
      world,
      serving,
      person,
      before: before.before + point + 1,
      from: { lane, point, chosen },
    };
    await this.#playTo(start, async () => {
      await play(this.#playground.script.saga, world, serving, { first: request });
    });
  }

  get #client(): ClientKind {
    return this.#session.client ?? 'complete';
  }

  #person(world: World, acts: readonly Act[]): Person {
    const { rules } = this.#playground.script;
    return new Person(world, acts, {
      rules,
      client: this.#client,
      isPaused: this.#session.isPaused === true,
    });
  }

  /** Plays until the end, or until the run waits for the person. */
  async #playTo(start: Omit<Played, 'isWaiting' | 'error'>, run: () => Promise<unknown>): Promise<void> {
    let error: unknown;
    try {
      await run();
    } catch (thrown) {
      error = thrown;
    }
    const isWaiting =
      error instanceof Paused || (error instanceof SagaTestError && error.code === 'unanswered');
    this.#played.push({ ...start, isWaiting, error: isWaiting ? undefined : error });
  }

  #lane(played: Played): Lane {
    const { before, world, person, isWaiting, error, from } = played;
    const { script } = this.#playground;
    const { rules } = script;
    const toOutside = ({ outside }: Stop): readonly QuestionView[] =>
      outside.map((asked) => toOutsideView(asked, rules));
    const tokens = world.points.map(({ token, asked, traced }, at) => {
      const stop = person.stops[at];
      return {
        number: before + at + 1,
        bytes: token.length,
        questions: asked.map((step) => toQuestionView(step, rules)),
        outside: stop === undefined ? [] : toOutside(stop),
        acts: stop?.acts ?? 0,
        traced,
      };
    });
    const stop = person.stops.at(-1);
    const { question } = person;
    const isAsked = world.points.at(-1)?.asked.some(({ stepId }) => stepId === question?.stepId) === true;
    return {
      status: statusOf(played),
      entries: Array.from(world.trace, toEntryView),
      tokens,
      question: isWaiting && isAsked && question !== undefined ? toQuestionView(question, rules) : undefined,
      pause:
        isWaiting && stop !== undefined
          ? { dueInMs: Number.isFinite(stop.dueInMs) ? stop.dueInMs : undefined, outside: toOutside(stop) }
          : undefined,
      error: error === undefined ? undefined : toText(error),
      from: from === undefined ? undefined : before,
      test: this.#testOf(played),
    };
  }

  /** Prints a test of a lane; undefined if the lane, or a lane before, has not ended. */
  #testOf(lane: Played): string | undefined {
    const path = [lane];
    for (let at = lane.from; at !== undefined; at = path[0]?.from)
      path.unshift(this.#played[at.lane] as Played);
    if (path.some(({ isWaiting, error }) => isWaiting || error !== undefined)) return undefined;
    const { exported, script } = this.#playground;
    const segments = path.map(({ world, person, from }, index) => {
      const { points = [] } = path[index - 1]?.world ?? {};
      return {
        world,
        given: person.given,
        rules: person.rules,
        ...(from === undefined ? {} : { fork: { points, point: from.point, chosen: from.chosen } }),
      };
    });
    return testOf(exported, script, segments);
  }
}

function statusOf({ world, isWaiting, error }: Played): Lane['status'] {
  if (error !== undefined) return 'broken';
  if (isWaiting) return 'waiting';
  const last = world.trace.at(-1)?.type;
  return last === 'completed' || last === 'refused' ? last : 'failed';
}
