/**
 * A wait for people or systems that are not the client: the part that `approval` and `waitFor`
 * share. It is written with the commands of authors, so its deliveries, reads, and time limits are
 * journaled, retried, and replayed like any saga.
 *
 * 1. The link is delivered to the first recipients, as a step.
 * 2. A poll reads the stored answers in each turn, and `decide` says whether they suffice.
 * 3. Reminders and escalations are deliveries, too, at their own times.
 * 4. When the time is over, the box is closed first, and read for the last time after that.
 * 5. When the wait is withdrawn, its box is closed as well.
 *
 * - An accepted answer is never lost: when the time is over, the box is closed before it is read.
 * - A question that the code asks otherwise has another box. Answers in the box of an outdated
 *   question do not count, and their people are asked again.
 * - An event that nobody waits for is removed, so that it cannot keep out the awaited one.
 */
import { defaultUndoRetry } from '../../undo/undo-all.ts';
import type { RetryPlan } from '../../values/retry.ts';
import { command } from '../../effects/make-command.ts';
import { outsideCode, type OutsideAccess } from '../../effects/parts/outside-code.ts';
import type { PollSpec } from '../../effects/kinds/poll.ts';
import type { StepSpec } from '../../effects/kinds/step.ts';
import type { KeptRoom } from '../../effects/parts/effect.ts';
import type { Command, Steps } from '../../model/command.ts';
import type { StepGiven } from '../../model/step-context.ts';
import type {
  CloseReason,
  OutsideAnswer,
  OutsideQuestion,
  RuntimeOutside,
  TicketFacts,
} from '../../model/outside.ts';
import { AuthoringError, StepError, StepTimedOut } from '../../values/errors.ts';
import { isSameJson, present, type Json } from '../../values/json.ts';
import { all } from '../all-race-scope.ts';
import { now } from '../read.ts';
import type { StepContext } from '../step.ts';

/** Context of a delivery, without the public parts that differ between approvals and events. */
export type DeliveryStep = Omit<StepContext<undefined>, 'input'>;

/** Delivery of a ticket. */
export interface TicketDelivery extends DeliveryStep {
  readonly url: string;
  readonly by: Json | undefined;
  readonly to: Json | undefined;
  readonly isReminder: boolean;
}

/** Stage of a wait: a time, the people asked from then on, and the recipients of their tickets. */
export interface Level {
  /** Time after the start of the wait, in milliseconds. 0 for the first level. */
  readonly afterMs: number;
  readonly by: Json;
  readonly recipients: readonly Recipient[];
}

/** Recipient of a ticket. */
export interface Recipient {
  /** Undefined for a ticket that several people may share. */
  readonly to: Json | undefined;
  /** Number of the recipient among all of the wait. Equal recipients have one number. */
  readonly number: number;
}

/**
 * Numbers the recipients of all levels. A recipient who is listed twice has one number, because
 * their answers by two links are those of one person. A level without `to` has one ticket.
 */
export function numberedRecipients(
  levels: readonly (readonly Json[] | undefined)[],
): readonly (readonly Recipient[])[] {
  const known: Recipient[] = [];
  return levels.map((listed) =>
    (listed ?? [undefined]).map((to) => {
      const same = to === undefined ? undefined : known.find((one) => isSameJson(one.to, to));
      const recipient = same ?? { to, number: known.length };
      if (same === undefined) known.push(recipient);
      return recipient;
    }),
  );
}

/** Wait for answers from outside. `R` is what the journal records. */
export interface OutsideWait<R> {
  readonly question: Omit<OutsideQuestion, 'path' | 'by'>;
  /** ID of the steps that deliver tickets. */
  readonly deliverId: string;
  readonly deliver: (delivery: TicketDelivery) => unknown;
  /** In the order of `afterMs`. */
  readonly levels: readonly [Level, ...Level[]];
  readonly timeoutMs: number;
  /**
   * `everyMs` is infinite without reminders. Each reminder takes some 80 bytes of the token, so
   * that `most` limits them.
   */
  readonly reminders: { readonly everyMs: number; readonly most: number };
  /** Answers that can count, and the bytes that the journal records of one. */
  readonly counts: { readonly answers: number; readonly least: number; readonly most: number };
  /** Text for the user of the client. */
  readonly report: string;
  /** Judges the answers so far. */
  readonly decide: (answers: readonly OutsideAnswer[], judging: Judging) => Promise<Judged<R>>;
}

/** Facts of a wait that matter for its answers. */
export interface Judging extends Pick<OutsideAccess, 'schemaFailed'> {
  /** `true` if no further answers arrive. */
  readonly isOver: boolean;
  /** Bytes that the journal has room for, of one answer. */
  readonly room: number;
}

