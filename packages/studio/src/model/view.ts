import type { SagaInspection } from '@mcp-saga/server';
import type { Chart } from '@mcp-saga/xstate/internal';
import type { TraceEntry } from '@mcp-saga/testing';
import type { Field } from '@mcp-saga/testing/internal';

export interface EntryView {
  readonly turn: number;
  /** `true` for the first event of a request. Default: that of a turn. */
  readonly isFirst?: boolean;
  /** `true` for a step without an end so far. */
  readonly isOpen?: boolean;
  /** Number of the attempt, from 1; undefined for other events. */
  readonly attempt?: number | undefined;
  readonly type: TraceEntry['type'];
  readonly id?: string | undefined;
  /** ID of the step that the error of the saga names. */
  readonly stepId?: string | undefined;
  /** The whole event as one line. */
  readonly text: string;
  /** Value, error, or message of the event, on one line. */
  readonly value?: string | undefined;
  readonly key?: string | undefined;
  /** Link to decide an approval, or to send an event. */
  readonly url?: string | undefined;
  /** When the process died: before or after the effect. */
  readonly when?: 'before' | 'after' | undefined;
  /** Who answered, if not the client. */
  readonly by?: 'server' | undefined;
  /** Reads and checkpoints before the event, with the values of reads, such as `now`. */
  readonly reads?: readonly EntryView[];
  /**
   * Start and duration of a step, as parts of its turn from 0 to 1, and the duration; undefined
   * where time stands still.
   */
  readonly time?: Readonly<Record<'start' | 'share' | 'ms', number>> | undefined;
}

export interface QuestionView {
  readonly id: string;
  /** Kind of the question to the client; `approval` or `event` for others. */
  readonly type: string;
  readonly message: string;
  /** Page on which the question is answered. */
  readonly url?: string;
  /** Reason for the repetition. */
  readonly reason: string | undefined;
  readonly fields: Readonly<Record<string, Field>> | undefined;
  /** Default: all fields. */
  readonly required?: readonly string[] | undefined;
  readonly content: Readonly<Record<string, unknown>>;
}

export interface PauseView {
  /** Time until the saga continues without an answer, in milliseconds; undefined: never. */
  readonly dueInMs: number | undefined;
  /** Approvals and events without a decision. */
  readonly outside: readonly QuestionView[];
}

export interface TokenView {
  /** Number of the token, from 1. A fork continues the numbers. */
  readonly number: number;
  readonly bytes: number;
  /** Questions to the client, then approvals and events without a decision. */
  readonly questions: readonly QuestionView[];
  /** Number of events before the token. */
  readonly traced: number;
  /** Number of acts of the person before the token. */
  readonly acts: number;
}

/**
 * Token as the client sees the text, and as the operator knows the contents. Made when the lens
 * opens.
 */
export interface LensView {
  readonly token: string;
  /** Time from the seal to the expiry, in milliseconds. */
  readonly ttlMs: number;
  readonly keyId: string;
  readonly parts: SagaInspection['parts'];
  readonly timeline: NonNullable<SagaInspection['timeline']>;
  /**
   * What the client and the operator see of the token with one changed character; undefined unless
   * it was sent.
   */
  readonly refusal: Readonly<Record<'client' | 'operator', string>> | undefined;
}

/** Machine of a saga, with its states at the start of each turn, and after each change. */
export interface MachineTrace {
  readonly chart: Chart;
  /**
   * `traced`: number of events before. `states`: a name, or JSON for nested states. `active`: the
   * IDs of all active states.
   */
  readonly changes: readonly (Pick<TokenView, 'traced'> & {
    readonly turn: number;
    readonly states: string;
    readonly active: readonly string[];
  })[];
}

/** One run, or one fork. */
export interface Lane {
  /** Outcome; `waiting` for an answer, and `broken` for a mistake found by the kit. */
  readonly status: 'waiting' | 'completed' | 'failed' | 'refused' | 'broken';
  readonly entries: readonly EntryView[];
  readonly tokens: readonly TokenView[];
  readonly question: QuestionView | undefined;
  /** Undefined if the run has ended. */
  readonly pause: PauseView | undefined;
  readonly error: string | undefined;
  /** Number of the forked token; undefined for the run itself. */
  readonly from: number | undefined;
  /** Source of a vitest test; undefined while a question is open, and for many forks. */
  readonly test: string | undefined;
  /** Undefined unless a machine is the saga. */
  readonly machine: MachineTrace | undefined;
}

/** Token that the next version of the code cannot continue. */
export interface Misfit {
  /** Number of the token in the run, from 0. */
  readonly point: number;
  /** First difference: the journal, and the new code. */
  readonly lines: readonly string[];
}

/** Cell of the crash matrix. */
export interface Cell {
  readonly when: string;
  /** ID of the step or question, or the turn. */
  readonly subject: string;
  /** Fault without the subject: `dies before`. */
  readonly fault: string;
  /** Number of events before the fault. */
  readonly at: number;
  /** Finding; undefined for a green cell. */
  readonly what: string | undefined;
  /**
   * What `check` of the files says about the outside world after a red case; undefined if it
   * passes, and without one.
   */
  readonly fact?: string | undefined;
  readonly expects: string | undefined;
  /** The fault, as text of the engine. */
  readonly rules: string;
}

/** Run of a case. Made when the cell opens. */
export type CaseView = Pick<Lane, 'entries' | 'machine'> & { readonly test: string };
