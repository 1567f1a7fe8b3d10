/**
 * What a host gives to a turn: facts, and functions for all that the engine must not do itself,
 * such as telling the time or deriving a key. A turn that gets the same `Runtime` facts and the
 * same answers takes the same path.
 */
import type { Json } from '../values/json.ts';
import type { RetryPlan } from '../values/retry.ts';
import type { Schema } from '../values/standard-schema.ts';
import type { Provenance, SampleAnswer, SampleParams } from './client-step.ts';
import type { TellSpec } from './command.ts';
import type { CommitPoint, CommittedTurn } from './outcome.ts';
import type { RuntimeOutside } from './outside.ts';
import type { ProgramState } from './program-state.ts';
import type { Question, Route } from './question.ts';
import type { RequestUser, Services } from './register.ts';
import type { StepCall } from './step-context.ts';
import type { Compensator } from './undo-types.ts';

/** A value or a promise: fast paths of the host avoid the promise. */
export type Awaitable<T> = T | Promise<T>;

/**
 * Facts and functions that a host gives to a turn. Executing an effect calls the functions; replay
 * does not. Functions of core take only the parts they use.
 */
export interface Runtime {
  readonly saga: RuntimeSaga;
  readonly turn: RuntimeTurn;
  readonly request: RuntimeRequest;
  readonly time: RuntimeTime;
  readonly questions: RuntimeQuestions;
  readonly effects: RuntimeEffects;
  readonly observer: RuntimeObserver;
  readonly limits: ProgramLimits;
}

/** Facts that hold for the whole life of a saga, and the check of its result. */
export interface RuntimeSaga {
  readonly id: string;
  /** How often the saga has continued as another, or started over. */
  readonly generation: number;
  /**
   * End of the lifetime of the saga (ms since the epoch). A longer wait is `ClientCannot`. Default:
   * none.
   */
  readonly lifeEndsAt?: number;
  /**
   * Returns how many bytes of JSON a token can hold beside a state; negative if the state itself
   * does not fit. Compression may leave more. Default: any number.
   */
  readonly room?: (state: ProgramState) => Awaitable<number>;
  /** How many times the state will hold each answer from outside. Default 1. */
  readonly answerCopies?: number;
  /**
   * Called when a wait for answers from outside reserves bytes of the token, before its links are
   * sent. Default: nothing.
   */
  readonly reserve?: (bytes: number) => void;
  /**
   * Converts the return value of a body to the result of the call. If the promise rejects, the saga
   * is undone.
   */
  checkResult(result: unknown): Promise<unknown>;
}

/** One turn: its number, its time, and how it is committed. */
export interface RuntimeTurn {
  /** Number of the turn, from 1, counted over the whole saga. */
  readonly number: number;
  /** Size of the token that this turn was resumed from, in bytes; 0 at the start. */
  readonly tokenBytes: number;
  /**
   * End of the budget of this turn (ms since the epoch). Undefined if the dialect cannot
   * checkpoint.
   */
  readonly deadline: number | undefined;
  /**
   * Time of receipt of the answers (ms since the epoch) by an earlier, interrupted run of the turn.
   * Waits of earlier turns and clock reads of a body use this time, so nothing expires between the
   * runs. New waits use `now`.
   * @default the start of the run
   */
  readonly receivedAt?: number;
  /**
   * `true` if an earlier run of the turn never finished. Effects missing from the journal may have
   * happened.
   */
  readonly isInterrupted?: boolean;
  /**
   * What waits for a later turn, while questions are asked and time passes. `all`: effects and
   * answers of the server, to find how far a saga gets. `vital`: steps with an undo or `once`, links
   * for other people, and all steps of a saga that commits each, until somebody has a token or the
   * state is committed. Until then, nobody comes back to the turn, and it commits for nothing else.
   * `untold`: the same, but a repeated request finds the turn, and other commits count.
   * Default: nothing.
   */
  readonly defersEffects?: 'all' | 'vital' | 'untold' | undefined;
  /**
   * Commits the state of the turn: a repeated request continues from this state. Called before
   * compensation, after a pivot, and after an event that a repetition may not reach, if an effect
   * follows; with `defersEffects: 'vital'` also before the first such step.
   *
   * Resolves to the next turn, or to undefined if the turn ends with the state as the outcome.
   * Rejects with `TurnAborted` if the turn cannot continue; the next turn then starts from the
   * newest token. Rejects with another error if the state cannot be kept; the saga then ends with
   * the error and is undone.
   *
   * Default: no commit. A token can be used again, so a repetition starts at the beginning of the
   * turn.
   */
  readonly commit?: (point: CommitPoint) => Promise<CommittedTurn | undefined>;
  /**
   * Commits also after each server step, together with parallel steps. Without `commit`, the turn
   * ends after the step.
   */
  readonly commitsEach: boolean;
}

export interface RuntimeRequest {
  /** Capabilities of the client, as the client declared them. */
  readonly capabilities: Json | undefined;
  /** User of the request, for the code of authors; undefined without one. Never journaled. */
  readonly user: RequestUser;
  /** Aborts when the request does. */
  readonly signal: AbortSignal;
  /**
   * Ends the turn between two steps when aborted, as a used-up budget does: running steps are
   * awaited and recorded.
   */
  readonly stops?: AbortSignal;
}

