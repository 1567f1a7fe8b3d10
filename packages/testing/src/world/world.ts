import type { ClientStep, Json, StepAnswer, SuspendedTurn } from '@mcp-saga/server';
import type { ClientNeed, StepGiven } from '@mcp-saga/server/internal';
import type { SagaTestError } from '../values/errors.ts';
import { CallNames, EffectLedger } from './world-effects.ts';
import { OutsideWorld } from './outside-world.ts';
import type { RecordedTurn, Recording } from '../record/recording.ts';
import { Rules, type Rule } from '../script/script-rules.ts';
import { seeded, seededBytes } from '../values/seeded-random.ts';
import type { TestSagaOptions } from '../script/test-options.ts';
import { Trace, type TraceEvent } from '../report/trace.ts';
import { VirtualClock } from '../values/virtual-clock.ts';

/** Default start of the clock: noon of a day without daylight saving changes. */
export const defaultClock: number = Date.UTC(2030, 0, 15, 12);

/** Death of a request, or a dropped response. */
export class Crash extends Error {}

/** Answers a question without a rule. */
export type AutoAnswer = (question: ClientStep) => StepAnswer | undefined;

/** Kills the process before or after a run of a step. */
export type CrashRule = Extract<Rule, { readonly kind: 'crash' }>;

export type CallEnd = { readonly result: unknown } | { readonly thrown: unknown };

/** Inputs of a run, by ID and number of the run or question: `charge 1`. */
export type Tape = Readonly<{ calls: Map<string, CallEnd>; answers: Map<string, StepAnswer> }>;

/** Suspension of a run, where a fork starts. */
export interface Point {
  readonly turn: number;
  readonly token: string;
  readonly asked: readonly ClientStep[];
  readonly answers: readonly StepAnswer[];
  readonly time: number;
  /** When the saga continues without an answer, in milliseconds since the epoch. Absent: never. */
  readonly due?: number;
  /** Length of the trace, with the questions. */
  readonly traced: number;
}

/** World of a run: clock, randomness, script, and history. */
export class World {
  readonly options: TestSagaOptions;
  readonly clock: VirtualClock;
  readonly ledger: EffectLedger;
  outside: OutsideWorld;
  readonly random: () => number;
  readonly trace: Trace = new Trace();
  readonly warnings: string[] = [];
  /** Errors that only an operator would see. */
  readonly errors: unknown[] = [];
  /** Number of calls of the code of each step, by path, in all requests. */
  readonly runs: Map<string, number> = new Map();
  /** Names of the calls of the current request. */
  readonly calls: CallNames = new CallNames();
  /** Places at which the process could die, in order, each as the rule that kills it there. */
  readonly deaths: CrashRule[] = [];
  /** Names of these places, which are the same in a repeated request. */
  readonly places: Set<string> = new Set();
  /** Kills the process at each place once, and gets the rule for it. */
  diesOnce: ((rule: CrashRule) => void) | undefined;
  /** IDs of the steps that only read. Shared with forks. */
  readonly reads: Set<string>;
  /** IDs of the steps that send links to people. Shared with forks. */
  readonly deliveries: Set<string>;
  /** Number of running calls. */
  running = 0;
  /** Effects whose success has not been reported yet, by ID. */
  readonly unreported: Map<string, TraceEvent> = new Map();
  /** Questions before the current turn. */
  asked: ReadonlyMap<string, ClientStep> = new Map();
  sent: ReadonlyMap<string, StepAnswer> = new Map();
  readonly tape: Tape = { calls: new Map(), answers: new Map() };
  /** Outcomes of another run, played instead of code and answers. */
  playback: Tape | undefined;
  /** Time of each open question, in milliseconds since the epoch. */
  readonly askedAt: Map<string, number> = new Map();
  readonly answered: Map<string, number> = new Map();
  /** `true` if the code changed: a replay may differ. */
  mayMismatch = false;
  /** Open questions, each changed once with the code. */
  readonly reworded: Set<string> = new Set();
  /** Answers questions without a rule, for explorers. */
  autoAnswer: AutoAnswer | undefined;
  /**
   * Lets the client return later without an answer, for the studio: after some milliseconds, or
   * undefined to answer at once. Gets the milliseconds until the saga can continue. May throw to
   * end the run.
   */
  returnAfter: ((turn: SuspendedTurn, dueInMs: number) => number | undefined) | undefined;
  /**
   * `true` if only rules answer approvals and events, for the studio: without a rule, no answer has
   * arrived yet.
   */
  isAttended = false;
  /** Those answers, as rules. Shared with forks. */
  readonly autoAnswered: Rule[];
  /** Returns the faults of a step before its first run, for properties. */
  foresee: ((id: string) => readonly Rule[]) | undefined;
  readonly used: Map<Rule, number> = new Map();
  turn = 1;
  /** How often the saga of the last turn has continued as another. */
  generation = 0;
  /**
   * Number of first requests that died after an effect. The client starts again, with new
   * idempotency keys.
   */
  restarts = 0;
  /** Questions that a fork answers. */
  readonly forked: Set<string> = new Set();
  /** Misuse found in the code of a step. Ends the run even if the saga catches the error. */
  objection: SagaTestError | undefined;
  /** IDs undone in the current request. */
  readonly undone: Set<string> = new Set();
  /** IDs undone in dead requests. A saga that fails again repeats these undos. */
  readonly undoneInVain: Set<string> = new Set();
  /** Suspensions, in order. */
  readonly points: Point[] = [];
  /** Turns whose responses arrived, in order. */
  readonly responses: number[] = [];
  /**
   * `true` if the host took a turn in the current request, and repeated no response of an earlier
   * one.
   */
  hasAdvanced = false;
  /** Time of the last commit inside of a request, in milliseconds since the epoch. */
  committedAt = 0;
  kill: (reason: Crash) => void = () => undefined;
  /** `true` after the death of the current request: nothing more is recorded. */
  dead = false;
  readonly rules: Rules;
  /** Recordings of the saga, by number of `continueAs`. */
  readonly recordings: Map<number, () => Recording>;
  /** Time of each token. Shared with forks. */
  readonly sealedAt: Map<string, number>;
  /** Recorded turns, those with a dropped response included. */
  readonly turns: RecordedTurn[];

