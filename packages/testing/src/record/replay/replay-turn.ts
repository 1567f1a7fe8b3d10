import type { Program } from '@mcp-saga/server';
import { decode, validate, type Runtime, type StepCall } from '@mcp-saga/server/internal';
import { show } from '../../values/show.ts';
import { nextTick, VirtualClock } from '../../values/virtual-clock.ts';
import {
  isLeft,
  isPassed,
  questionKey,
  type RecordedEvent,
  type TurnBeginning,
} from '../recording.ts';
import { thrownFrom } from '../recorded-errors.ts';
import { isAnswer } from '../recorded-answers.ts';

// Saved at import: a test may install fake timers.
const { setTimeout: realTimeout } = globalThis;

// Poll interval and number of polls for code with real work, such as an asynchronous schema.
const lookAfterMs = 2;
const patience = 250;

type Pending = Readonly<{
  id: string;
  settle: (event: RecordedEvent) => void;
  fail: (why: unknown) => void;
}>;

/**
 * Replays the times and outcomes of a recorded turn. A step without a recording stops the turn; an
 * undo without one fails.
 */
export class TurnScript {
  /** First effect that is not recorded. */
  does: string | undefined;
  onHalt: () => void = () => undefined;
  readonly #began: TurnBeginning;
  readonly #events: readonly RecordedEvent[];
  readonly #stop = new AbortController();
  readonly #pending = new Map<string, Pending>();
  readonly #heard = new Set<RecordedEvent>();
  readonly #late = new Map<string, RecordedEvent>();
  readonly #runs = new Map<string, number>();
  readonly #clock: VirtualClock;
  #at = 0;

  constructor(began: TurnBeginning, happened: readonly RecordedEvent[]) {
    this.#began = began;
    this.#clock = new VirtualClock(Date.parse(began.time), true);
    this.#events = happened.filter((event) => !isAnswer(event) && !isLeft(event));
  }

  /** Takes a turn, event by event as recorded; undefined if it was stopped. */
  async play<T>(take: () => Promise<T>): Promise<T | undefined> {
    let isOver = false;
    const work = take().finally(() => {
      isOver = true;
    });
    // Awaited below, unless it is stopped.
    work.catch(() => undefined);
    let idle = 0;
    // oxlint-disable-next-line no-unmodified-loop-condition -- set at the end of the turn
    while (!isOver) {
      await new Promise<void>((resolve) => {
        if (idle < 2) nextTick(resolve);
        else realTimeout(resolve, lookAfterMs);
      });
      if (isOver || this.#next()) idle = 0;
      else idle += 1;
      if (idle <= patience) continue;
      // A stopped turn may never end.
      if (this.#stop.signal.aborted) return undefined;
      this.#halt(this.#waits);
      idle = 0;
    }
    return this.#stop.signal.aborted ? undefined : await work;
  }

  /** Unused delays: the limited step ended at the same time. */
  get unheard(): readonly RecordedEvent[] {
    return this.#events.filter((event, index) => {
      const before = this.#events[index - 1];
      if (before === undefined || isPassed(before) || !isPassed(event)) return false;
      return (event.waited ?? 0) === 0 && !this.#heard.has(event);
    });
  }

