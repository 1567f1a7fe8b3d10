import { ReplayMismatch, type TurnAborted } from '@mcp-saga/core';
import {
  runtimeAfter,
  type Outcome,
  type ProgramState,
  type Runtime,
  type TurnBudget,
} from '@mcp-saga/core/program';
import { assertNamed, isSpawned } from '../adapter/actor-names.ts';
import type { SurveyedActor } from '../adapter/survey.ts';
import { outsideOf } from '../author/outside-logic.ts';
import type { StepEnd } from '../author/step-logic.ts';
import { MachineMismatch } from '../model/errors.ts';
import type { LiveActor } from '../model/live-actor.ts';
import type { ActiveStepRecord } from '../model/machine-record.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import type { Ledger } from './ledger.ts';
import type { Deferrable } from './machine-effects.ts';
import {
  advanceWait,
  answerCopies,
  fromWaitRecord,
  hasBegun,
  newWait,
  toWaitRecord,
  withdrawWaits,
  type Decision,
  type OpenWait,
} from './open-wait.ts';

/** Options of {@link Waits}. */
export interface WaitsOptions {
  readonly program: Pick<MachineProgramOptions, 'name' | 'nameOf' | 'logicNamed'>;
  readonly runtime: Runtime;
  readonly ledger: Ledger;
  /** Waits of earlier turns. */
  readonly restored: ReadonlyMap<LiveActor, ActiveStepRecord>;
  /** State of the machine at the start of the turn. */
  readonly state: ProgramState;
  /** All waits of the stored machine. Those without an actor are withdrawn. */
  readonly stored: readonly OpenWait[];
  /** Returns `true` if work waits for the next turn. */
  readonly defers: (work?: Deferrable) => boolean;
  /** Notes what the next commit must hold. */
  readonly uncommitted: TurnBudget['uncommitted'];
  /** Called if an interrupted run of this turn may have continued differently. */
  readonly diverged: () => void;
  /** Called when a turn of a wait has ended. */
  readonly wake: () => void;
}

/** Wait of an actor. */
interface Work {
  readonly actor: LiveActor;
  wait: OpenWait;
  content: readonly string[];
  /** Bytes of the token that the wait keeps for its answers. Undefined until it has opened. */
  reserves: number | undefined;
  /** `true` after the first read of this turn. */
  isRead: boolean;
  isRunning: boolean;
  isHopeless: boolean;
}

type Turn = Awaited<ReturnType<typeof advanceWait>>;

/** Waits of a machine for answers from outside, in one turn. */
export class Waits {
  /** Reason to abort the turn. */
  aborted: TurnAborted | undefined;
  /** Set if the code asks another question. */
  mismatch: MachineMismatch | undefined;

  readonly #options: WaitsOptions;
  readonly #work = new Map<LiveActor, Work>();
  /** Bytes of the answers that were received in this turn. */
  #received = 0;
  #left: readonly OpenWait[];
  #withdrawing = false;

