import { type Json } from '../../src/index.ts';
import { engineVersion } from '../../src/model/program-state.ts';
import type { CommitPoint, CommitReason } from '../../src/model/outcome.ts';
import type { ProgramLimits, Runtime, StepEvent } from '../../src/model/runtime.ts';

/** Something told to the client. */
export type Told =
  | { readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly log: Json; readonly level: string };

/** Numbers in [0, 1) from a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A hash of a text, 0 to 2^32 - 1 (FNV-1a). */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

interface Waiting {
  readonly wake: () => void;
  readonly signal: AbortSignal | undefined;
}

/**
 * The world around an engine in a test: a clock that jumps to the next timer when nothing else can happen, gates
 * that let server steps pass in a drawn order, and records of what happened. Nothing sleeps.
 */
export class World {
  time = 1_000;
  /** The order in which gates open: a number in [0, 1) for each. Undefined: first come, first served. */
  order: (() => number) | undefined;
  readonly told: Told[] = [];
  readonly events: StepEvent[] = [];
  readonly warnings: string[] = [];
  readonly compensators = new Map<string, NonNullable<ReturnType<Runtime['compensator']>>>();
  readonly claimed = new Set<string>();
  claim: Runtime['claim'] = (key) => {
    const first = !this.claimed.has(key);
    this.claimed.add(key);
    return first;
  };

  readonly #timers: (Waiting & { readonly at: number })[] = [];
  readonly #gates: Waiting[] = [];
  #scheduled = false;

  /** Resolves at a time of its own, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#wait(this.#timers, { at: this.time + ms }, signal);
  }

  /** Resolves when its turn comes among all that wait at gates. */
  gate(signal?: AbortSignal): Promise<void> {
    return this.#wait(this.#gates, {}, signal);
  }

  #wait<T extends object>(list: (Waiting & T)[], more: T, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const leave = (): void => {
        const index = list.indexOf(waiting);
        if (index !== -1) list.splice(index, 1);
        resolve();
      };
      const waiting = {
        ...more,
        signal,
        wake: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      list.push(waiting);
      signal?.addEventListener('abort', leave, { once: true });
      this.#schedule();
    });
  }

  // After a macrotask every promise that can go on has gone on.
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#release();
      if (this.#gates.length > 0 || this.#timers.length > 0) this.#schedule();
    });
  }

  #release(): void {
    if (this.#gates.length > 0) {
      const index = Math.floor((this.order?.() ?? 0) * this.#gates.length);
      this.#gates.splice(index, 1)[0]?.wake();
      return;
    }
    const at = Math.min(...this.#timers.map((timer) => timer.at));
    const index = this.#timers.findIndex((timer) => timer.at === at);
    if (index === -1) return;
    this.time = Math.max(this.time, at);
    this.#timers.splice(index, 1)[0]?.wake();
  }
}

/** What a test may want otherwise in a turn. */
export interface TurnSettings {
  /** Milliseconds until the turn's budget is used up. Default: never. */
  readonly budget?: number;
  /** Milliseconds that a wait is held in a turn with a budget. Default: for ever. */
  readonly maxHold?: number;
  readonly turn?: number;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ProgramLimits>;
  readonly context?: unknown;
  readonly capabilities?: Json;
  readonly replace?: Partial<Runtime>;
}

/** Ends the turn at each commit, and notes the reasons. */
export function endsAtCommits(reasons: CommitReason[] = []): Pick<Runtime, 'commit'> {
  return {
    commit: ({ reason }) => {
      reasons.push(reason);
      return Promise.resolve(undefined);
    },
  };
}

/** Continues behind each commit, and notes what was committed. */
export function continuesAtCommits(points: CommitPoint[] = []): Pick<Runtime, 'commit'> {
  return {
    commit: (point) => {
      points.push(point);
      return Promise.resolve({ turn: points.length + 1, tokenBytes: 1, deadline: undefined });
    },
  };
}

/** A runtime whose idempotency keys can be read: `do:path`, with the author's key behind it. */
export function runtimeOf(world: World, settings: TurnSettings = {}): Runtime {
  const { budget, signal, limits, context, capabilities } = settings;
  return {
    sagaId: 'saga-1',
    turn: settings.turn ?? 1,
    engine: engineVersion,
    tokenBytes: 0,
    suggestedTokenBytes: 16_384,
    maxHold: settings.maxHold ?? Number.POSITIVE_INFINITY,
    maxWait: Number.POSITIVE_INFINITY,
    holdsParts: false,
    commitsEach: false,
    route: () => 'ask',
    accepts: () => true,
    sample: () => {
      throw new Error('nobody samples here');
    },
    claim: world.claim,
    compensator: (name) => world.compensators.get(name),
    capabilities,
    context,
    signal: signal ?? new AbortController().signal,
    now: () => world.time,
    random: () => 0.5,
    sleep: (ms, until) => world.sleep(ms, until),
    deadline: budget === undefined ? undefined : world.time + budget,
    idempotencyKey: (path, key, direction) => `${direction}:${path}${key === undefined ? '' : `|${key}`}`,
    checkResult: async (result) => result,
    randomBytes: (path) => Uint8Array.from({ length: 32 }, (_, index) => hash(`${index}${path}`) & 255),
    digest: (text) => hash(text).toString(36),
    progress: ({ value, ...rest }) => void world.told.push({ progress: value, ...rest }),
    log: (level, data) => void world.told.push({ log: data, level }),
    observe: (event) => void world.events.push(event),
    warn: (message) => void world.warnings.push(message),
    limits: { maxJournalEntries: 10_000, maxCommands: 100_000, ...limits },
    ...settings.replace,
  };
}
