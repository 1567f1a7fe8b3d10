import type { ClientStep, Json, StepAnswer } from '@mcp-saga/server';
import type { ClientNeed } from '@mcp-saga/server/internal';
import type { SagaTestError } from '../values/errors.ts';
import { EffectLedger } from './effect-ledger.ts';
import type { Recording } from '../record/journal-recording.ts';
import type { RecordedTurn } from '../record/turns-recording.ts';
import { Rules, type Rule } from '../script/rules.ts';
import { seeded, seededBytes } from '../values/seeded-random.ts';
import type { TestSagaOptions } from '../script/test-options.ts';
import { Trace, type TraceEvent } from '../report/trace.ts';
import { VirtualClock } from '../values/virtual-clock.ts';

/** When runs begin, where a test does not say: noon of a day without daylight saving changes. */
export const defaultClock: number = Date.UTC(2030, 0, 15, 12);

/** The request that is being served died, or its response never arrived. */
export class Crash extends Error {}

/** Answers questions that a script does not foresee. */
export type AutoAnswer = (question: ClientStep) => StepAnswer | undefined;

/** What the code of a step came to. */
export type CallEnd = { readonly result: unknown } | { readonly thrown: unknown };

/** What came into a run from outside, by id. */
export interface Tape {
  readonly calls: Map<string, CallEnd[]>;
  readonly answers: Map<string, StepAnswer[]>;
}

/** Notes one more entry under an id. */
export function noteOn<T>(tape: Map<string, T[]>, id: string, entry: T): T {
  const known = tape.get(id);
  if (known === undefined) tape.set(id, [entry]);
  else known.push(entry);
  return entry;
}

/** What the code of a step was given, and what it gave. */
export interface StepFacts {
  readonly input: unknown;
  readonly key: string | undefined;
  readonly result: unknown;
}

/** The world around one run: its clock and randomness, what a script says of it, and what has happened in it. */
export class World {
  readonly options: TestSagaOptions;
  readonly clock: VirtualClock;
  readonly ledger: EffectLedger;
  readonly random: () => number;
  readonly trace: Trace = new Trace();
  readonly warnings: string[] = [];
  /** Errors that nobody but an operator would hear of. */
  readonly errors: unknown[] = [];
  /** How often the code of each step was to be run, by path: over all requests, those that died included. */
  readonly runs: Map<string, number> = new Map();
  /** Runs of code, as `id run`, that began a request or had others beside them: what went before does not say when. */
  readonly fresh: Set<string> = new Set();
  /** How much code has ended in the request that is being served, and how much runs. */
  ended = 0;
  running = 0;
  /** What the code of each step was given and gave, by id: the last time. */
  readonly calls: Map<string, StepFacts> = new Map();
  /** What the client was asked before the turn that is being taken. */
  asked: ReadonlyMap<string, ClientStep> = new Map();
  /** What the client answers in the turn that is being taken. */
  sent: ReadonlyMap<string, StepAnswer> = new Map();
  /** What the code of each step came to, run by run; and what each question was answered, time by time. */
  readonly tape: Tape = { calls: new Map(), answers: new Map() };
  /** What is played in place of code and answers: what another run came to. */
  playback: Tape | undefined;
  /** When each question that waits for an answer was asked, in milliseconds since the epoch. */
  readonly askedAt: Map<string, number> = new Map();
  /** How often each question was answered. */
  readonly answered: Map<string, number> = new Map();
  /** Whether a saga may do something else than its journal says: where its code was changed. */
  mayMismatch = false;
  /** Questions that were asked otherwise while they were open, where the code was changed: each may be so once. */
  readonly reworded: Set<string> = new Set();
  /** Answers what the script does not; for those who explore. */
  autoAnswer: AutoAnswer | undefined;
  /** What was answered so, as the lines of a script that would have said it. */
  readonly autoAnswered: Rule[] = [];
  /** What is to happen to a step, said when its code is first to be run; for those who explore. */
  foresee: ((id: string) => readonly Rule[]) | undefined;
  /** How often a rule has held. */
  readonly used: Map<Rule, number> = new Map();
  /** The turn that is being taken. */
  turn = 1;
  /** How often the saga has started over with `continueAs`. */
  generation = 0;
  /** How often the first request died after an effect: its client can only call anew, with new idempotency keys. */
  restarts = 0;
  /** Questions that a fork answers, and not the script. */
  readonly forked: Set<string> = new Set();
  /** What the kit itself holds against the code of a step that ran: it ends the run, whatever the saga makes of it. */
  objection: SagaTestError | undefined;
  /** What was undone in the request that is being served, by id. */
  readonly undone: Set<string> = new Set();
  /** What was undone in requests that died: a saga that fails when they are sent again undoes it again. */
  readonly undoneInVain: Set<string> = new Set();
  /** The turns whose responses came, in order. */
  readonly responses: number[] = [];
  /** Kills the request that is being served. */
  kill: (reason: Crash) => void = () => undefined;
  /** Whether the request that is being served has died: what still happens in it, nobody hears of. */
  dead = false;
  readonly rules: Rules;
  /** What was recorded of the saga, by how often it had started over. */
  readonly recordings: Map<number, () => Recording>;
  /** The turns of a saga that keeps no journal, those that led nowhere included. */
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

  /** Notes that something has happened. */
  tell(event: TraceEvent): void {
    if (this.dead) return;
    const last = this.trace.at(-1);
    if (event.type === 'waited' && last?.type === 'waited' && last.turn === this.turn) {
      this.trace[this.trace.length - 1] = { ...last, ms: last.ms + event.ms };
    } else {
      this.trace.push({ ...event, turn: this.turn });
    }
  }

  /** The id of a step of the program, as scripts and traces have it: after `continueAs`, `@n` stands behind the path. */
  idOf(path: string): string {
    return this.generation === 0 ? path : `${path}@${this.generation}`;
  }

  /** The key of a step or an undo, readable and the same in every run of a script: `do:charge`, `undo:~charge`. */
  idempotencyKey(path: string, direction: 'do' | 'undo'): string {
    return `${direction}:${this.idOf(path)}${this.#mark()}`;
  }

  /** What `random()` and `uuid()` are made of. */
  randomBytes(path: string): Uint8Array {
    return seededBytes(this.options.seed ?? 1, this.idOf(path) + this.#mark());
  }

  /** The name of the saga that runs. */
  get sagaId(): string {
    return `saga-${this.restarts + 1}`;
  }

  /** What the client says it can do, or undefined where a script denies it nothing. */
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

  /** Notes that a rule holds once more; false when it has held as often as it may. */
  use(rule: Rule, times: number = Infinity): boolean {
    const used = this.used.get(rule) ?? 0;
    if (used >= times) return false;
    this.used.set(rule, used + 1);
    return true;
  }

  /** Notes that the saga needs something of its client: a rule that denies it holds. */
  needs(need: ClientNeed): void {
    for (const rule of this.rules.all) if (rule.kind === 'deny' && rule.need === need) this.use(rule);
  }

  /** The request that is being served dies. */
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