  constructor(options: WaitsOptions) {
    this.#options = options;
    const { restored, stored, ledger } = options;
    for (const [actor, { i, w }] of restored) {
      if (w !== undefined && outsideOf(actor.logic) !== undefined)
        this.#add(actor, fromWaitRecord(w, i));
    }
    const kept = new Set([...this.#work.values()].map(({ wait }) => wait.path));
    this.#left = stored.filter((wait) => hasBegun(wait) && !kept.has(wait.path));
    for (const { path } of this.#left) {
      // A migration dropped the actor.
      if (!ledger.entries.some((entry) => entry.path === path))
        ledger.addWait(path, { end: 'withdrawn', isSpawned: true });
    }
  }

  /** `true` while a delivery, a read of answers, or a withdrawal runs. */
  get running(): boolean {
    return this.#withdrawing || [...this.#work.values()].some(({ isRunning }) => isRunning);
  }

  /** Time of the next read: 0 for at once, undefined without waits. */
  get nextDue(): number | undefined {
    const times = [...this.#work.values()].map(({ wait }) => wait.due);
    if (this.#left.length > 0) times.push(0);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Latest time that a wait takes (ms since the epoch), 0 without waits. */
  get until(): number {
    return Math.max(0, ...[...this.#work.values()].map(({ wait }) => wait.until));
  }

  /** Bytes of the token that are kept for answers. */
  get reserves(): number {
    return [...this.#work.values()].reduce((sum, work) => sum + (work.reserves ?? 0), 0);
  }

  /**
   * Bytes that the state at the start of the turn lacks: those kept for answers, and the answers
   * that this turn has received.
   */
  get missing(): number {
    return this.reserves + this.#received;
  }

  /** Texts for the user in the meantime. */
  get content(): readonly string[] {
    return [...this.#work.values()].flatMap(({ content }) => content);
  }

  /** Waits of states that the machine has left. */
  get left(): readonly OpenWait[] {
    return this.#left;
  }

  /**
   * Reads the answers to the waits of earlier turns, before overdue delays fire: as in a
   * generator saga, stored answers come before the end of a delay.
   */
  async readAll(): Promise<void> {
    const earlier = [...this.#work.values()];
    const turns = await Promise.all(earlier.map((work) => this.#advance(work)));
    for (const [index, work] of earlier.entries()) this.#end(work, turns[index]);
  }

  /** Starts what is due: new waits, reads, and withdrawals for states that the machine has left. */
  startDue(waits: readonly SurveyedActor[]): void {
    const { defers, wake, runtime } = this.#options;
    for (const work of this.#work.values()) {
      if (work.actor.getSnapshot().status !== 'active' && !work.isRunning) this.#leave(work);
    }
    for (const at of waits) if (!this.#work.has(at.actor)) this.#begin(at);
    const now = runtime.time.now();
    const isDeferred = defers({ isVital: this.#work.size > 0 });
    for (const work of this.#work.values()) {
      const isDue = !work.isRead || (!isDeferred && (work.isHopeless || work.wait.due <= now));
      if (work.isRunning || !isDue) continue;
      void this.#advance(work).then((turn) => {
        this.#end(work, turn);
        wake();
      });
    }
    if (this.#left.length > 0 && !isDeferred && !this.#withdrawing) void this.withdraw().then(wake);
  }

  /**
   * Ends the waits that are due first: the client cannot wait until then. Returns `false` if none
   * is due at the time.
   */
  cannot(due: number): boolean {
    const hopeless = [...this.#work.values()].filter(({ wait }) => wait.due === due);
    for (const work of hopeless) work.isHopeless = true;
    return hopeless.length > 0;
  }

  /** Withdraws the links of states that the machine has left. */
  async withdraw(): Promise<void> {
    const left = this.#left;
    this.#withdrawing = true;
    try {
      await withdrawWaits(this.#options.program, left, this.#options.runtime);
      this.#left = this.#left.filter((wait) => !left.includes(wait));
    } catch (error) {
      this.aborted ??= error as TurnAborted;
    }
    this.#withdrawing = false;
  }

  /** Ends all waits before an undo, and returns those to withdraw. */
  giveUp(): readonly OpenWait[] {
    for (const work of this.#work.values()) this.#leave(work);
    return this.#left;
  }

  /** Returns the stored facts of a wait. */
  factsOf(actor: LiveActor): Pick<ActiveStepRecord, 'w'> {
    const work = this.#work.get(actor);
    return work === undefined ? {} : { w: toWaitRecord(work.wait) };
  }

  #add(actor: LiveActor, wait: OpenWait): void {
    this.#work.set(actor, {
      actor,
      wait,
      content: [],
      reserves: undefined,
      isRead: false,
      isRunning: false,
      isHopeless: false,
    });
  }

  #begin({ actor, path }: SurveyedActor): void {
    const { ledger, program } = this.#options;
    // A wait that cannot be recorded or found again must not begin.
    ledger.assertRoom(1);
    assertNamed(actor);
    const beside = [...this.#work.values()].flatMap(({ wait }) => {
      const [base, run = '1'] = wait.path.split('#') as [string, string?];
      return base === path ? [Number(run)] : [];
    });
    const run = 1 + Math.max(ledger.lastRun(path), ...beside);
    const named = run === 1 ? path : `${path}#${run}`;
    this.#add(actor, newWait(named, program.nameOf(actor.logic), actor.getSnapshot().input));
  }

  // A wait without a delivery has used neither its number nor a link.
  #leave(work: Work): void {
    this.#work.delete(work.actor);
    if (!hasBegun(work.wait)) return;
    this.#record(work, 'withdrawn');
    this.#left = [...this.#left, work.wait];
  }

  async #advance(work: Work): Promise<Turn | undefined> {
    const outside = outsideOf(work.actor.logic);
    if (outside === undefined) return undefined;
    const { defers, runtime } = this.#options;
    const { number, tokenBytes, deadline } = runtime.turn;
    // Only the first read of the turn repeats that of an interrupted run.
    const given = work.isRead
      ? runtimeAfter(runtime, { turn: number, tokenBytes, deadline })
      : runtime;
    work.isRunning = true;
    try {
      return await advanceWait(work.wait, outside, given, {
        defers: defers({ isVital: true }),
        isHopeless: work.isHopeless,
        room: () => this.#room(work),
        reserve: (bytes) => {
          work.reserves = bytes;
        },
      });
    } catch (error) {
      // Programs throw only if their turn was aborted.
      this.aborted ??= error as TurnAborted;
      return undefined;
    } finally {
      work.isRunning = false;
      work.isRead = true;
    }
  }

  #end(work: Work, turn: Turn | undefined): void {
    if (turn === undefined) return;
    const { outcome, decision } = turn;
    const { program, uncommitted, diverged, runtime } = this.#options;
    if (outcome.status === 'suspended') {
      const { state, retryAfterMs = 0, deadline = 0, content = [], reserves = 0 } = outcome;
      if (state.structure !== work.wait.state.structure) uncommitted.noteStep(false, false);
      work.wait = { ...work.wait, state, due: runtime.time.now() + retryAfterMs, until: deadline };
      work.content = content;
      work.reserves = reserves;
      return;
    }
    if (outcome.status === 'failed' && outcome.error instanceof ReplayMismatch) {
      const { path } = work.wait;
      const incompatibility = `the question of the wait '${path}' has changed`;
      this.mismatch ??= new MachineMismatch(program.name, [incompatibility], {
        cause: outcome.error,
      });
      return;
    }
    this.#work.delete(work.actor);
    this.#received += answerCopies * new TextEncoder().encode(decision?.text).length;
    // A repetition of the turn may read other answers.
    uncommitted.note('step');
    uncommitted.note('chance');
    if (outcome.status === 'failed') diverged();
    const end = toEnd(outcome);
    this.#record(work, 'error' in end ? 'failed' : decision);
    if (work.actor.getSnapshot().status === 'active')
      work.actor.send({ type: 'mcp-saga.end', end });
  }

  /** Bytes of the token for a wait that opens. Waits that open at the same time get equal parts. */
  async #room(work: Work): Promise<number> {
    const { room } = this.#options.runtime.saga;
    if (room === undefined) return Number.POSITIVE_INFINITY;
    const left = await room(this.#options.state);
    const opening = [...this.#work.values()].filter(({ reserves }) => reserves === undefined);
    const part = (left - this.missing) / Math.max(1, opening.length);
    // The next wait counts it as taken, until this one says how much of it it reserves.
    work.reserves = part;
    return part;
  }

  #record({ wait, actor }: Work, end: Decision | 'failed' | 'withdrawn' | undefined): void {
    this.#options.ledger.addWait(wait.path, { end, isSpawned: isSpawned(actor) });
  }
}

function toEnd(outcome: Exclude<Outcome, { readonly status: 'suspended' }>): StepEnd {
  if (outcome.status === 'completed') return { output: outcome.result };
  return { error: outcome.status === 'failed' ? outcome.error : undefined };
}
