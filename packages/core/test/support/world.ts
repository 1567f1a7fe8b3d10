import { type Json } from '../../src/index.ts';
import { present } from '../../src/values/json.ts';
import type { CommitPoint, CommitReason } from '../../src/model/outcome.ts';
import type { ProgramLimits, Runtime, StepEvent } from '../../src/model/runtime.ts';

/** Something told to the client. */
export type Told =
  | { readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly log: Json; readonly level: string }
  | { readonly completed: string };

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
 * The world around an engine in a test: a clock that jumps to the next timer when nothing else can
 * happen, gates that let server steps pass in a drawn order, and records of what happened. Nothing
 * sleeps.
 */
export class World {
  time = 1_000;
  /**
   * The order in which gates open: a number in [0, 1) for each. Undefined: first come, first
   * served.
   */
  order: (() => number) | undefined;
  readonly told: Told[] = [];
  readonly events: StepEvent[] = [];
  readonly warnings: string[] = [];
  readonly compensators = new Map<
    string,
    NonNullable<ReturnType<Runtime['effects']['compensator']>>
  >();
  readonly claimed = new Set<string>();
  claim: Runtime['effects']['claim'] = (key) => {
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

  #wait<T extends object>(
    list: (Waiting & T)[],
    more: T,
    signal: AbortSignal | undefined,
  ): Promise<void> {
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

  // After a macrotask, every promise that can continue has continued.
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

/** Members of any part of a runtime, by their names, which no two parts share. */
export type RuntimeMembers = Partial<
  Runtime['saga'] &
    Runtime['turn'] &
    Runtime['request'] &
    Runtime['time'] &
    Runtime['questions'] &
    Runtime['effects'] &
    Runtime['observer']
>;

/** Members that a runtime may lack, by their part. */
const optional: Partial<Record<keyof RuntimeMembers, keyof Runtime>> = {
  lifeEndsAt: 'saga',
  room: 'saga',
  receivedAt: 'turn',
  isInterrupted: 'turn',
  defersEffects: 'turn',
  commit: 'turn',
  stops: 'request',
  perform: 'effects',
  stepRetry: 'effects',
  outside: 'effects',
  threw: 'observer',
  schemaFailed: 'observer',
  isStrict: 'observer',
};

/** Replaces members of a runtime, each in its part. */
export function replaceMembers(runtime: Runtime, members: RuntimeMembers): Runtime {
  const parts: Record<string, object> = { ...runtime };
  for (const [name, value] of Object.entries(members)) {
    const known = Object.keys(runtime).find((part) => name in runtime[part as keyof Runtime]);
    const part = known ?? optional[name as keyof RuntimeMembers];
    if (part === undefined) throw new TypeError(`A runtime has no '${name}'.`);
    parts[part] = { ...parts[part], [name]: value };
  }
  return parts as unknown as Runtime;
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
  readonly services?: unknown;
  readonly user?: unknown;
  readonly capabilities?: Json;
  readonly replace?: RuntimeMembers;
}

/** Ends the turn at each commit, and notes the reasons. */
export function endsAtCommits(reasons: CommitReason[] = []): Pick<Runtime['turn'], 'commit'> {
  return {
    commit: ({ reason }) => {
      reasons.push(reason);
      return Promise.resolve(undefined);
    },
  };
}

/** Continues after each commit, and records the commit points. */
export function continuesAtCommits(points: CommitPoint[] = []): Pick<Runtime['turn'], 'commit'> {
  return {
    commit: (point) => {
      points.push(point);
      return Promise.resolve({ turn: points.length + 1, tokenBytes: 1, deadline: undefined });
    },
  };
}

/** A runtime whose idempotency keys can be read: `do:path`, with the author's key behind it. */
export function runtimeOf(world: World, settings: TurnSettings = {}): Runtime {
  const { budget, signal, limits, services, user, capabilities } = settings;
  const runtime: Runtime = {
    saga: {
      id: 'saga-1',
      generation: 0,
      checkResult: async (result) => result,
    },
    turn: {
      number: settings.turn ?? 1,
      tokenBytes: 0,
      deadline: budget === undefined ? undefined : world.time + budget,
      commitsEach: false,
    },
    request: { capabilities, user, signal: signal ?? new AbortController().signal },
    time: {
      now: () => world.time,
      sleep: (ms, until) => world.sleep(ms, until),
      random: () => 0.5,
      maxHold: settings.maxHold ?? Number.POSITIVE_INFINITY,
      holdsParts: false,
      maxWait: Number.POSITIVE_INFINITY,
    },
    questions: {
      route: () => 'ask',
      accepts: () => true,
      sample: () => {
        throw new Error('nobody samples here');
      },
      digest: (text) => hash(text).toString(36),
    },
    effects: {
      services,
      claim: world.claim,
      compensator: (name) => world.compensators.get(name),
      idempotencyKey: (path, key, direction) =>
        `${direction}:${path}${key === undefined ? '' : `|${key}`}`,
      randomBytes: (path) =>
        Uint8Array.from({ length: 32 }, (_, index) => hash(`${index}${path}`) & 255),
    },
    observer: {
      notify: (sent) =>
        void world.told.push(
          sent.kind === 'completeUrl'
            ? { completed: sent.id }
            : sent.kind === 'log'
              ? { log: sent.data, level: sent.level }
              : { progress: sent.value, ...present({ total: sent.total, message: sent.message }) },
        ),
      observe: (event) => void world.events.push(event),
      // Tests write short durations as numbers.
      warn: (message, kind) => void (kind === 'unit' || world.warnings.push(message)),
    },
    limits: {
      maxJournalEntries: 10_000,
      maxCommands: 100_000,
      suggestedTokenBytes: 16_384,
      ...limits,
    },
  };
  return replaceMembers(runtime, settings.replace ?? {});
}
