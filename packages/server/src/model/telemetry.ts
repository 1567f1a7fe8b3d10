import type { StepEvent } from '@mcp-saga/core/program';
import type { Rejection } from './hooks.ts';
import type { SagaTurn } from './turn.ts';

/**
 * Shows what sagas do to a tracing system; `openTelemetry()` of `@mcp-saga/opentelemetry` is one.
 *
 * It is called on the way of each request, so all of it is synchronous. What it throws goes to `onError` and changes
 * nothing: a saga does the same with and without it. It is handed ids, names, counts and kinds of errors; no argument,
 * answer, result, principal, token, key or message of an error.
 */
export interface SagaTelemetry {
  /** A turn begins. Of what is replayed in it nothing is told. */
  turn(turn: TracedTurn): TurnSpan;
  /** A token was refused: as `onReject`, at most ten a second. */
  refused(rejection: Rejection): void;
}

/** A turn as it begins. */
export interface TracedTurn {
  readonly saga: string;
  readonly version: string;
  readonly sagaId: string;
  /** From 1. */
  readonly turn: number;
  /** The method of the protocol that started the saga, or `host`. */
  readonly method: string;
  /** `repeat`: a guard knows the request, and its answer. Nothing runs. */
  readonly action: 'start' | 'resume' | 'cancel' | 'repeat';
  /** The `parent` that an earlier turn gave, in whatever process; undefined: none has. */
  readonly parent: string | undefined;
  /** The trace context that the client sent with this request. Nobody has checked it. */
  readonly client: TraceContext | undefined;
}

/** Trace context as a request carries it, by W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** A turn in a trace. */
export interface TurnSpan {
  /** Value that the next turns get as `parent`, sealed in the token: up to 600 printable ASCII characters. Undefined: unchanged. */
  readonly parent: string | undefined;
  /** Calls `work`, once and before it returns, with the turn as the current span. What `work` does may go on after that. */
  within(work: () => void): void;
  /** Something happened to a step that does not run here, or is no step: a question was answered, a pivot was passed. */
  event(event: TracedEvent): void;
  /** The code of a step is about to be called: once for each attempt. */
  step(step: TracedStep): StepSpan;
  /** The turn has ended, and with it what of its steps was not told to have ended. Nothing comes after it. */
  end(end: TracedEnd): void;
}

/** What happened to a step. */
export interface TracedEvent {
  readonly type: Exclude<StepEvent['type'], 'asked'>;
  /** What the step is: `elicit`, `sample`, `pivot`, … */
  readonly kind: string;
  readonly stepId: string;
  /** Of a failure: which kind of error. */
  readonly errorType?: string;
}

/** One call of an author's code. */
export interface TracedStep {
  /** As on the wire, with `(*)` for a `key`, which may be made of an answer. Of an undo: the id of the step it undoes. */
  readonly stepId: string;
  readonly kind: 'step' | 'undo' | 'poll' | 'fallback' | 'promise';
  /** From 1. */
  readonly attempt: number;
}

/** An attempt of a step in a trace. */
export interface StepSpan {
  /** Calls `work`, once and before it returns, with the attempt as the current span. */
  within(work: () => void): void;
  /** Ends the attempt. `errorType`: kind of its error; undefined if it succeeded. Code that timed out may still run. */
  end(errorType: string | undefined): void;
}

/** How a turn ended. */
export interface TracedEnd {
  /** `rejected`: the request got an error, and the token before it is as good as it was. */
  readonly status: SagaTurn['status'] | 'rejected';
  /** Which kind of error, of one that failed or was rejected. */
  readonly errorType?: string;
  /** Whether something went wrong: not where the user refused, or where somebody cancelled or aborted it. */
  readonly isFault: boolean;
  /** What the client was asked, where it is suspended. */
  readonly asked: readonly { readonly stepId: string; readonly type: string }[];
  /** Milliseconds until it goes on, where it is suspended and nothing was asked. */
  readonly retryAfterMs?: number;
  /** Of the token that was sealed; 0 when the saga has ended. */
  readonly tokenBytes: number;
}
