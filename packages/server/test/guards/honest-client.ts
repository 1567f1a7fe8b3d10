import {
  all,
  AnswerConflict,
  checkpoint,
  elicit,
  race,
  sleep,
  step,
  StepTimedOut,
  TokenRefused,
  type SagaHost,
  type SagaTurn,
  type StepAnswer,
  type Steps,
} from '@mcp-saga/server';
import * as fc from 'fast-check';
import { hour, Ok } from './guarded-hosts.ts';

/** Part of a random saga. Hours are those of its wait. */
interface Part {
  readonly kind: (typeof kinds)[number];
  readonly hours: number;
}

const kinds = [
  'step',
  'sleep',
  'page',
  'ask',
  'two asks',
  'ask beside',
  'ask beside page',
  'timed ask',
  'race',
] as const;

export const parts: fc.Arbitrary<Part[]> = fc.array(
  fc.record<Part>({
    kind: fc.constantFrom(...kinds),
    hours: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 5 },
);

/** What a client, its network, or an attacker does next. `of` chooses an earlier request. */
export type Move =
  | { readonly kind: 'poll'; readonly isLost: boolean }
  | {
      readonly kind: 'answer';
      readonly ok: boolean;
      readonly isFirstOnly: boolean;
      readonly isLost: boolean;
    }
  /** The first answer does not match its schema. */
  | { readonly kind: 'mistake'; readonly isFirstOnly: boolean; readonly isLost: boolean }
  | { readonly kind: 'copy' | 'forge'; readonly of: number }
  | { readonly kind: 'pass'; readonly minutes: number };

const lost = { isLost: fc.boolean() };

const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('poll' as const), ...lost }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      ok: fc.boolean(),
      isFirstOnly: fc.boolean(),
      ...lost,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('mistake' as const),
      isFirstOnly: fc.boolean(),
      ...lost,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('copy' as const), of: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forge' as const), of: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      minutes: fc.nat({ max: 300 }),
    }),
  },
);

export const moves: fc.Arbitrary<Move[]> = fc.array(anyMove, { minLength: 5, maxLength: 30 });

/** A body that writes each step and each decision of its user into `decided`. */
export function decidingSaga(of: readonly Part[], decided: string[]): () => Steps<string> {
  const note = (what: string): Steps<unknown> =>
    step(what, () => void decided.push(what), { compensate: () => undefined }) as never;
  const ask = (stepId: string, timeout?: number) =>
    elicit(stepId, {
      message: 'Sure?',
      schema: Ok,
      ...(timeout === undefined ? {} : { timeout }),
    });
  return function* (): Steps<string> {
    for (const [index, { kind, hours }] of of.entries()) {
      const stepId = `ask${index}`;
      const wait = hours * hour;
      switch (kind) {
        case 'step':
          yield* note(`step${index}`);
          break;
        case 'sleep':
          yield* sleep(wait);
          break;
        case 'page':
          yield* checkpoint(`page ${index}`);
          break;
        case 'ask':
          yield* note(`${stepId}.${(yield* ask(stepId)).ok}`);
          break;
        case 'two asks': {
          const second = `second${index}`;
          const { one, two } = yield* all({ one: ask(stepId), two: ask(second) });
          yield* note(`${stepId}.${one.ok}`);
          yield* note(`${second}.${two.ok}`);
          break;
        }
        case 'ask beside': {
          const beside = function* (): Steps<unknown> {
            for (const time of ['first', 'second']) {
              yield* sleep(wait);
              yield* note(`${time}.beside${index}`);
            }
            return undefined;
          };
          const { sure } = yield* all({ sure: ask(stepId), beside: beside() });
          yield* note(`${stepId}.${sure.ok}`);
          break;
        }
        case 'ask beside page': {
          const beside = function* (): Steps<unknown> {
            yield* sleep(wait);
            yield* checkpoint(`page ${index}`);
            return undefined;
          };
          const { sure } = yield* all({ sure: ask(stepId), beside: beside() });
          yield* note(`${stepId}.${sure.ok}`);
          break;
        }
        case 'timed ask':
          try {
            yield* note(`${stepId}.${(yield* ask(stepId, wait)).ok}`);
          } catch (error) {
            if (!(error instanceof StepTimedOut)) throw error;
            yield* note(`${stepId}.late`);
          }
          break;
        case 'race': {
          const won = yield* race({ sure: ask(stepId), late: sleep(wait) });
          yield* note(`${stepId}.${won.winner === 'sure' ? won.value.ok : 'late'}`);
        }
      }
    }
    return 'done';
  };
}

/** Pages that the client of a saga reads, in their order. */
export function pagesOf(of: readonly Part[]): readonly string[] {
  return of.flatMap(({ kind }, index) =>
    kind === 'page' || kind === 'ask beside page' ? [`page ${index}`] : [],
  );
}

/** Two hosts that share everything, and their time. */
export interface World {
  readonly hosts: readonly [SagaHost, SagaHost];
  wait(ms: number): void;
}

interface Sent {
  readonly token: string;
  readonly answers: readonly StepAnswer[];
  /** `true` once a response has told that the answers were used. */
  isUsed?: boolean;
}

/**
 * A client that decides once: it repeats a decision whose response was lost, and may ask without
 * answers at any time before. Its network copies requests. An attacker with its tokens sends other
 * decisions.
 */
