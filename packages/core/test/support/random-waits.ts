/**
 * Random sagas that only wait, and a model of them: an event queue that fires overdue events at
 * their due times.
 */
import * as fc from 'fast-check';
import {
  all,
  allSettled,
  elicit,
  poll,
  race,
  sleep,
  type Saga,
  type Schema,
} from '../../src/index.ts';
import type { Steps } from '../../src/model/command.ts';
import { sagaOf } from './sagas.ts';

/** A piece of a saga. Durations are in milliseconds, with fractions. */
export type Wait =
  | { readonly kind: 'sleep'; readonly id: string; readonly ms: number }
  | { readonly kind: 'ask'; readonly id: string; readonly ttl: number | undefined }
  | {
      readonly kind: 'poll';
      readonly id: string;
      readonly every: number;
      readonly timeout: number;
      /** Which question is answered. */
      readonly answersAt: number;
    }
  /** `fail` throws behind its part, and `try` catches. */
  | { readonly kind: Group | 'fail' | 'try'; readonly parts: readonly Wait[] };

type Group = 'all' | 'allSettled' | 'race' | 'sequence';

const Empty: Schema<object> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: () => ({ value: {} }),
    jsonSchema: { input: () => ({ type: 'object', properties: {} }), output: () => ({}) },
  },
};

/** Draws a saga. */
export function waits(): fc.Arbitrary<Wait> {
  const ms = fc.oneof(
    fc.integer({ min: 1, max: 7 }).map((seventh) => 60_000 / seventh),
    fc.double({ min: 0.1, max: 120_000, noNaN: true }),
  );
  const id = fc.constant('');
  const leaf: fc.Arbitrary<Wait> = fc.oneof(
    fc.record({ kind: fc.constant('sleep'), id, ms }),
    fc.record({ kind: fc.constant('ask'), id, ttl: fc.option(ms, { nil: undefined }) }),
    fc.record({
      kind: fc.constant('poll'),
      id,
      every: ms,
      timeout: ms,
      answersAt: fc.integer({ min: 1, max: 6 }),
    }),
  );
  const { tree } = fc.letrec<{ tree: Wait }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.record({
        kind: fc.constantFrom('sequence', 'all', 'allSettled', 'race'),
        parts: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ kind: fc.constantFrom('fail', 'try'), parts: fc.tuple(tie('tree')) }),
    ),
  }));
  return tree.map((drawn) => {
    let count = 0;
    const named = (wait: Wait): Wait =>
      'parts' in wait
        ? { ...wait, parts: wait.parts.map(named) }
        : { ...wait, id: `w${(count += 1)}` };
    return named(drawn);
  });
}

/** The saga of a tree. Its result says what happened, in order. */
export function sagaOfWaits(tree: Wait): Saga<undefined, undefined> {
  return sagaOf(function* () {
    return yield* stepsOf(tree);
  });
}

function* stepsOf(wait: Wait): Steps<string> {
  switch (wait.kind) {
    case 'sleep':
      yield* sleep(wait.ms);
      return wait.id;
    case 'ask': {
      const { id, ttl } = wait;
      return yield* caught(
        elicit(id, {
          message: id,
          schema: Empty,
          ...(ttl === undefined ? {} : { timeout: ttl }),
        }),
        id,
      );
    }
    case 'poll': {
      const { id, every, timeout, answersAt } = wait;
      const ask = ({ attempt }: { readonly attempt: number }): true | undefined =>
        attempt >= answersAt ? true : undefined;
      return yield* caught(poll(id, ask, { every: every, timeout: timeout }), id);
    }
    case 'sequence': {
      const results: string[] = [];
      for (const part of wait.parts) results.push(yield* stepsOf(part));
      return `(${results.join(' ')})`;
    }
    case 'all':
      return `[${(yield* all(wait.parts.map(stepsOf))).join(' ')}]`;
    case 'allSettled': {
      const settled = yield* allSettled(wait.parts.map(stepsOf));
      const texts = settled.map((one) =>
        one.status === 'fulfilled' ? one.value : `!${(one.reason as Error).message}`,
      );
      return `{${texts.join(' ')}}`;
    }
    case 'fail':
      throw new Error(yield* stepsOf(wait.parts[0] as Wait));
    case 'try':
      try {
        return yield* stepsOf(wait.parts[0] as Wait);
      } catch (error) {
        return `caught ${(error as Error).message}`;
      }
    case 'race': {
      const parts = Object.fromEntries(
        wait.parts.map((part, index) => [`b${index}`, stepsOf(part)]),
      );
      const { winner, value } = yield* race(parts);
      return `${winner}:${value}`;
    }
  }
}

function* caught(command: Iterable<unknown>, id: string): Steps<string> {
  try {
    yield* command as Steps<unknown>;
    return id;
  } catch (error) {
    return `${id} ${(error as Error).name}`;
  }
}

