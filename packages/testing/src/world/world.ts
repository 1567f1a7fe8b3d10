import type { ClientStep, Json, StepAnswer } from '@mcp-saga/server';
import type { ClientNeed } from '@mcp-saga/server/internal';
import type { SagaTestError } from '../values/errors.ts';
import { EffectLedger } from './effect-ledger.ts';
import type { Recording } from '../record/journal-recording.ts';
import type { RecordedTurn } from '../record/turns-recording.ts';
import { Rules, type Rule } from '../script/script-rules.ts';
import { seeded, seededBytes } from '../values/seeded-random.ts';
import type { TestSagaOptions } from '../script/test-options.ts';
import { Trace, type TraceEvent } from '../report/trace.ts';
import { VirtualClock } from '../values/virtual-clock.ts';

/** Default start of the clock: noon of a day without daylight saving changes. */
export const defaultClock: number = Date.UTC(2030, 0, 15, 12);

/** The request died, or its response was dropped. */
export class Crash extends Error {}

/** Answers a question without a rule. */
export type AutoAnswer = (question: ClientStep) => StepAnswer | undefined;

/** Outcome of the code of a step. */
export type CallEnd = { readonly result: unknown } | { readonly thrown: unknown };

/** Inputs of a run, by ID. */
export interface Tape {
  readonly calls: Map<string, CallEnd[]>;
  readonly answers: Map<string, StepAnswer[]>;
}

/** Adds an entry under an ID. */
export function noteOn<T>(tape: Map<string, T[]>, id: string, entry: T): T {
  const known = tape.get(id);
  if (known === undefined) tape.set(id, [entry]);
  else known.push(entry);
  return entry;
}

/** Input, key, and result of a step. */
export interface StepFacts {
  readonly input: unknown;
  readonly key: string | undefined;
  readonly result: unknown;
}

/** World of a run: clock, randomness, script, and history. */
export class World {
  readonly options: TestSagaOptions;
  readonly clock: VirtualClock;
  readonly ledger: EffectLedger;
  readonly random: () => number;
  readonly trace: Trace = new Trace();
  readonly warnings: string[] = [];
  /** Errors that only an operator would see. */
  readonly errors: unknown[] = [];
  /** Number of calls of the code of each step, by path, in all requests. */
  readonly runs: Map<string, number> = new Map();
  /** Runs of code, as `id run`, that began a request or ran beside others. */
  readonly fresh: Set<string> = new Set();
  /** Number of runs that ended in the current request, and that still run. */
  ended = 0;
  running = 0;
  /** Last input, key, and result of each step, by ID. */
  readonly calls: Map<string, StepFacts> = new Map();
  /** Questions before the current turn. */
  asked: ReadonlyMap<string, ClientStep> = new Map();
  /** Answers in the current turn. */
  sent: ReadonlyMap<string, StepAnswer> = new Map();
  /** Outcomes of each step by run, and answers to each question. */
  readonly tape: Tape = { calls: new Map(), answers: new Map() };
  /** Outcomes of another run, played instead of code and answers. */
  playback: Tape | undefined;
  /** Time of each open question, in milliseconds since the epoch. */
  readonly askedAt: Map<string, number> = new Map();
  readonly answered: Map<string, number> = new Map();
  /** `true` if the code changed, so that a replay may differ. */
  mayMismatch = false;
  /** Open questions that changed with the code, which each may do once. */
  readonly reworded: Set<string> = new Set();
  /** Answers questions without a rule, for explorers. */
  autoAnswer: AutoAnswer | undefined;
  /** Those answers, as rules. */
  readonly autoAnswered: Rule[] = [];
  /** Returns the faults of a step before its first run, for properties. */
  foresee: ((id: string) => readonly Rule[]) | undefined;
  readonly used: Map<Rule, number> = new Map();
  turn = 1;
  generation = 0;
  /** Number of first requests that died after an effect. The client starts again, with new idempotency keys. */
  restarts = 0;
  /** Questions that a fork answers. */
  readonly forked: Set<string> = new Set();
  /** Error that the kit found in the code of a step. Ends the run even if the saga catches it. */
  objection: SagaTestError | undefined;
  /** IDs undone in the current request. */
  readonly undone: Set<string> = new Set();
  /** IDs undone in requests that died. A saga that fails again undoes them again. */
  readonly undoneInVain: Set<string> = new Set();
  /** Turns whose responses arrived, in order. */
  readonly responses: number[] = [];
  kill: (reason: Crash) => void = () => undefined;
  /** `true` if the current request died: nothing that follows in it is recorded. */
  dead = false;
  readonly rules: Rules;
  /** Recordings of the saga, by number of `continueAs`. */
  readonly recordings: Map<number, () => Recording>;
  /** Recorded turns of a machine, dropped ones included. */
  readonly turns: RecordedTurn[];

  constructor(
    options: TestSagaOptions,
    rules: readonly Rule[],
    shared?: Pick<World, 'ledger' | 'clock' | 'recordings' | 'turns'>,
  ) {
    this.options = options;
    this.rules = new Rules(rules);
    const { clock = defaultClock, seed = 1 } = options;
    this.clock = shared?.clock ?? new VirtualClock(clock instanceof Date ? clock.getTime() : clock);
    this.ledger = shared?.ledger ?? new EffectLedger();
    this.recordings = new Map(shared?.recordings);
    this.turns = [...(shared?.turns ?? [])];
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
    return `${direction}:${this.idOf(path)}${this.#mark()}`;
  }

  randomBytes(path: string): Uint8Array {
    return seededBytes(this.options.seed ?? 1, this.idOf(path) + this.#mark());
  }

  get sagaId(): string {
    return `saga-${this.restarts + 1}`;
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
    return {
      ...(Object.keys(modes).length === 0 ? {} : { elicitation: modes }),
      ...(denied.has('sampling') ? {} : { sampling: {} }),
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
    for (const rule of this.rules.all) if (rule.kind === 'deny' && rule.need === need) this.use(rule);
  }

  crash(event: TraceEvent): Crash {
    this.tell(event);
    const crash = new Crash('The request died, as the script says.');
    this.dead = true;
    this.kill(crash);
    return crash;
  }

  #mark(): string {
    const { seed } = this.options;
    return (this.restarts === 0 ? '' : `~${this.restarts + 1}`) + (seed === undefined ? '' : `^${seed}`);
  }
}
