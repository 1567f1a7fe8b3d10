/**
 * What a kind of effect is made of. A kind declares facts (which entries it has, where it runs,
 * what of it must not change), and at most one way to get an outcome: `question` (the client
 * answers), `run` (code of the server), or `read` (a fact of the turn). The engine decides when; a
 * kind never looks at the clock, the journal, or other tasks.
 */
import type { ClientStep } from '../../model/client-step.ts';
import type { HostSampling, Runtime } from '../../model/runtime.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import type { Journal, TaskEntry } from '../../journal/journal.ts';
import type { NewEntry } from '../../journal/entry-types.ts';
import type { ClientNeed, TurnAborted } from '../../values/errors.ts';
import type { Json } from '../../values/json.ts';
import type { Scope } from '../../values/path.ts';
import type { RetryPlan } from '../../values/retry.ts';

export interface Spec {
  readonly kind: string;
  readonly id: string;
  /** Room that the token keeps while the command is pending, for a wait for answers from outside. */
  readonly keeps?: KeptRoom;
}

/** Bytes of the token that a wait for answers from outside keeps. All its commands keep the same. */
export interface KeptRoom {
  /** For the answers. */
  readonly answers: number;
  /** For what the wait still records beside them, such as reminders. */
  readonly records: number;
}

/**
 * Descriptor of an effect: a command whose outcome becomes a journal entry. `S` is its
 * specification.
 */
export interface Effect<S extends Spec> {
  /**
   * `client`: waits for the client. `server`: runs server code, and counts as a server step.
   * Default: neither.
   */
  readonly place?: 'client' | 'server';
  /** Types of the entries that replay accepts as its outcome. */
  readonly entries: readonly [EntryType, ...EntryType[]];
  /**
   * Parts of the request to fingerprint. Schemas do not count: they may change while sagas run.
   * Default: none.
   */
  readonly request?: (spec: S) => readonly unknown[];
  /** Question to the client. */
  readonly question?: Question<S>;
  /**
   * Reads a value as soon as the body reaches the command. The entry has the first type of
   * `entries`.
   */
  readonly read?: (turn: TurnFacts) => unknown;
  /**
   * Runs the effect on the server. May reject.
   * @param share - returns the bytes that a wait for answers from outside may reserve in the token
   */
  readonly run?: (
    task: EffectTask<S>,
    runtime: Runtime,
    signal: AbortSignal,
    share: () => Promise<number>,
  ) => Promise<TaskEnd>;
  /**
   * Converts an entry to a value for the body. `undefined`: the recorded value, or an error by the
   * type of the entry.
   */
  readonly toValue?: (spec: S, type: EntryType, value: unknown) => object | undefined;
  /** Adds functions to a decoded value: the journal contains only data. */
  readonly revive?: (value: unknown, scope: Scope, journal: Journal) => unknown;
  /** `true` if the host needs a store. */
  readonly needsStore?: (spec: S) => boolean;
  /** Time at which a wait ends, or a poll asks first (ms since the epoch). */
  readonly due?: (spec: S, since: number) => number;
  /** Time of failure with `StepTimedOut` (ms since the epoch). */
  readonly deadline?: (spec: S, since: number) => number | undefined;
  /** Text for the user while the saga waits. */
  readonly report?: (
    spec: S,
    facts: { readonly asked: number; readonly elapsedMs: number },
  ) => string | undefined;
}

/** A question to the client. */
export interface Question<S extends Spec> {
  readonly type: ClientStep['type'];
  /** Capability that a client needs. */
  readonly need: (spec: S) => ClientNeed;
  /** Parameters of the MCP request. Throws an `AuthoringError` if MCP cannot express them. */
  readonly params: (spec: S) => Fields;
  /** Checks the result of the request. May throw what a schema throws. */
  readonly accept: (spec: S, result: Fields, given: Given) => Acceptance | Promise<Acceptance>;
  /**
   * Answers in place of the client. `accept` checks the answer. An entry of `type` has its value in
   * the server stream.
   */
  readonly answerHere?: {
    readonly type: EntryType;
    readonly run: (
      spec: S,
      path: string,
      runtime: Runtime,
      given: HostSampling,
    ) => Promise<unknown>;
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
  /** Input of a step as text, safe from changes by a body or another run. */
  input: string | undefined;
  /** Default retry policy: for a step of an undo, the policy of the undo. */
  retry: RetryPlan | undefined;
  attempts: number;
  /** Number of questions that a poll has asked. */
  asked: number;
  /** Time of the first question (ms since the epoch). */
  since: number | undefined;
  /** `true` if the effect of an earlier attempt may have happened. */
  unknown: boolean;
  /** Number of the interrupted turn that may have executed the step, and steps after it. */
  interruptedTurn?: number | undefined;
}

/** Outcome of a task that ran on the server: its journal entry, and the value for the body. */
export interface TaskEnd {
  /** Undefined for a poll without an answer: the poll asks again. */
  readonly entry: TaskEntry | undefined;
  readonly value: unknown;
  /** The task could not run, and the turn cannot continue. */
  readonly aborts?: TurnAborted;
}

/** Journal entry and body value of an accepted answer, or the reason for a rejection. */
export type Acceptance =
  | { readonly entry: TaskEntry; readonly value: unknown }
  | { readonly reason: string };

/** Provenance and digest of an answer. */
export type Given = NonNullable<NewEntry['answer']>;

export type Fields = { readonly [key: string]: Json };