/** Judgement of the answers in a box. */
export interface Judged<R> {
  /** Result of the wait. Undefined: it waits on. */
  readonly found?: Asked<R>;
  /** Answers that never count. */
  readonly refused?: readonly OutsideAnswer[];
}

/**
 * Result of a poll after a change of the code, or if no answer counts: the tickets are void, and
 * people are asked again.
 */
export const askAgain = 'changed';
export type Asked<R> = R | typeof askAgain;

/** Number of times that people are asked, at most: answerers must not cause any number of links. */
function mostRounds({ levels }: OutsideWait<unknown>): number {
  return 1 + Math.max(1, Math.min(7, Math.floor(mostRepeated / ticketsOf(levels))));
}

/**
 * Links of all further rounds: so many fit the room that waits leave to the rest of the saga. Their
 * records are alike, and compress well.
 */
const mostRepeated = 40;

/** Result of a reminder for a person who has answered. */
const nothingSent = null;

const redelivery: RetryPlan = {
  ...defaultUndoRetry,
  when: (error: unknown): boolean => !(error instanceof AuthoringError),
};

// A store that is down longer fails the saga.
const longestOutageMs = 24 * 60 * 60 * 1000;

/**
 * Delivers tickets, and waits until the answers suffice or the time is over. Sends reminders and
 * escalates meanwhile. Returns undefined if the time is over and `decide` has no result.
 */
export function* waitOutside<R>(given: OutsideWait<R>): Steps<R | undefined> {
  let wait = given;
  const began = yield* now();
  const deadline = began + wait.timeoutMs;
  // Before a link exists: an answer that its page accepts must fit the token later.
  const room = yield* opened(wait);
  const facts = { began, deadline, room: roomOfOne(wait, room) };
  let level = 0;
  let at = began;
  let boxes: readonly string[] = [];
  let isOver = false;
  try {
    boxes = yield* deliveries(wait, [0], { ...facts, keeps: keptRoom(wait, room, 0, 0) });
    for (;;) {
      const next = nextEvent(wait, level, at - began);
      const keeps = keptRoom(wait, room, level + 1, at - began);
      const time = { ms: began + next - at, lastsMs: deadline - at, keeps };
      const found = yield* readAnswers(wait, boxes, time);
      if (found !== undefined && found !== askAgain) {
        isOver = true;
        return found;
      }
      const before = at;
      at = yield* now();
      const levels = wait.levels.flatMap(({ afterMs }, index) =>
        began + afterMs <= at ? [index] : [],
      );
      if (at >= deadline) {
        const last = yield* closeBoxes(wait, boxes, room);
        isOver = true;
        return last;
      }
      const asked = levels.slice(0, level + 1);
      const added = levels.slice(level + 1);
      const reminder = reminderBetween(wait, before - began, at - began);
      if (found === askAgain) {
        const round = (wait.question.round ?? 1) + 1;
        wait = { ...wait, question: { ...wait.question, round } };
        boxes = yield* deliveries(wait, asked, { ...facts, keeps, key: `v${round}` });
      } else if (reminder !== undefined) {
        yield* remind(wait, asked, { ...facts, keeps, key: `${reminder}` });
      }
      if (added.length > 0) yield* deliveries(wait, added, { ...facts, keeps });
      level += added.length;
    }
  } finally {
    // The saga was cancelled or failed, or a sibling has ended this branch: a late answer must not
    // be recorded.
    if (!isOver) yield* withdraw(wait, boxes);
  }
}

/** Bytes of the shortest receipt: a user with a short name, and no content. */
export const leastReceiptBytes = 144;
/** Bytes of a receipt with long names of the user and the issuer. */
export const mostReceiptBytes = 1024;

// Bytes of the journal, with a long path.
const deliveryBytes = 160;
const reminderBytes = 80;
const waitBytes = 512;

/** Reserves room for the answers in the token. Returns the bytes of all of them. */
function opened<R>(wait: OutsideWait<R>): Command<number> {
  const { answers, least, most } = wait.counts;
  const records = recordsAfter(wait, 0, 0);
  const needs = { least: answers * least, most: answers * most, records };
  return command<number>({ kind: 'open', id: 'open', needs });
}

/** Bytes for one answer, of the room for all that can count. */
function roomOfOne({ counts }: OutsideWait<unknown>, room: number): number {
  return Math.floor(room / counts.answers);
}

/** Returns the room of a wait whose links of `level` and later levels are not delivered yet. */
function keptRoom(
  wait: OutsideWait<unknown>,
  answers: number,
  level: number,
  elapsed: number,
): KeptRoom {
  return { answers, records: recordsAfter(wait, level, elapsed) };
}

