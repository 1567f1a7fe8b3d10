import {
  millisecondsOf,
  type OutsideAnswer,
  type OutsideQuestion,
  type RuntimeOutside,
  type TicketFacts,
} from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { formOf, simplestContent } from '../script/form-content.ts';
import type { Rule, Rules } from '../script/script-rules.ts';
import type { OutsideGiven } from '../script/script-answers.ts';
import { ruleSource } from '../script/script-source.ts';
import { isSameValue } from '../values/same-value.ts';
import { seededBytes } from '../values/seeded-random.ts';
import { misspelledAnswer } from '../values/step-ids.ts';
import type { VirtualClock } from '../values/virtual-clock.ts';

/** Question to other people or systems, as asked. */
export interface AskedOutside {
  readonly id: string;
  readonly question: OutsideQuestion;
  /** Time of the question, in milliseconds since the epoch. */
  readonly began: number;
  readonly deadline: number;
}

/** Parts of a world that its answers need. */
export interface OutsideParts {
  readonly clock: Pick<VirtualClock, 'now'>;
  readonly rules: Rules;
  readonly autoAnswer: unknown;
  readonly isAttended: boolean;
  readonly autoAnswered: Rule[];
  objection: SagaTestError | undefined;
  idOf(path: string): string;
  use(rule: Rule): unknown;
}

// More people than any approval asks for.
const everyone = 32;

/**
 * Simulated answers from outside: those of the script arrive by the clock of the run. Tickets lead
 * nowhere.
 */
export class OutsideWorld implements RuntimeOutside {
  /** Questions by box. Shared with forks and playbacks, which ask nothing again. */
  readonly asked: Map<string, AskedOutside>;
  readonly #world: OutsideParts;
  /** Questions of which no ticket may exist yet. */
  readonly #scopes = new Set<string>();
  readonly #next = new Map<string, number>();
  /** Boxes that the saga reads until it has a decision. */
  readonly #open = new Set<string>();

  constructor(world: OutsideParts, asked: Map<string, AskedOutside> = new Map()) {
    this.#world = world;
    this.asked = asked;
  }

  /**
   * Next time at which a wait of the current turn continues (ms since the epoch). Undefined: no
   * wait is open.
   */
  get nextAt(): number | undefined {
    return this.#next.size === 0 ? undefined : Math.min(...this.#next.values());
  }

  /** Questions without a decision. */
  get open(): readonly AskedOutside[] {
    return [...this.#open].flatMap((box) => this.asked.get(box) ?? []);
  }

  /**
   * Notes a poll for answers that waits for an answer, and the time at which the poll ends (ms
   * since the epoch).
   */
  waits(id: string, endsAt: number): void {
    this.#next.set(id, endsAt);
  }

  /** Forgets the waits of the last turn. */
  beginTurn(): void {
    this.#next.clear();
  }

  /**
   * `true` for a step or poll of the engine around a question: a delivery, or a read of the
   * answers.
   */
  owns(id: string): boolean {
    const scope = id.slice(0, id.lastIndexOf('/'));
    return this.#scopes.has(scope) || [...this.asked.values()].some((asked) => asked.id === scope);
  }

  box(question: OutsideQuestion): string {
    const id = this.#world.idOf(question.path);
    this.#scopes.add(id);
    return `box ${seededBytes(0, JSON.stringify(question)).join('').slice(0, 8)} of ${id}`;
  }

  ticket(question: OutsideQuestion, { began, deadline, level, recipient }: TicketFacts): string {
    const id = this.#world.idOf(question.path);
    const box = this.box(question);
    if (!this.asked.has(box)) this.asked.set(box, { id, question, began, deadline });
    const kind = question.kind === 'approval' ? 'answer' : 'event';
    return `https://saga.test/saga/${kind}/${encodeURIComponent(id)}-${level}-${recipient}`;
  }

  async answers(box: string): Promise<readonly OutsideAnswer[]> {
    const asked = this.asked.get(box);
    if (asked === undefined) return [];
    this.#open.add(box);
    const now = this.#world.clock.now();
    const all = this.#scripted(asked);
    const next = all.find(({ at }) => at > now);
    if (next !== undefined) this.#next.set(box, next.at);
    return all.filter(({ at }) => at <= now);
  }

  /** The script sends no more events than a box holds. */
  async discard(): Promise<void> {}

  async close(box: string): Promise<void> {
    this.#next.delete(box);
    this.#open.delete(box);
  }

  /**
   * Answers by the script, in the order in which they arrive. The page refuses late ones, and the
   * second one of a person.
   */
  #scripted({ id, question, began, deadline }: AskedOutside): readonly OutsideAnswer[] {
    const { rules, isAttended } = this.#world;
    // A person answers each repetition of a question.
    const scripted = rules.find(['outside'], id, (each) => !isAttended || each.id === id);
    const rule = scripted ?? this.#simplest(id, question);
    this.#world.use(rule);
    const late = rules.find(['late', 'silent'], id);
    if (late !== undefined) this.#world.use(late);
    const { given } = rule;
    const form = formOf({ requestedSchema: question.form });
    const simplest = form === undefined ? {} : simplestContent(form);
    const all: readonly OutsideGiven[] =
      given === true || given === false
        ? Array.from({ length: everyone }, () => ({ approved: given }))
        : given;
    return all
      .map(({ approved = true, by, content, after = 0 }, index): OutsideAnswer => ({
        by: question.kind === 'event' ? 'link' : { subject: by ?? `person-${index + 1}` },
        at: began + millisecondsOf(after) + (late?.ms ?? 0),
        approved,
        content: content ?? (approved ? simplest : {}),
        shown: `digest of ${id}`,
        recipient: index,
      }))
      .filter(({ at }) => at < deadline)
      .toSorted((one, other) => one.at - other.at)
      .filter(
        ({ by }, at, list) =>
          by === 'link' || list.findIndex((one) => isSameValue(one.by, by)) === at,
      );
  }

  /** Answers in the simplest way, for explorers. Throws `unanswered` without one. */
  #simplest(
    id: string,
    { kind, message }: OutsideQuestion,
  ): Extract<Rule, { readonly kind: 'outside' }> {
    const world = this.#world;
    if (world.isAttended) return { kind: 'outside', id, what: kind, given: [] };
    if (kind === 'approval' && world.autoAnswer !== undefined) {
      const rule = { kind: 'outside', id, what: kind, given: true } as const;
      world.rules.add(rule);
      world.autoAnswered.push(rule);
      return rule;
    }
    const given = kind === 'approval' ? true : [{ content: { status: 'paid' } }];
    const line = ruleSource({ kind: 'outside', id, what: kind, given });
    const scripted = world.rules.all.flatMap((rule) => (rule.kind === 'outside' ? [rule.id] : []));
    // The saga catches errors of a store, but not those of a test.
    world.objection ??= new SagaTestError(
      'unanswered',
      `No answer to the ${kind} '${id}'${message === '' ? '' : `: ${message}`}. Answer it in the test:\n\n    ${line}\n\n` +
        `or leave it unanswered: .silent.${kind}('${id}')${misspelledAnswer(id, scripted, 'script').replace(/^(?=.)/, '\n\n')}`,
    );
    throw world.objection;
  }
}
