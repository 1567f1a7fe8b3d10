import type { ClientStep } from '../../model/client-step.ts';
import type { HostSampling, Runtime } from '../../model/runtime.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import type { Journal, NewEntry, TaskEntry } from '../../journal/journal.ts';
import type { ClientNeed, TurnAborted } from '../../values/errors.ts';
import type { Json } from '../../values/json.ts';
import type { Scope } from '../../values/path.ts';
import type { RetryPolicy } from '../../values/retry.ts';

/** The specification of a command, by its kind. */
export interface Spec {
  readonly kind: string;
  /** ID of the command, given by the author or by its kind. */
  readonly id: string;
}

/**
 * An effect: a command whose outcome becomes a journal entry. Its descriptor is all that the engine knows about it.
 *
 * @typeParam S - specification of the command
 */
export interface Effect<S extends Spec> {
  /**
   * Place of the effect. `client`: the client answers or returns; `server`: server code runs and counts as a server step;
   * `engine`: nothing outside of the turn is touched.
   */
  readonly place: 'client' | 'server' | 'engine';
  /** Types of the entries that replay accepts as its outcome. */
  readonly entries: readonly EntryType[];
  /**
   * Parts of the request that its fingerprint hashes. Schemas do not count, so that they may be refined while sagas run. By
   * default nothing is hashed.
   */
  readonly request?: (spec: S) => readonly unknown[];
  /** Part of the request that older releases did not hash. */
  readonly newRequest?: (spec: S) => unknown;
  /** Same fingerprint as of `request`, without a list of parts: for the most frequent effects. */
  readonly fingerprint?: (spec: S) => number;
  /** How the client is asked. */
  readonly question?: Question<S>;
  /** Reads a value as soon as the body reaches the command. */
  readonly read?: { readonly type: EntryType; readonly value: (turn: TurnFacts) => unknown };
  /** Runs the effect on the server. */
  readonly run?: (task: EffectTask<S>, runtime: Runtime, signal: AbortSignal) => Promise<TaskEnd>;
  /** Converts a recorded outcome for the body. `undefined`: like other effects, a value or an error. */
  readonly outcome?: (spec: S, type: EntryType, value: unknown) => BodyOutcome | undefined;
  /** Adds functions to a value, which no journal contains. */
  readonly revive?: (value: unknown, scope: Scope, journal: Journal) => unknown;
  /** `true` if the saga has to declare `forks`. */
  readonly needsForks?: (spec: S) => boolean;
  /** Time at which a wait ends or a poll asks first (ms since the epoch). */
  readonly due?: (spec: S, since: number) => number;
  /** Time after which the command fails with `StepTimedOut` (ms since the epoch). */
  readonly deadline?: (spec: S, since: number) => number | undefined;
  /** Text for the user while the saga waits. */
  readonly report?: (
    spec: S,
    facts: { readonly asked: number; readonly elapsed: number },
  ) => string | undefined;
}

/** A question to the client. */
export interface Question<S extends Spec> {
  /** Capability of the client. */
  readonly need: ClientNeed;
  /**
   * The MCP request.
   *
   * @throws TypeError if MCP cannot express the request
   */
  readonly toStep: (spec: S, stepId: string) => ClientStep;
  /** Checks the result of the request. A schema may throw. */
  readonly accept: (spec: S, result: Fields, given: Given) => Acceptance | Promise<Acceptance>;
  /** Answers in place of the client. The result is checked like an answer of the client. */
  readonly answerHere?: {
    /** Entry type of the answer: its value goes to the server stream. */
    readonly type: EntryType;
    readonly run: (spec: S, path: string, runtime: Runtime, given: HostSampling) => Promise<unknown>;
  };
}

/** Facts about the current turn that a body can read. */
export interface TurnFacts {
  now(): number;
  info(): unknown;
}

/** A command that runs on the server, and the state of its attempts. */
export interface EffectTask<S extends Spec> {
  readonly spec: S;
  readonly path: string;
  /** A step's input as text: what a body or another run does to the value cannot reach this one. (R1) */
  input: string | undefined;
  /** How it is tried again, where the step itself does not say: a step of an undo has the policy of its undo. */
  retry: RetryPolicy | undefined;
  /** Attempts made so far. */
  attempts: number;
  /** How often a poll has asked. */
  asked: number;
  /** Whether an attempt before may have had its effect. */
  unknown: boolean;
  /** Number of the interrupted turn that may have executed this step, and then steps that no later turn issues. */
  interruptedTurn?: number | undefined;
}

/** Outcome of a task that ran on the server: its journal entry, and the value for the body. */
export interface TaskEnd {
  /** Undefined for a poll that was not answered yet: it is asked again. */
  readonly entry: TaskEntry | undefined;
  readonly value: unknown;
  /** The task could not run, and the turn cannot continue. */
  readonly aborts?: TurnAborted;
}

/** What a body gets for a recorded outcome: a value, or something thrown. */
export interface BodyOutcome {
  readonly failed: boolean;
  readonly value: unknown;
}

/** An accepted answer as a journal entry, with the value for the body; or why it was not accepted. */
export type Acceptance = { readonly entry: TaskEntry; readonly value: unknown } | { readonly reason: string };

/** Provenance and digest of an answer. */
export type Given = NonNullable<NewEntry['answer']>;

/** A JSON object. */
export type Fields = { readonly [key: string]: Json };