/** Bytes of the links from a level on, of later reminders, and of the end. */
function recordsAfter(wait: OutsideWait<unknown>, level: number, elapsed: number): number {
  const { everyMs, most } = wait.reminders;
  const planned = Math.min(most, Math.floor(wait.timeoutMs / everyMs));
  const sent = Math.min(planned, Math.floor(elapsed / everyMs));
  const { levels } = wait;
  const reminders = (planned - sent) * ticketsOf(levels) * reminderBytes;
  return waitBytes + reminders + ticketsOf(levels.slice(level)) * deliveryBytes;
}

function ticketsOf(levels: readonly Level[]): number {
  return levels.reduce((sum, { recipients }) => sum + recipients.length, 0);
}

/** Time of the next reminder, escalation, or the end, in milliseconds from the start. */
function nextEvent(
  { levels, reminders: { everyMs, most }, timeoutMs }: OutsideWait<unknown>,
  level: number,
  elapsed: number,
): number {
  const number = Math.floor(elapsed / everyMs) + 1;
  const reminder = number > most ? timeoutMs : number * everyMs;
  return Math.min(timeoutMs, reminder, levels[level + 1]?.afterMs ?? timeoutMs);
}

/**
 * Number of the last reminder whose time passed between two times. Several missed reminders are
 * sent as one.
 */
function reminderBetween(
  { reminders: { everyMs, most } }: OutsideWait<unknown>,
  before: number,
  elapsed: number,
): number | undefined {
  const last = Math.min(Math.floor(elapsed / everyMs), most);
  return last > Math.floor(before / everyMs) ? last : undefined;
}

interface DeliveryFacts extends Pick<TicketFacts, 'began' | 'deadline' | 'room'> {
  readonly keeps: KeptRoom;
  /** Distinguishes reminders, and deliveries after a change of the code. */
  readonly key?: string;
}

/** Delivers the tickets of some levels in parallel, and returns their boxes. */
function* deliveries<R>(
  wait: OutsideWait<R>,
  indexes: readonly number[],
  { key, keeps, ...facts }: DeliveryFacts,
  isReminder: boolean = false,
): Steps<readonly string[]> {
  const { deliverId } = wait;
  const { message } = wait.question;
  const needsQueue = wait.reminders.everyMs < Infinity || wait.levels.length > 1;
  const id = isReminder ? 'remind' : indexes.includes(0) ? deliverId : 'escalate';
  const tickets = indexes.flatMap((level) => {
    const { by, recipients } = wait.levels[level] as Level;
    return recipients.map(({ to, number }) => ({ by, to, level, recipient: number }));
  });
  const boxes = yield* all(
    tickets.map(({ by, to, level, recipient }) =>
      outsideStep<string | null>(
        id,
        outsideCode(
          deliverId === 'register' ? 'registration' : 'delivery',
          async (given: DeliveryStep & Pick<StepGiven, 'standIn'>, { host, scope }) => {
            const question = toQuestion(wait, scope);
            const box = await host.box(question);
            // Tickets without a recipient may be shared by several people.
            const mayStop = isReminder && to !== undefined;
            // While the store is down, recipients are reminded once too often.
            const answers = mayStop ? await host.answers(box).catch(() => []) : [];
            if (answers.some((one) => one.recipient === recipient)) return nothingSent;
            const { services, user, signal, attempt, standIn = wait.deliver } = given;
            const isLastAttempt = attempt >= redelivery.attempts;
            const about = { ...facts, level, recipient, needsQueue, isLastAttempt };
            const url = await host.ticket(question, about);
            const ticket = {
              services,
              user,
              signal,
              attempt,
              url,
              by: by ?? undefined,
              to,
              isReminder,
            };
            await standIn({
              ...ticket,
              // Tests see if the author reads the key.
              get idempotencyKey() {
                return given.idempotencyKey;
              },
            });
            return box;
          },
        ),
        {
          keeps,
          // As for questions to the client, a change of the message is a mismatch. Events have no
          // message.
          ...(message === '' ? {} : { input: [message, to ?? null] }),
          ...present({ key }),
        },
      ),
    ),
  );
  return [...new Set(boxes.filter((box) => box !== nothingSent))];
}

/** Sends reminders. A reminder that fails does not fail the saga. */
function* remind<R>(
  wait: OutsideWait<R>,
  indexes: readonly number[],
  facts: DeliveryFacts,
): Steps<void> {
  try {
    yield* deliveries(wait, indexes, facts, true);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
  }
}

/** Time of a poll, and of all polls of its wait, in milliseconds. */
interface PollTime {
  readonly ms: number;
  readonly lastsMs: number;
  readonly keeps: KeptRoom;
}

/**
 * Reads the answers in each turn until they suffice. Returns undefined when its time is
 * over.
 */
