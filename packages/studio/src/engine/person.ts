import type { ClientStep, Json, StepAnswer, SuspendedTurn } from '@mcp-saga/server';
import type { OutsideGiven, Rule } from '@mcp-saga/testing';
import { answerWith, type AskedOutside, type World } from '@mcp-saga/testing/internal';
import type { Act, Given, OutsideAct, Session } from '../model/session.ts';
import { toOutsideView, toQuestionView } from './to-view.ts';

/** End of a run that waits for time, or for other people. */
export class Paused extends Error {}

/**
 * State of the run at a token. `dueInMs`: time until the saga continues without an answer.
 * Infinity: never.
 */
export type Stop = Readonly<{ dueInMs: number; outside: readonly AskedOutside[]; acts: number }>;

/** Answer from outside, with the number of the token before it. */
type Received = Readonly<{
  id: string;
  what: 'approval' | 'event';
  given: OutsideGiven;
  point: number;
}>;

/** Person at the page, who answers, sends answers of others, and lets time pass. */
export class Person {
  /** Applied answers, with values. */
  readonly given: Given[] = [];
  question: ClientStep | undefined;
  readonly stops: Stop[] = [];
  readonly #world: World;
  readonly #left: Act[];
  readonly #count: number;
  /** Rules of the script, for initial values. */
  readonly #scripted: readonly Rule[];
  readonly #session: Session;
  readonly #received: Received[] = [];
  /** Time before the answer to a question, in milliseconds. */
  readonly #late = new Map<string, number>();

  constructor(world: World, acts: readonly Act[], scripted: readonly Rule[], session: Session) {
    this.#world = world;
    this.#left = [...acts];
    this.#count = acts.length;
    this.#scripted = scripted;
    this.#session = session;
    world.isAttended = true;
    world.autoAnswer = (step) => this.#answer(step);
    world.returnAfter = (turn, dueInMs) => this.#returnAfter(turn, dueInMs);
  }

  /** Keeps the answers from outside before a token, for a fork. */
  inherit(before: Person, point: number): void {
    for (const { id, what } of before.#received)
      this.#world.rules.add({ kind: 'outside', id, what, given: [] });
    for (const received of before.#received)
      if (received.point < point) this.#receive({ ...received, point: -1 });
  }

  /** Rules of a test for all but the answers. */
  get rules(): readonly Rule[] {
    const answered = new Set(this.given.map(({ id }) => id));
    const kindOf = (id: string): 'late' | 'silent' => (answered.has(id) ? 'late' : 'silent');
    const late = Array.from(this.#late, ([id, ms]): Rule => ({ kind: kindOf(id), id, ms }));
    const { asked } = this.#world.outside;
    const kinds = new Map(Array.from(asked.values(), ({ id, question }) => [id, question.kind]));
    const outside = Array.from(kinds, ([id, kind]) => this.#rule(id, kind));
    return [
      ...[...this.#world.used.keys()].filter(({ kind }) => kind === 'deny'),
      ...late,
      ...outside,
    ];
  }

  #answer(step: ClientStep): StepAnswer | undefined {
    const at = this.#left.findIndex((act) => isGiven(act) && act.id === step.stepId);
    const [act] = at === -1 ? [] : this.#left.splice(at, 1);
    let given =
      act !== undefined && isGiven(act) ? withValue(act, step, this.#scripted) : undefined;
    // An immediate decline comes before the answers that the person gave to another client.
    if (this.#session.client === 'declining' && step.type === 'elicitation')
      given = { id: step.stepId, action: 'decline' };
    this.question = step;
    if (given === undefined) return undefined;
    this.given.push(given);
    return answerWith(step, answerValue(given));
  }

  #returnAfter({ steps, retryAfterMs = 0 }: SuspendedTurn, dueInMs: number): number | undefined {
    const { open } = this.#world.outside;
    this.stops.push({ dueInMs, outside: open, acts: this.#count - this.#left.length });
    const isStop = steps.length > 0 || open.length > 0 || this.#session.isPaused === true;
    const at = this.#left.findIndex((act) => !isGiven(act));
    const act = this.#left[at];
    const first = at === -1 ? this.#left : this.#left.slice(0, at);
    const isAnswered = steps.every(({ stepId }) =>
      first.some((each) => 'id' in each && each.id === stepId),
    );
    const isNext = steps.length > 0 ? !isAnswered : at === 0;
    if (act !== undefined && !isGiven(act) && isNext && isStop) {
      if (act.action === 'wait') {
        this.#left.splice(at, 1);
        for (const { stepId } of steps)
          this.#late.set(stepId, (this.#late.get(stepId) ?? 0) + act.ms);
        return act.ms;
      }
      const asked = open.find(({ id }) => id === act.id);
      if (asked !== undefined) {
        this.#left.splice(at, 1);
        const what = asked.question.kind;
        const given = this.#given(act, asked);
        this.#receive({ id: act.id, what, given, point: this.stops.length - 1 });
        return retryAfterMs;
      }
    }
    if (steps.length === 0 && isStop) throw new Paused();
    return undefined;
  }

  #given({ action, by, content }: OutsideAct, asked: AskedOutside): OutsideGiven {
    const isEvent = asked.question.kind === 'event';
    const value = content ?? (isEvent ? toOutsideView(asked, this.#scripted).content : undefined);
    return {
      approved: action !== 'deny',
      ...(by === undefined || by === '' ? {} : { by }),
      ...(value === undefined ? {} : { content: value as Json }),
      after: this.#world.clock.now() - asked.began,
    };
  }

  #receive(received: Received): void {
    this.#received.push(received);
    this.#world.rules.add(this.#rule(received.id, received.what));
  }

  #rule(id: string, what: 'approval' | 'event'): Rule {
    const given = this.#received.flatMap((each) => (each.id === id ? [each.given] : []));
    return { kind: 'outside', id, what, given };
  }
}

export function denied({ client }: Session): readonly Rule[] {
  if (client === 'no-sampling') return [{ kind: 'deny', need: 'sampling' }];
  if (client !== 'no-elicitation') return [];
  return (['elicitation', 'elicitation.url'] as const).map((need) => ({ kind: 'deny', need }));
}

export function isGiven(act: Act): act is Given {
  return act.action === 'accept' || act.action === 'decline' || act.action === 'cancel';
}

/**
 * Completes an answer without a value: the initial content of the form, or the simplest answer of a
 * model.
 */
export function withValue(given: Given, step: ClientStep, rules: readonly Rule[]): Given {
  if (given.action !== 'accept') return given;
  if (step.type === 'roots' && !Array.isArray(given.content))
    return { ...given, content: [{ uri: 'file:///project' }] };
  if (given.content !== undefined) return given;
  const { content } = toQuestionView(step, rules);
  return { ...given, content: step.type === 'sampling' ? content['text'] : content };
}

/** Returns an answer as the kit takes it. */
export function answerValue({ action, content }: Given): unknown {
  return action === 'accept' ? content : action;
}
