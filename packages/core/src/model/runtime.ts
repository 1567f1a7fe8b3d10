import type { Json } from '../values/json.ts';
import type { Schema } from '../values/standard-schema.ts';
import type { Provenance, SampleParams, SampleResult } from './client-step.ts';
import type { LogLevel } from './command.ts';
import type { CommitPoint, CommittedTurn } from './outcome.ts';
import type { ProgramState } from './program-state.ts';
import type { Question, Route } from './question.ts';
import type { StepCall } from './step-call.ts';
import type { Compensator } from './undo.ts';

/** A value, or a promise of it: the fast paths of the host answer at once. */
export type Awaitable<T> = T | Promise<T>;

/** What a host lets a turn know and do. It is asked only when something is executed, never on replay. */
export interface Runtime {
  readonly sagaId: string;
  /** The turn that is being taken, from 1, counted over all of the saga. */
  readonly turn: number;
  /** Version of the engine that began the saga: {@link engineVersion} at the start. */
  readonly engine: number;
  /** Bytes of the token this turn was resumed from; 0 at the start. */
  readonly tokenBytes: number;
  /** Bytes of a token from which a saga is better started over. (`info().continueAsSuggested`) */
  readonly suggestedTokenBytes: number;
  /** What the client declared it can do, as it declared it. */
  readonly capabilities: Json | undefined;
  /** Whatever the host's caller passes to server steps; never journalled. */
  readonly context: unknown;
  /** Aborts when the request does. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Time at which the answers of this turn were received first (ms since the epoch), if an earlier run may have been interrupted.
   * Waits of earlier turns and clock reads of a body use it, so that nothing expires between the runs. New waits use `now`.
   *
   * @default the time at which this run begins
   */
  readonly receivedAt?: number;
  /** `true` if an earlier run of this turn began and never finished, so that effects missing from the journal may have happened. */
  readonly isInterrupted?: boolean;
  /** A number in [0, 1): for the jitter of retries. */
  random(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Ends the turn between two steps when aborted, as a used-up budget does: running steps are awaited and recorded. */
  readonly stops?: AbortSignal;
  /** When this turn's budget is used up (ms since the epoch); undefined where the dialect cannot checkpoint. (U4) */
  readonly deadline: number | undefined;
  /** How long a wait is held in the request before it becomes a token, in milliseconds. (W6) */
  readonly maxHold: number;
  /** Longest wait of the client from now (ms). A longer `sleep` or `poll` is `ClientCannot`. Infinity: any wait. */
  readonly maxWait: number;
  /** End of the lifetime of the saga (ms since the epoch). A wait beyond it is `ClientCannot`. Default: none. */
  readonly lifeEndsAt?: number;
  /** Whether a longer wait is held for `maxHold`, and the rest becomes a token: clients come back at once. (W6) */
  readonly holdsParts: boolean;
  /**
   * Commits the state of the turn: a repetition of the request continues from this state and repeats nothing before it. Called
   * before compensation, after a pivot, and after an event that a repetition may not come to, if an effect follows.
   *
   * Resolves to the turn that follows, or to undefined if the turn ends here, with the state as its outcome. Rejects with
   * `TurnAborted` if the turn cannot continue; the next turn then starts from the newest token. Rejects with another error if the
   * state cannot be kept: the saga is ended by that error and undone.
   *
   * Default: nothing is committed. A token can be used again, so a repetition starts at the beginning of its turn.
   */
  readonly commit?: (point: CommitPoint) => Promise<CommittedTurn | undefined>;
  /**
   * Commits after each server step as well, together with the steps that ran beside it. Without `commit`, the turn ends there. (U4)
   */
  readonly commitsEach: boolean;
  /** Defers effects and answers made here to a later turn while time passes, to find how far a saga gets. Default `false`. */
  readonly defersEffects?: boolean;
  /** Where a question goes in this turn. Asked once a turn for each that is open, never on replay. (W3) */
  route(question: Question): Route;
  /** Whether an answer from there counts. (T14) */
  accepts(provenance: Provenance, question: Question): boolean;
  /** Samples at the host, where a `sample` goes there. (W3) */
  sample(params: SampleParams, step: HostSampling): Awaitable<SampleResult>;
  /** Claims the key of a `once` step; undefined where there is no guard. Where it rejects, the turn is aborted. (T13) */
  readonly claim: ((key: string) => Awaitable<boolean>) | undefined;
  /** A named compensator, for undos whose code is gone. */
  compensator(name: string): Pick<Compensator<Schema>, 'run'> | undefined;
  /** Makes the caller's result of what a body returned. If it rejects, the saga is undone, as after an uncaught error. */
  checkResult(result: unknown): Promise<unknown>;
  /** The idempotency key of a step: the same on every fork and across key rotation. (E1, T8) */
  idempotencyKey(path: string, key: string | undefined, direction: 'do' | 'undo'): Awaitable<string>;
  /** 32 bytes for `random()` and `uuid()`, derived from the path: the same on every fork. (T8) */
  randomBytes(path: string): Awaitable<Uint8Array>;
  /** A short digest of a question, by which an answer to another question is known. (T6) */
  digest(text: string): Awaitable<string>;
  /** Told once, never on replay. */
  progress(progress: { readonly value: number; readonly total?: number; readonly message?: string }): void;
  /** Told once, never on replay. */
  log(level: LogLevel, data: Json): void;
  /** What happens while the turn runs: for traces and tests. */
  observe(event: StepEvent): void;
  /** Receives thrown values of steps and undos (path `~` and step) for the operator. The journal keeps only plain data of them. */
  readonly threw?: (path: string, error: unknown) => void;
  /** Gets the state with which a saga ends, for recordings: not where replay of it would not come to the same end. */
  readonly ended?: (state: ProgramState) => void;
  /**
   * Runs code of a step, undo, poll, fallback, or promise instead of the engine, for tests and recorders. Its result or error counts
   * as that of the code. Default: `call.run(call.step)`.
   */
  readonly perform?: (call: StepCall) => unknown;
  /** Gets advice for the author. A host reports a `mistake` in the code of a saga in production, too. */
  readonly warn: ((message: string, kind?: 'mistake') => void) | undefined;
  /** Rejects code whose mistake would only show after a later change of the code, as in development. Default `false`. */
  readonly isStrict?: boolean;
  readonly limits: ProgramLimits;
}

/** What sampling at the host gets to work with. */
export interface HostSampling {
  /** Aborts with the request, and when the branch that samples is ended. */
  readonly signal: AbortSignal;
  /** Whatever the host's caller passes to server steps. */
  readonly context: unknown;
  /** The same for every retry of the request and on every fork. (E1) */
  readonly idempotencyKey: string;
}

/** Bounds of one saga and of one turn. (T11) */
export interface ProgramLimits {
  /** Entries in a journal. */
  readonly maxJournalEntries: number;
  /** Commands a body may yield in one advance, replayed ones included; steps a machine may take in one. */
  readonly maxCommands: number;
  /** Bytes of one answer, as JSON. Default: any number. */
  readonly maxAnswerBytes?: number;
}

/** Something that happened to a step in this turn. Never carries values. */
export interface StepEvent {
  /** `passed`: a pivot, or a registered undo. */
  readonly type: 'started' | 'succeeded' | 'failed' | 'retrying' | 'answered' | 'asked' | 'passed';
  readonly kind: string;
  readonly path: string;
  /** The attempt, from 1, of a server step. */
  readonly attempt?: number;
  /** The thrown value, of a failed attempt: for hooks, never for the wire. */
  readonly error?: unknown;
}