function* readAnswers<R>(
  wait: OutsideWait<R>,
  boxes: readonly string[],
  time: PollTime,
): Steps<Asked<R> | undefined> {
  const ask = async (
    _: unknown,
    { host, scope, schemaFailed }: OutsideAccess,
  ): Promise<Asked<R> | undefined> => {
    const box = await host.box(toQuestion(wait, scope));
    if (boxes.some((one) => one !== box)) {
      // The changed code may have sent reminders.
      await closeAll(host, [...boxes, box], 'outdated');
      return askAgain;
    }
    const judging = { isOver: false, room: roomOfOne(wait, time.keeps.answers), schemaFailed };
    const judged = await wait.decide(await host.answers(box), judging);
    const { found, refused = [] } = judged;
    // Events that nobody waits for must not take the place of the one that is awaited.
    if (found === undefined && refused.length > 0) await host.discard(box, refused);
    const isLast = (wait.question.round ?? 1) >= mostRounds(wait);
    if (found === undefined || (found === askAgain && isLast)) return undefined;
    await host.close(box, 'decided');
    if (found !== askAgain) return found;
    // An answer may have arrived meanwhile.
    const { found: last = askAgain } = await wait.decide(await host.answers(box), judging);
    if (last === askAgain) await host.close(box, 'outdated');
    return last;
  };
  try {
    return yield* pollOutside<Asked<R>>(wait, 'answers', ask, time);
  } catch (error) {
    if (error instanceof StepTimedOut) return undefined;
    throw error;
  }
}

/**
 * Closes the boxes, and reads them for the last time: no answer arrives after the decision.
 * Recorded answers count although their time is past the deadline: their links may be of a repeated
 * turn whose clock was ahead, and their people were told that they answered.
 */
function* closeBoxes<R>(
  wait: OutsideWait<R>,
  boxes: readonly string[],
  room: number,
): Steps<R | undefined> {
  const close = async (
    _: unknown,
    { host, scope, schemaFailed }: OutsideAccess,
  ): Promise<{ readonly last: R | undefined }> => {
    // Of the question as the code asks it now.
    const box = await host.box(toQuestion(wait, scope));
    const outdated = boxes.filter((one) => one !== box);
    await Promise.all([closeAll(host, outdated, 'outdated'), host.close(box, 'decided')]);
    const judging = { isOver: true, room: roomOfOne(wait, room), schemaFailed };
    const { found } = await wait.decide(await host.answers(box), judging);
    return { last: found as R | undefined };
  };
  return (yield* pollOutside(wait, 'close', close, {
    ms: longestOutageMs,
    lastsMs: longestOutageMs,
    keeps: { answers: room, records: waitBytes },
  })).last;
}

function* withdraw<R>(wait: OutsideWait<R>, boxes: readonly string[]): Steps<void> {
  const close = async (_: DeliveryStep, { host, scope }: OutsideAccess): Promise<void> => {
    await closeAll(host, [...boxes, await host.box(toQuestion(wait, scope))], 'withdrawn');
  };
  try {
    yield* outsideStep<void>('withdraw', outsideCode('answers', close), {
      input: wait.question.message,
    });
  } catch {
    // The tickets expire by themselves.
  }
}

/** A step of the wait itself. Unlike a step of an author, it may keep room in the token. */
function outsideStep<T>(
  id: string,
  run: StepSpec['run'],
  given: Pick<StepSpec, 'keeps'> & Partial<Pick<StepSpec, 'input' | 'key'>>,
): Command<T> {
  const spec: StepSpec = {
    kind: 'step',
    id,
    run,
    input: undefined,
    key: undefined,
    keep: true,
    compress: false,
    once: false,
    reads: false,
    retry: redelivery,
    timeoutMs: undefined,
    undo: undefined,
    of: undefined,
    ...given,
  };
  return command<T>(spec);
}

async function closeAll(
  host: RuntimeOutside,
  boxes: readonly string[],
  why: CloseReason,
): Promise<void> {
  await Promise.all([...new Set(boxes)].map((box) => host.close(box, why)));
}

/** Polls for answers. A store that is down has no answers yet. */
function pollOutside<T>(
  { report, timeoutMs }: OutsideWait<unknown>,
  id: string,
  ask: (step: unknown, outside: OutsideAccess) => Promise<T | undefined>,
  { ms, lastsMs, keeps }: PollTime,
): Command<T> {
  const spec: PollSpec = {
    kind: 'poll',
    id,
    ask: outsideCode('answers', (given: unknown, outside) =>
      ask(given, outside).catch(unlessMistake),
    ),
    everyMs: Math.min(30_000, Math.max(2_000, Math.ceil(timeoutMs / 1_000))),
    totalTimeoutMs: Math.max(1, ms),
    outside: { lastsMs },
    keeps,
    report,
  };
  return command<T>(spec);
}

function unlessMistake(error: unknown): undefined {
  if (error instanceof AuthoringError) throw error;
  return undefined;
}

function toQuestion({ question, levels }: OutsideWait<unknown>, path: string): OutsideQuestion {
  return { ...question, path, by: levels.map(({ by }) => by) };
}
