import { VirtualClock } from '../../values/virtual-clock.ts';
import { decode, type Runtime, type StepCall } from '@mcp-saga/server/internal';
import type { Program } from '@mcp-saga/server';
import { replayRuntime } from './replay-runtime.ts';
import { questionKey, isLeft, isPassed, type TurnBeginning, type TurnEvent } from '../turns-recording.ts';
import { show } from '../../values/show.ts';
import { thrownFrom } from '../thrown-values.ts';
import { isAnswer } from '../turn-answers.ts';

// As they are when the kit is loaded: a test may put fake timers in their place.
const { setImmediate: nextTick, setTimeout: realTimeout } = globalThis;

// How often code that does real work, such as a schema that asks somebody, is looked after, and for how long.
const lookAfterMs = 2;
const patience = 250;

interface Pending {
  readonly id: string;
  readonly settle: (event: TurnEvent) => void;
  readonly fail: (reason: unknown) => void;
}

/** Replays the times and outcomes of a recorded turn. An effect that is not recorded stops the turn. */
export class TurnScript {
  /** Effect that is not recorded and stopped the turn. */
  does: string | undefined;
  onHalt: () => void = () => undefined;

  readonly #began: TurnBeginning;
  readonly #events: readonly TurnEvent[];
  readonly #stop = new AbortController();
  readonly #pending = new Map<string, Pending>();
  readonly #heard = new Set<TurnEvent>();
  readonly #late = new Map<string, TurnEvent>();
  readonly #runs = new Map<string, number>();
  readonly #clock: VirtualClock;
  #at = 0;

  constructor(began: TurnBeginning, happened: readonly TurnEvent[]) {
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
    // It is awaited below: whoever stops it does so on purpose.
    work.catch(() => undefined);
    let idle = 0;
    // oxlint-disable-next-line no-unmodified-loop-condition -- it is set when the turn has ended
    while (!isOver) {
      await new Promise<void>((resolve) => {
        if (idle < 2) nextTick(resolve);
        else realTimeout(resolve, lookAfterMs);
      });
      if (isOver || this.#next()) idle = 0;
      else idle += 1;
      if (idle <= patience) continue;
      // It does not even end when it is stopped.
      if (this.does !== undefined) return undefined;
      this.#halt(this.#waits);
      idle = 0;
    }
    if (this.does === undefined) return await work;
    return undefined;
  }

  /** Delays that nothing waited for: they passed at the time at which the step that they limit ended. */
  get unheard(): readonly TurnEvent[] {
    return this.#events.filter((event, index) => {
      const before = this.#events[index - 1];
      if (before === undefined || isPassed(before) || !isPassed(event)) return false;
      return (event.waited ?? 0) === 0 && !this.#heard.has(event);
    });
  }

  runtime(program: Program, { engine, turn }: { readonly engine: number; readonly turn: number }): Runtime {
    const { host } = this.#began;
    const { budget, random = [], claims = [], routes = {}, refused = [] } = host;
    const unlimited = Number.POSITIVE_INFINITY;
    const [numbers, free] = [random.values(), claims.values()];
    return replayRuntime(program, {
      turn,
      engine,
      tokenBytes: turn > 1 || host.hasToken === true ? 1 : 0,
      signal: this.#stop.signal,
      now: () => this.#clock.now(),
      random: () => numbers.next().value ?? 0.5,
      sleep: (ms, signal) => this.#clock.sleep(ms, signal),
      deadline: budget === undefined ? undefined : this.#clock.now() + milliseconds(budget),
      maxHold: host.maxHold ?? unlimited,
      maxWait: host.maxWait ?? unlimited,
      holdsParts: host.holdsParts ?? false,
      commitsEach: host.checkpointAfterStep ?? false,
      // A turn that was committed is recorded by itself.
      ...(host.checkpointBeforeUndo === true ? { commit: () => Promise.resolve(undefined) } : {}),
      defersEffects: host.defersEffects ?? false,
      route: (question) => routes[questionKey(question)] ?? 'ask',
      accepts: (provenance, question) => !refused.includes(`${provenance} ${questionKey(question)}`),
      sample: (params, { idempotencyKey: path }) => this.#ends('sample', path, params) as never,
      claim: () => free.next().value ?? true,
      perform: ({ kind, path, step: { input } }) => this.#ends(kind, path, input),
    });
  }

  get #waits(): string {
    const ids = Array.from(this.#pending.values(), ({ id }) => id);
    return ids.length === 0 ? 'does not come to an end' : `waits for ${ids.join(', ')}, which had not ended`;
  }

  #ends(kind: StepCall['kind'] | 'sample', id: string, input: unknown): Promise<unknown> {
    const run = (this.#runs.get(id) ?? 0) + 1;
    this.#runs.set(id, run);
    const name = nameOf(id, run);
    const recorded = this.#events.find((event) => event.id === id && (event.run ?? 1) === run);
    return new Promise((resolve, reject) => {
      const settle = (event: TurnEvent): void => settleAs(event, resolve, reject);
      if (recorded === undefined) {
        const given = input === undefined ? '' : ` ${show(input)}`;
        this.#halt(`${kind === 'sample' ? 'samples' : id.startsWith('~') ? 'undoes' : 'runs'} ${id}${given}`);
        reject(new Error('Nothing runs in a replay.'));
        return;
      }
      this.#pending.set(name, { id, settle, fail: reject });
      const late = this.#late.get(name);
      if (late !== undefined) this.#settle(late);
    });
  }

  /** Plays the next recorded event that something waits for; `false` if there is none. */
  #next(): boolean {
    for (; this.#at < this.#events.length;) {
      const event = this.#events[this.#at] as TurnEvent;
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

  #settle(event: TurnEvent): boolean {
    const name = nameOf(event.id, event.run);
    const pending = this.#pending.get(name);
    this.#pending.delete(name);
    pending?.settle(event);
    return pending !== undefined;
  }

  #halt(does: string): void {
    this.does ??= does;
    this.onHalt();
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
  { outcome, value }: TurnEvent,
  resolve: (value: unknown) => void,
  reject: (reason: unknown) => void,
): void {
  if (outcome === 'failed') reject(thrownFrom(value));
  else if (outcome === 'unencodable') resolve(unreadable(value));
  else resolve(value === undefined ? undefined : decode(JSON.stringify(value)));
}

/** A value that fails to encode for the recorded reason. */
function unreadable(why: TurnEvent['value']): object {
  const refuse = (): never => {
    throw thrownFrom(why);
  };
  return new Proxy({}, { getPrototypeOf: refuse, ownKeys: refuse });
}
