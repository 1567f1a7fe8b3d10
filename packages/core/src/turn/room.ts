import { isQuestion } from '../effects/effect-of.ts';
import type { RoomNeeds } from '../effects/kinds/open.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import type { Task } from '../replay/fiber.ts';
import { SagaLimitExceeded } from '../values/errors.ts';

// Room in the token for answers that are still to come. A token has a limit, and nothing that a
// person or a system was told to be accepted may break it later. Therefore:
//
// 1. A saga that waits keeps room: for each question a small answer, and for each wait for answers
//    from outside what it reserved when it opened. The host counts both when it seals the saga, and
//    ends a saga without that room before anybody answers.
// 2. A wait for answers from outside opens before its links are sent, and reserves a share of what
//    is left. Its door refuses larger answers.
// 3. A larger answer of the client must leave room for the next question. Otherwise, it is asked
//    again, with the reason.
//
// All numbers are bytes of JSON, uncompressed. Compression only leaves more.

/**
 * Bytes for a small answer, such as a refusal, a choice, or a few words: a 64th of a token of the
 * default size.
 */
function smallAnswer({ maxTokenBytes = Number.POSITIVE_INFINITY }: Limits): number {
  return Math.min(1024, Math.floor(maxTokenBytes / 64));
}

/** Bytes for what comes after an answer: the next question, and a small answer to it. */
function nextStep(limits: Limits): number {
  return 2 * smallAnswer(limits);
}

type Limits = Pick<Runtime['limits'], 'maxTokenBytes'>;

/** Part of the bytes of a small answer that each further question adds. */
const forEachFurther = 1 / 16;

/** Bytes by which a turn changes the state besides its entries: the head, and padding. */
const forTurn = 512;
const forTask = 96;

/** Part of the room that waits for answers from outside may reserve. The saga may use the rest. */
const reservable = 3 / 4;

/** Pending command, as far as its room matters. */
export type PendingRoom = Pick<Task, 'spec' | 'path'>;

/** Bytes that a saga with these pending commands keeps for their answers. */
export function reservesOf(
  pending: Iterable<PendingRoom>,
  { saga: { answerCopies = 1 }, limits }: Pick<Runtime, 'saga' | 'limits'>,
): number {
  let questions = 0;
  // All commands of a wait keep the same room, such as the deliveries of several links.
  const waits = new Map<string, number>();
  for (const { spec, path } of pending) {
    if (isQuestion(spec)) questions += 1;
    if (spec.keeps === undefined) continue;
    const { answers, records } = spec.keeps;
    const wait = scopeOf(path);
    waits.set(wait, Math.max(waits.get(wait) ?? 0, answerCopies * answers + records));
  }
  const outside = [...waits.values()].reduce((sum, bytes) => sum + bytes, 0);
  return outside + reserveOfQuestions(questions, limits);
}

/** Scope around a command: that of its wait. */
function scopeOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** Bytes that a saga keeps for the answers to a number of questions to the client. */
export function reserveOfQuestions(count: number, limits: Limits): number {
  return count === 0 ? 0 : Math.ceil(smallAnswer(limits) * (1 + forEachFurther * (count - 1)));
}

/** Turn whose room is shared. */
export interface RoomOptions {
  readonly runtime: () => Pick<Runtime, 'saga' | 'turn' | 'limits'>;
  /** State with everything that this turn has recorded so far. */
  readonly state: () => ProgramState;
  /** UTF-16 units that this turn has added to the state. */
  readonly addedLength: () => number;
  readonly pending: () => readonly PendingRoom[];
  /** Bytes that are kept for other answers, which no pending command waits for. Default: none. */
  readonly reserved?: () => number;
}

/** Room of the token in one turn. Shared by generators and machines. */
export class Room {
  readonly #turn: RoomOptions;
  readonly #shares = new Map<PendingRoom, Promise<number>>();

  constructor(turn: RoomOptions) {
    this.#turn = turn;
  }