/** Something that waits in the model. */
interface Pending {
  readonly wait: Extract<Wait, { readonly id: string }>;
  readonly done: (result: string, at: number) => void;
  since: number | undefined;
  until: number;
  asked: number;
  cancelled: boolean;
  /** `true` while it runs or after it has ended: a cancellation then waits for it. */
  running: boolean;
  released: () => void;
}

/** Cancels a piece. Returns the pieces that it waits for. */
type Cancel = () => readonly Pending[];

const grace = 30_000;

/** Marks the result of a piece that failed: its error follows. */
const failed = '!';

/** What a saga of waits does, computed without an engine. */
export class WaitModel {
  result: string | undefined;
  #pending: Pending[] = [];
  /** Branches to continue, which start and continue one after the other. */
  readonly #ready: (() => void)[] = [];
  #now: number;

  constructor(tree: Wait, now: number) {
    this.#now = now;
    this.#run(tree, now, (result) => (this.result = result));
    this.#drain();
    this.#settle();
  }

  /** The ids of the open questions. */
  get open(): readonly string[] {
    return this.#live.filter(({ wait }) => wait.kind === 'ask').map(({ wait }) => wait.id);
  }

  /** Takes a turn. */
  turn(now: number, answers: ReadonlySet<string>): void {
    this.#now = now;
    const asked = this.#live.filter(({ wait }) => wait.kind === 'ask');
    const isAnswered = asked.some(({ wait }) => answers.has(wait.id));
    if (isAnswered) this.#fire((at) => at < now - grace, true);
    else this.#fire((at) => at <= now, false);
    for (const question of asked)
      if (answers.has(question.wait.id) && this.#live.includes(question))
        this.#end(question, 'in time', now);
    this.#fire((at) => at <= now, false);
    this.#settle();
  }

  get #live(): readonly Pending[] {
    return this.#pending.filter(({ cancelled }) => !cancelled);
  }