/** Clock of a host, and bounds of waits. */
export interface RuntimeTime {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A number in [0, 1), for the jitter of retries. */
  random(): number;
  /** Longest wait that is held in the request instead of becoming a token, in milliseconds. */
  readonly maxHold: number;
  /**
   * Holds `maxHold` of a longer wait, and leaves the rest to a token: for clients that return at
   * once.
   */
  readonly holdsParts: boolean;
  /**
   * Longest wait of the client from now, in milliseconds. A longer `sleep` or `poll` is
   * `ClientCannot`. Infinity: any wait.
   */
  readonly maxWait: number;
}

/** Routes and answers of the questions of a saga. */
export interface RuntimeQuestions {
  /** Chooses the route of a question in this turn. Called once a turn for each open question. */
  route(question: Question): Route;
  /** Returns `true` if an answer of the origin counts. */
  accepts(provenance: Provenance, question: Question): boolean;
  /** Samples at the host, if `route` sends a `sample` there. */
  sample(params: SampleParams, step: HostSampling): Awaitable<SampleAnswer>;
  /** Short digest of a question, which identifies answers to another question. */
  digest(text: string): Awaitable<string>;
}

export interface RuntimeEffects {
  /** Services of the process, for the code of authors. Never journaled. */
  readonly services: Services;
  /**
   * Runs code of a step, undo, poll, fallback, or promise instead of the engine, for tests and
   * recorders. The result or error counts as the outcome of the code. Default:
   * `call.run(call.step)`.
   */
  readonly perform?: (call: StepCall) => unknown;
  /** Retries of a step that names none, and is neither `once` nor an undo. Default: one attempt. */
  readonly stepRetry?: RetryPlan | undefined;
  /** Tickets and answers, for answers from outside. Undefined: `approval` and `waitFor` fail. */
  readonly outside?: RuntimeOutside | undefined;
  /** Claims the key of a `once` step; undefined without a guard. A rejection aborts the turn. */
  readonly claim: ((key: string) => Awaitable<boolean>) | undefined;
  /** Finds a compensator by name, for undos whose code is gone. */
  compensator(name: string): Pick<Compensator<Schema>, 'run'> | undefined;
  /**
   * Idempotency key of a step: the same on every fork and across key rotation. A function derives
   * it when a step reads it.
   */
  idempotencyKey(
    path: string,
    key: string | undefined,
    direction: 'do' | 'undo',
  ): Awaitable<string | (() => string)>;
  /** 32 bytes for `random()` and `uuid()`, derived from the path: the same on every fork. */
  randomBytes(path: string): Awaitable<Uint8Array>;
}

/** Receives the events of a turn, once and never on replay. */
export interface RuntimeObserver {
  /** Sends the progress or a log message of the saga to the client. */
  notify(notification: TellSpec): void;
  /** Receives events of steps, for traces and tests. */
  observe(event: StepEvent): void;
  /**
   * Receives errors of steps and undos (path `~` and step) for the operator. The journal keeps only
   * plain data of an error.
   */
  readonly threw?: (path: string, error: unknown) => void;
  /** Receives an error of a schema at the answer of a client or of other people. */
  readonly schemaFailed?: (error: unknown) => void;
  /**
   * Receives advice for the author. A host also reports a `mistake` in the code of a saga in
   * production, and a duration without a `unit` in development only.
   */
  readonly warn: ((message: string, kind?: 'mistake' | 'unit') => void) | undefined;
  /**
   * Rejects mistakes that only a later change of the code would reveal, as in development. Default
   * `false`.
   */
  readonly isStrict?: boolean;
}

/** Context of sampling at the host. */
export interface HostSampling {
  /** Aborts with the request, and when the sampling branch is ended. */
  readonly signal: AbortSignal;
  /** Services of the process. */
  readonly services: Services;
  /** User of the request; undefined without one. */
  readonly user: RequestUser;
  /** Key of the sample: the same for every retry of the request and on every fork. */
  readonly idempotencyKey: string;
}

/** Bounds of one saga and of one turn. */
export interface ProgramLimits {
  /** Entries in a journal. */
  readonly maxJournalEntries: number;
  /**
   * Commands that a body may yield in one turn, replayed commands included; steps that a machine
   * may take in one turn.
   */
  readonly maxCommands: number;
  /** Bytes of one answer, as JSON. Default: any number. */
  readonly maxAnswerBytes?: number;
  /** Bytes of a token. Only with `room`. */
  readonly maxTokenBytes?: number;
  /** Size of a token, in bytes, from which `info().continueAsSuggested` is `true`. */
  readonly suggestedTokenBytes: number;
}

/** An event of a step in this turn. Carries no values. */
export interface StepEvent {
  /** `passed`: a pivot, or an applied change of the code. */
  readonly type: 'started' | 'succeeded' | 'failed' | 'retrying' | 'answered' | 'asked' | 'passed';
  readonly kind: string;
  readonly path: string;
  /** The attempt, from 1, of a server step. */
  readonly attempt?: number;
  /** `true` for a step without an effect (`reads: true`). */
  readonly reads?: boolean;
  /** The thrown value, of a failed attempt: for hooks, never for the wire. */
  readonly error?: unknown;
}