  /**
   * Returns the bytes that are left for an answer if its text does not fit; undefined if it does.
   * Measures the token only if the answer might not fit, because that compresses the whole state.
   */
  async lack(path: string, text: string): Promise<number | undefined> {
    const { saga, turn, limits } = this.#turn.runtime();
    if (saga.room === undefined) return undefined;
    const { maxTokenBytes = 0 } = limits;
    const pending = this.#turn.pending();
    const kept = this.#kept(pending) + nextStep(limits);
    const most = mostBytes(text.length + this.#turn.addedLength()) + kept;
    if (turn.tokenBytes > 0 && sealedBytes(most) < maxTokenBytes - turn.tokenBytes)
      return undefined;
    const left = await this.#leftFor(path);
    const { length } = new TextEncoder().encode(text);
    return length > left ? left : undefined;
  }

  /** Bytes left for the answer to one question. */
  async #leftFor(path: string): Promise<number> {
    const runtime = this.#turn.runtime();
    const pending = this.#turn.pending();
    const others = pending.filter((task) => task.path !== path);
    const free = (await runtime.saga.room?.(this.#turn.state())) ?? 0;
    // The last token kept this room, even if nothing is left for another question. A question that
    // accepts no answer would be asked for ever.
    const own = reservesOf(pending, runtime) - reservesOf(others, runtime);
    return Math.floor(Math.max(own, free - this.#kept(others) - nextStep(runtime.limits)));
  }

  /** Bytes that a suspended saga needs beside its entries: for its head, and for the answers. */
  #kept(pending: readonly PendingRoom[]): number {
    const answers = reservesOf(pending, this.#turn.runtime());
    const reserved = this.#turn.reserved?.() ?? 0;
    return answers + reserved + forTurn + forTask * pending.length;
  }

  /**
   * Bytes that a wait may reserve. Waits that open at the same time get equal shares, besides what
   * each needs at least. Rejects with SagaLimitExceeded if even that is not left.
   */
  share(task: PendingRoom): Promise<number> {
    if (!this.#shares.has(task)) {
      const opening = this.#turn
        .pending()
        .filter((one) => one.spec.kind === 'open' && !this.#shares.has(one));
      const left = this.#leftForWaits();
      const { answerCopies = 1, reserve } = this.#turn.runtime().saga;
      for (const one of opening) {
        const share = left.then((bytes) => {
          const answers = shareOf(one, opening, bytes, answerCopies);
          reserve?.(answerCopies * answers + needsOf(one).records);
          return answers;
        });
        // The rejection reaches the command when it asks for its share.
        share.catch(() => undefined);
        this.#shares.set(one, share);
      }
    }
    return this.#shares.get(task) as Promise<number>;
  }

  /** Bytes left for the waits that open now. */
  async #leftForWaits(): Promise<number> {
    const { saga, limits } = this.#turn.runtime();
    if (saga.room === undefined) return Number.POSITIVE_INFINITY;
    const pending = this.#turn.pending();
    const { answerCopies = 1 } = saga;
    // A wait whose share is not recorded yet: its next command will keep it.
    const shared = pending.flatMap((one) => {
      const share = this.#shares.get(one);
      if (share === undefined) return [];
      return [share.then((bytes) => answerCopies * bytes + needsOf(one).records)];
    });
    const given = await Promise.all(shared.map((bytes) => bytes.catch(() => 0)));
    const left = (await saga.room(this.#turn.state())) - this.#kept(pending);
    return given.reduce((rest, bytes) => rest - bytes, left) - nextStep(limits);
  }
}

function shareOf(
  { spec, path }: PendingRoom,
  opening: readonly PendingRoom[],
  left: number,
  copies: number,
): number {
  const { least, most } = needsOf({ spec, path });
  const needed = opening
    .map(needsOf)
    .reduce((sum, needs) => sum + copies * needs.least + needs.records, 0);
  const free = left - needed;
  if (free < 0) {
    throw new SagaLimitExceeded(
      `The token of the saga has no room for the answers of '${path.slice(0, path.lastIndexOf('/'))}': ` +
        `${needed} bytes are needed, and ${Math.max(0, Math.floor(left))} are left` +
        `${opening.length === 1 ? '' : ` for ${opening.length} waits`}. Return references instead of values from steps, continue as a new saga, or raise limits.maxTokenBytes.`,
    );
  }
  const share = least + (free * reservable) / opening.length / copies;
  // Rounded, so that a repeated turn reserves the same although its claims may differ in length.
  return Math.min(most, Math.max(least, Math.floor(share / 256) * 256));
}

function needsOf({ spec }: PendingRoom): RoomNeeds {
  return spec.kind === 'open' ? spec.needs : { least: 0, most: 0, records: 0 };
}

/** Bytes of a text of a number of UTF-16 units, at most. */
function mostBytes(length: number): number {
  return 3 * length;
}

/** Characters of a token for a number of bytes: base64url. */
export function sealedBytes(bytes: number): number {
  return Math.ceil((bytes * 4) / 3);
}