  constructor(options: TestSagaOptions, rules: readonly Rule[], shared?: World) {
    this.options = options;
    this.rules = new Rules(rules);
    const { clock = defaultClock, seed = 1 } = options;
    this.clock = shared?.clock ?? new VirtualClock(clock instanceof Date ? clock.getTime() : clock);
    this.ledger = shared?.ledger ?? new EffectLedger();
    this.reads = shared?.reads ?? new Set();
    this.deliveries = shared?.deliveries ?? new Set();
    this.recordings = new Map(shared?.recordings);
    this.sealedAt = shared?.sealedAt ?? new Map();
    this.turns = [...(shared?.turns ?? [])];
    this.autoAnswered = shared?.autoAnswered ?? [];
    this.outside = new OutsideWorld(this, shared?.outside.asked);
    this.random = seeded(seed);
    this.clock.onPass = (ms) => this.tell({ type: 'waited', ms });
  }

  tell(event: TraceEvent): void {
    if (this.dead) return;
    const last = this.trace.at(-1);
    if (event.type === 'waited' && last?.type === 'waited' && last.turn === this.turn) {
      this.trace[this.trace.length - 1] = { ...last, ms: last.ms + event.ms };
    } else {
      this.trace.push({ ...event, turn: this.turn });
    }
  }

  /** ID of a step in scripts and traces: after `continueAs`, the path and `@n`. */
  idOf(path: string): string {
    return this.generation === 0 ? path : `${path}@${this.generation}`;
  }

  /** Readable key of a step or undo, equal in each run of a script: `do:charge`, `undo:~charge`. */
  idempotencyKey(path: string, direction: 'do' | 'undo'): string {
    const id = this.idOf(path);
    const key = `${direction}:${id}${this.#mark()}`;
    // Providers may get the key of a step whose code never runs: an undo in steps passes it on.
    this.ledger.begin([[key, id]])();
    return key;
  }

  randomBytes(path: string): Uint8Array {
    return seededBytes(this.options.seed ?? 1, this.idOf(path) + this.#mark());
  }

  get sagaId(): string {
    return `saga-${this.restarts + 1}`;
  }

  /** `true` for an effect of an earlier start, by its key: the client has no token of that saga. */
  isAbandoned(key: string): boolean {
    return !key.endsWith(this.#mark());
  }

  /** Capabilities of the client; undefined if the script denies none. */
  get capabilities(): Json | undefined {
    const denied = new Set<ClientNeed>(
      this.rules.all.flatMap((rule) => (rule.kind === 'deny' ? [rule.need] : [])),
    );
    if (denied.size === 0) return undefined;
    const modes = {
      ...(denied.has('elicitation') ? {} : { form: {} }),
      ...(denied.has('elicitation.url') ? {} : { url: {} }),
    };
    const sampling = denied.has('sampling.tools') ? {} : { tools: {} };
    return {
      ...(Object.keys(modes).length === 0 ? {} : { elicitation: modes }),
      ...(denied.has('sampling') ? {} : { sampling }),
      ...(denied.has('roots') ? {} : { roots: {} }),
    };
  }

  /** Counts a use of a rule. `false` after `times` uses. */
  use(rule: Rule, times: number = Infinity): boolean {
    const used = this.used.get(rule) ?? 0;
    if (used >= times) return false;
    this.used.set(rule, used + 1);
    return true;
  }

  /** Uses the rules that deny a capability. */
  needs(need: ClientNeed): void {
    // A client without sampling has no sampling with tools either.
    const denying = need === 'sampling.tools' ? [need, 'sampling'] : [need];
    for (const rule of this.rules.all)
      if (rule.kind === 'deny' && denying.includes(rule.need)) this.use(rule);
  }

  /** `true` if the trace has a step of this ID. */
  knows(id: string): boolean {
    return this.trace.some((entry) => 'id' in entry && entry.id === id);
  }

  /**
   * Notes an effect. Those beside the step at which the process dies have happened, though nothing
   * reports their success.
   */
  happened(id: string, { attempt, input, idempotencyKey: key }: StepGiven, result: unknown): void {
    const undone = id.replace(/^~/, '');
    // A step inside an undo is reported as a step. The end of the saga reports the undo.
    const isUndo = id !== undone && (!undone.includes('/') || this.knows(undone));
    const event: TraceEvent = isUndo
      ? { type: 'undone', id: undone, key }
      : { type: 'ran', id, attempt, input, result, key };
    const crash = this.trace.findLastIndex(({ type }) => type === 'crashed');
    if (this.dead) this.trace.splice(crash, 0, { ...event, turn: this.turn });
    else this.unreported.set(id, event);
  }

  crash(event: TraceEvent): Crash {
    for (const effect of this.unreported.values()) this.tell(effect);
    this.unreported.clear();
    this.tell(event);
    const crash = new Crash('The request died, as the script says.');
    this.dead = true;
    this.kill(crash);
    return crash;
  }

  #mark(): string {
    const { seed } = this.options;
    return (
      (this.restarts === 0 ? '' : `~${this.restarts + 1}`) + (seed === undefined ? '' : `^${seed}`)
    );
  }
}