export class HonestClient {
  readonly problems: string[] = [];
  /** Answers that no response has reported as unused, by step ID. */
  readonly counted = new Map<string, boolean>();
  /** Pages without repetitions. */
  readonly pages: string[] = [];
  readonly #world: World;
  readonly #decided: readonly string[];
  readonly #sent: Sent[] = [];
  #token = '';
  #asked: readonly string[] = [];
  /** Decision without a response. */
  #undelivered: Sent | undefined;
  #isOver = false;
  #requests = 0;

  constructor(world: World, decided: readonly string[]) {
    this.#world = world;
    this.#decided = decided;
  }

  async start(): Promise<void> {
    this.#read(await this.#host.start('order', {}));
  }

  async make(move: Move): Promise<void> {
    switch (move.kind) {
      case 'poll':
        return await this.#send(this.#undelivered ?? this.#request([]), move.isLost);
      case 'answer':
      case 'mistake': {
        const asked = move.isFirstOnly ? this.#asked.slice(0, 1) : this.#asked;
        const ok = move.kind === 'answer' ? move.ok : true;
        const answers = asked.flatMap((stepId, index) =>
          answerTo(stepId, move.kind === 'mistake' && index === 0 ? 'perhaps' : ok),
        );
        return await this.#send(this.#undelivered ?? this.#request(answers), move.isLost);
      }
      case 'copy':
        return await this.#copy(this.#sent[move.of % this.#sent.length]);
      case 'forge':
        return await this.#forge(this.#sent[move.of % this.#sent.length]);
      case 'pass':
        return this.#world.wait(move.minutes * 60_000);
    }
  }

  /** Answers everything, and waits for everything. */
  async finish(): Promise<void> {
    for (let tries = 0; !this.#isOver; tries += 1) {
      if (tries > 60) {
        this.problems.push('The saga does not end.');
        return;
      }
      await this.make({ kind: 'answer', ok: true, isFirstOnly: false, isLost: false });
      this.#world.wait(hour);
    }
  }

  /** Each request reaches the other host than the last one. */
  get #host(): SagaHost {
    this.#requests += 1;
    return this.#world.hosts[this.#requests % 2 === 0 ? 0 : 1];
  }

  #request(answers: readonly StepAnswer[]): Sent {
    return { token: this.#token, answers };
  }

  async #send(request: Sent, isLost: boolean): Promise<void> {
    if (this.#isOver) return;
    this.#sent.push(request);
    if (request.answers.length > 0) this.#undelivered = request;
    for (const { stepId, ok } of decisionsOf(request)) this.counted.set(stepId, ok);
    try {
      const turn = await this.#host.resume(request.token, request.answers);
      if (isLost) return;
      for (const stepId of turn.unknown ?? []) this.counted.delete(stepId);
      // A page comes first: its turn asks again.
      const isPage = turn.status === 'suspended' && turn.hasPage === true;
      request.isUsed = request.answers.length > 0 && turn.unknown === undefined && !isPage;
      this.#undelivered = undefined;
      this.#read(turn);
    } catch (error) {
      this.problems.push(`An honest client was refused: ${String(error)}.`);
      this.#isOver = true;
    }
  }

  #read(turn: SagaTurn): void {
    this.#isOver = turn.status !== 'suspended';
    if (turn.status === 'failed') this.problems.push(`The saga failed: ${String(turn.error)}`);
    if (turn.status !== 'suspended') return;
    this.#token = turn.token;
    for (const page of turn.content ?? [])
      if (page.startsWith('page') && !this.pages.includes(page)) this.pages.push(page);
    this.#asked = turn.steps.map(({ stepId }) => stepId);
  }

  /** Sends an earlier request again. Nobody reads the response. */
  async #copy(request: Sent | undefined): Promise<void> {
    if (request === undefined) return;
    try {
      await this.#host.resume(request.token, request.answers);
    } catch (error) {
      if (!(error instanceof TokenRefused)) this.problems.push(`A copy failed: ${String(error)}.`);
    }
  }

  /** Sends the opposite of an earlier decision, which must not run or change anything. */
  async #forge(request: Sent | undefined): Promise<void> {
    if (request === undefined || decisionsOf(request).length === 0) return;
    const answers = decisionsOf(request).flatMap(({ stepId, ok }) => answerTo(stepId, !ok));
    const before = this.#decided.length;
    try {
      await this.#host.resume(request.token, answers);
      if (request.isUsed === true) this.problems.push('A fork was not refused.');
    } catch (error) {
      if (!(error instanceof TokenRefused || error instanceof AnswerConflict))
        this.problems.push(`A fork failed: ${String(error)}.`);
    }
    if (this.#decided.length !== before) this.problems.push('A fork ran a step.');
  }
}

function answerTo(stepId: string, ok: boolean | 'perhaps'): readonly StepAnswer[] {
  return [{ stepId, result: { action: 'accept', content: { ok } } }];
}

function decisionsOf({
  answers,
}: Sent): readonly { readonly stepId: string; readonly ok: boolean }[] {
  return answers.flatMap((given) => {
    const text = JSON.stringify(given);
    // A wrong answer decides nothing.
    return text.includes('perhaps') ? [] : [{ stepId: given.stepId, ok: text.includes('true') }];
  });
}