  /** Fires overdue events at their due times. */
  #fire(isOverdue: (at: number) => boolean, asks: boolean): void {
    const held = new Set(this.#live);
    for (;;) {
      const due = this.#live.filter(
        (one) => one.since !== undefined && one.since < this.#now && isOverdue(this.#dueOf(one)),
      );
      const ends = due.filter((one) => one.wait.kind !== 'poll' || this.#isAskedOut(one));
      const first = Math.min(...ends.map((one) => this.#dueOf(one)));
      const polls = due.filter((one) => !ends.includes(one) && this.#dueOf(one) < first);
      if (ends.length === 0 && (polls.length === 0 || !asks)) return;
      for (const one of polls) held.delete(one);
      if (polls.length === 0)
        for (const one of ends)
          if (!one.cancelled && this.#dueOf(one) === first) this.#end(one, 'time', first);
      const next = this.#live.filter((one) => one.since !== undefined && one.since < this.#now);
      if (
        polls.length === 0 &&
        next.some((one) => one.wait.kind === 'sleep' && this.#dueOf(one) === first)
      )
        continue;
      if (asks || next.some((one) => isOverdue(this.#dueOf(one)) && !this.#isToAsk(one)))
        this.#work((one) => one.wait.kind !== 'sleep' && !held.has(one));
    }
  }

  #isToAsk(one: Pending): boolean {
    return one.wait.kind === 'poll' && !this.#isAskedOut(one);
  }

  /** Runs due events, and starts the clocks of questions. */
  #settle(): void {
    this.#work(() => true);
    for (const one of this.#live) one.since ??= this.#now;
  }

  /** Ends waits and runs polls while any are due. Polls that run together end together. */
  #work(mayRun: (one: Pending) => boolean): void {
    const begun = new Set<Pending>();
    const ends: (() => void)[] = [];
    let asked: Pending[] = [];
    for (;;) {
      const over: Pending[] = [];
      for (const one of this.#live) {
        if (one.wait.kind === 'ask' || begun.has(one) || !mayRun(one)) continue;
        const isPoll = one.wait.kind === 'poll';
        if (isPoll ? this.#isAskedOut(one) : one.until <= this.#now) over.push(one);
        else if (isPoll && (one.until <= this.#now || this.#now >= this.#deadlineOf(one)))
          asked.push(one);
        else continue;
        begun.add(one);
        one.running = true;
      }
      for (const one of over.toSorted((before, after) => this.#dueOf(before) - this.#dueOf(after)))
        ends.push(() => this.#end(one, 'time', this.#dueOf(one)));
      if (ends.length === 0) {
        for (const one of asked) ends.push(() => (begun.delete(one), this.#asks(one)));
        asked = [];
      }
      const next = ends.shift();
      if (next === undefined) return;
      next();
      this.#drain();
    }
  }

  #asks(one: Pending): void {
    one.running = false;
    if (one.cancelled) this.#ready.push(one.released);
    if (one.wait.kind !== 'poll' || one.cancelled) return;
    one.asked += 1;
    one.until = Math.ceil(this.#now + one.wait.every);
    if (one.asked >= one.wait.answersAt) this.#end(one, 'in time', this.#now);
  }

  #deadlineOf({ wait, since = 0 }: Pending): number {
    return wait.kind === 'poll' ? Math.ceil(since + wait.timeout) : Number.POSITIVE_INFINITY;
  }

  #isAskedOut(one: Pending): boolean {
    const { wait, until, asked } = one;
    const deadline = this.#deadlineOf(one);
    if (wait.kind !== 'poll' || this.#now < deadline) return false;
    return (
      (this.#now === deadline && until >= deadline) || (asked > 0 && until - wait.every >= deadline)
    );
  }

  #dueOf(one: Pending): number {
    const { wait, since = 0, until } = one;
    if (wait.kind === 'sleep') return until;
    if (wait.kind === 'ask')
      return wait.ttl === undefined ? Number.POSITIVE_INFINITY : Math.ceil(since + wait.ttl);
    const deadline = this.#deadlineOf(one);
    return deadline <= this.#now ? deadline : until;
  }

  #end(one: Pending, how: 'in time' | 'time', at: number): void {
    if (one.cancelled && one.running) this.#ready.push(one.released);
    one.running = false;
    if (one.cancelled) return;
    this.#pending.splice(this.#pending.indexOf(one), 1);
    const { kind, id } = one.wait;
    const result = how === 'time' && kind !== 'sleep' ? `${id} StepTimedOut` : id;
    this.#ready.push(() => one.cancelled || one.done(result, at));
    this.#drain();
  }

  /** Runs a piece from a time on. Returns its cancellation. */
  #run(wait: Wait, at: number, done: (result: string, at: number) => void): Cancel {
    if (!('parts' in wait)) {
      // A question has all its time from when it is asked, a poll from when it can be asked.
      const since = wait.kind === 'sleep' ? at : wait.kind === 'poll' ? this.#now : undefined;
      const until = wait.kind === 'sleep' ? Math.ceil(at + wait.ms) : this.#now;
      const one: Pending = {
        wait,
        done,
        since,
        until,
        asked: 0,
        cancelled: false,
        running: false,
        released: () => undefined,
      };
      this.#pending.push(one);
      return () => {
        one.cancelled = true;
        return one.running ? [one] : [];
      };
    }
    const { parts } = wait;
    const results: string[] = [];
    if (wait.kind === 'sequence') {
      let cancel: Cancel = () => [];
      const next = (from: number): void => {
        const part = parts[results.length];
        if (part === undefined) return done(`(${results.join(' ')})`, from);
        cancel = this.#run(part, from, (result, then) => {
          results.push(result);
          if (result.startsWith(failed)) done(result, then);
          else next(then);
        });
      };
      next(at);
      return () => cancel();
    }
    if (wait.kind === 'fail' || wait.kind === 'try') {
      const end = wait.kind === 'fail' ? asFailure : asCaught;
      return this.#run(parts[0] as Wait, at, (result, then) => done(end(result), then));
    }
    let left = parts.length;
    let isCancelled = false;
    const branches = parts.map(() => ({
      isCancelled: false,
      cancel: (): readonly Pending[] => [],
    }));
    const cancel: Cancel = () =>
      branches.flatMap((branch) => {
        branch.isCancelled = true;
        return branch.cancel();
      });
    for (const [index, part] of parts.entries()) {
      const branch = branches[index] as (typeof branches)[number];
      const ended = (result: string, then: number): void => {
        if (branch.isCancelled) return;
        results[index] = result;
        left -= 1;
        const hasFailed = result.startsWith(failed) && wait.kind !== 'allSettled';
        const isRace = wait.kind === 'race' || hasFailed;
        const whole = hasFailed ? result : wholeOf(wait.kind, index, results);
        const resume = (): void => void this.#ready.push(() => isCancelled || done(whole, then));
        let open = 0;
        for (const one of isRace ? cancel() : []) {
          open += 1;
          one.released = () => void ((open -= 1) === 0 && resume());
        }
        if (open === 0 && (isRace || left === 0)) resume();
      };
      this.#ready.push(() => {
        if (!branch.isCancelled) branch.cancel = this.#run(part, at, ended);
      });
    }
    return () => {
      isCancelled = true;
      return cancel();
    };
  }

  #drain(): void {
    for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) next();
  }
}

function asFailure(result: string): string {
  return result.startsWith(failed) ? result : failed + result;
}

function asCaught(result: string): string {
  return result.startsWith(failed) ? `caught ${result.slice(failed.length)}` : result;
}

function wholeOf(kind: Wait['kind'], index: number, results: readonly string[]): string {
  if (kind === 'race') return `b${index}:${results[index]}`;
  return kind === 'all' ? `[${results.join(' ')}]` : `{${results.join(' ')}}`;
}