  runtime(program: Program, turn: number): Runtime {
    const { host } = this.#began;
    const { budget, random = [], claims = [], routes = {}, refused = [] } = host;
    const unlimited = Number.POSITIVE_INFINITY;
    const [numbers, free] = [random.values(), claims.values()];
    return {
      saga: {
        id: 'replayed',
        generation: 0,
        checkResult: (result) => checkOutput(program, result),
      },
      turn: {
        number: turn,
        tokenBytes: turn > 1 || host.hasToken === true ? 1 : 0,
        deadline: budget === undefined ? undefined : this.#clock.now() + milliseconds(budget),
        commitsEach: host.checkpointAfterStep ?? false,
        // A committed turn has a recording of its own.
        ...(host.checkpointBeforeUndo === true ? { commit: () => Promise.resolve(undefined) } : {}),
        defersEffects: host.defersEffects,
      },
      request: { capabilities: undefined, user: undefined, signal: this.#stop.signal },
      time: {
        now: () => this.#clock.now(),
        random: () => numbers.next().value ?? 0.5,
        sleep: (ms, signal) => this.#clock.sleep(ms, signal),
        maxHold: host.maxHold ?? unlimited,
        maxWait: host.maxWait ?? unlimited,
        holdsParts: host.holdsParts ?? false,
      },
      questions: {
        route: (question) => routes[questionKey(question)] ?? 'ask',
        accepts: (provenance, question) =>
          !refused.includes(`${provenance} ${questionKey(question)}`),
        sample: (params, { idempotencyKey: path }) => this.#ends('sample', path, params) as never,
        digest: (text) => text,
      },
      effects: {
        // The code of no author runs.
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- necessary if `Register` has a type for services
        services: undefined as never,
        claim: () => free.next().value ?? true,
        stepRetry: host.stepRetry,
        perform: ({ kind, path, step: { input } }) => this.#ends(kind, path, input),
        compensator: () => undefined,
        idempotencyKey: (path) => path,
        randomBytes: () => new Uint8Array(32),
      },
      observer: {
        notify: () => undefined,
        observe: () => undefined,
        warn: undefined,
      },
      limits: {
        maxJournalEntries: unlimited,
        maxCommands: unlimited,
        suggestedTokenBytes: unlimited,
      },
    };
  }

  get #waits(): string {
    const ids = Array.from(this.#pending.values(), ({ id }) => id);
    return ids.length === 0 ? 'never ends' : `waits for ${ids.join(', ')}, which had not ended`;
  }

  #ends(kind: StepCall['kind'] | 'sample', id: string, input: unknown): Promise<unknown> {
    const run = (this.#runs.get(id) ?? 0) + 1;
    this.#runs.set(id, run);
    const name = nameOf(id, run);
    const recorded = this.#events.find((event) => event.id === id && (event.run ?? 1) === run);
    return new Promise((resolve, reject) => {
      const settle = (event: RecordedEvent): void => settleAs(event, resolve, reject);
      if (recorded === undefined) {
        const given = input === undefined ? '' : ` ${show(input)}`;
        const isUndo = id.startsWith('~');
        const does = `${kind === 'sample' ? 'samples' : isUndo ? 'undoes' : 'runs'} ${id}${given}`;
        // A failed undo still shows how the saga ends.
        if (isUndo) this.#note(does);
        else this.#halt(does);
        reject(new Error('Nothing runs in a replay.'));
        return;
      }
      this.#pending.set(name, { id, settle, fail: reject });
      const late = this.#late.get(name);
      if (late !== undefined) this.#settle(late);
    });
  }

  /** Plays the next recorded event with a waiting receiver; `false` at the end. */
  #next(): boolean {
    for (; this.#at < this.#events.length;) {
      const event = this.#events[this.#at] as RecordedEvent;
      this.#at += 1;
      this.#clock.pass(event.waited ?? 0);
      if (isPassed(event)) {
        this.#heard.add(event);
        if (this.#clock.wake()) return true;
        this.#heard.delete(event);
      } else if (event.outcome !== 'not ended') {
        if (this.#settle(event)) return true;
        this.#late.set(nameOf(event.id, event.run), event);
      }
    }
    const { due = 0 } = this.#clock;
    this.#clock.pass(due - this.#clock.now());
    return this.#clock.wake();
  }

  #settle(event: RecordedEvent): boolean {
    const name = nameOf(event.id, event.run);
    const pending = this.#pending.get(name);
    this.#pending.delete(name);
    pending?.settle(event);
    return pending !== undefined;
  }

  #note(does: string): void {
    this.does ??= does;
    this.onHalt();
  }

  #halt(does: string): void {
    this.#note(does);
    const reason = new Error('Nothing runs in a replay.');
    this.#stop.abort(reason);
    for (const { fail } of this.#pending.values()) fail(reason);
    this.#pending.clear();
  }
}

function nameOf(id: string, run = 1): string {
  return `${run} ${id}`;
}

function milliseconds(budget: number | 'over' | 'unlimited'): number {
  if (typeof budget === 'number') return budget;
  return budget === 'over' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function settleAs(
  { outcome, value }: RecordedEvent,
  resolve: (value: unknown) => void,
  reject: (reason: unknown) => void,
): void {
  if (outcome === 'failed') reject(thrownFrom(value));
  else if (outcome === 'unencodable') resolve(unreadable(value));
  else resolve(value === undefined ? undefined : decode(JSON.stringify(value)));
}

/** A value that fails to encode for the recorded reason. */
function unreadable(why: RecordedEvent['value']): object {
  const refuse = (): never => {
    throw thrownFrom(why);
  };
  return new Proxy({}, { getPrototypeOf: refuse, ownKeys: refuse });
}

/** @throws TypeError if a result does not fit the schema of its saga */
async function checkOutput({ output }: Program, result: unknown): Promise<unknown> {
  if (output === undefined) return result;
  const parsed = await validate(output, result);
  if (!parsed.ok)
    throw new TypeError(`The result does not match the output schema: ${parsed.issues}`);
  return parsed.value;
}
