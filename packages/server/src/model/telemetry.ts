import type { StepEvent } from '@mcp-saga/core/program';
import type { Rejection } from './hooks.ts';
import type { SagaTurn } from './turn.ts';

/**
 * Exports turns and steps to a tracing system, as `openTelemetry()` of `@mcp-saga/opentelemetry`
 * does.
 *
 * All methods are synchronous. Errors go to `onError`, and never change a saga. Receives IDs,
 * names, counts, and kinds of errors only: no arguments, answers, results, principals, tokens,
 * keys, or error messages.
 */
export interface SagaTelemetry {
  /** Begins a turn. Replayed steps are not reported. */
  turn(turn: TracedTurn): TurnSpan;
  /** Reports a rejected token, at most ten times a second, as `onReject`. */
  refused(rejection: Rejection): void;
  /**
   * Counts a request over HTTP that `serveSagas` left to a server of the SDK, which takes more time.
   * @param reason - `extend`: the option; `stream`: each response is one, by `http.handler`;
   * `version`: MCP before 2026-07-28; `body`: it is not JSON, or too large; `method`: it is not a
   * call, such as a list; `tool`: not that of a saga, or its arguments are also headers; `form`: it
   * is invalid, or has a member that only the SDK knows
   */
  servedBySdk?(reason: 'extend' | 'stream' | 'version' | 'body' | 'method' | 'tool' | 'form'): void;
}

/** Facts about a turn that begins. */
export interface TracedTurn {
  readonly saga: string;
  readonly version: string;
  readonly sagaId: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Method of MCP that started the saga, or `host`. */
  readonly method: string;
  /** Kind of request. `repeat`: a guard stored the response, and nothing runs. */
  readonly action: 'start' | 'resume' | 'cancel' | 'repeat';
  /** `parent` of an earlier turn, in any process; undefined without an earlier turn. */
  readonly parent: string | undefined;
  /** Trace context from the client, unchecked. */
  readonly client: TraceContext | undefined;
}

/** Trace context of a request, by W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Turn in a trace. */
export interface TurnSpan {
  /**
   * Value that the next turns get as `parent`, sealed in the token: up to 600 printable ASCII
   * characters. Undefined: unchanged.
   */
  readonly parent: string | undefined;
  /**
   * Calls `work` once, synchronously, with the turn as the current span. `work` may continue
   * asynchronously.
   */
  within(work: () => void): void;
  /** Reports an event other than a running step, such as an answered question or a passed pivot. */
  event(event: TracedEvent): void;
  /** Begins an attempt of a step, just before its code is called. */
  step(step: TracedStep): StepSpan;
  /** Ends the turn, and all of its running steps. */
  end(end: TracedEnd): void;
}

/** Event of a step. */
export interface TracedEvent {
  readonly type: Exclude<StepEvent['type'], 'asked'>;
  /** Kind of the step, such as `elicit`, `sample`, or `pivot`. */
  readonly kind: string;
  readonly stepId: string;
  /** Kind of error, for a failure. */
  readonly errorType?: string;
}

/** Attempt of a step, as it begins. */
export interface TracedStep {
  /**
   * ID on the wire, with `(*)` for a `key`, which may contain an answer. For an undo: the ID of the
   * step to undo.
   */
  readonly stepId: string;
  readonly kind: 'step' | 'undo' | 'poll' | 'fallback';
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** Attempt of a step in a trace. */
export interface StepSpan {
  /** Calls `work` once, synchronously, with the attempt as the current span. */
  within(work: () => void): void;
  /**
   * Ends the attempt. `errorType`: kind of error; undefined for success. Code may still run after a
   * timeout.
   */
  end(errorType: string | undefined): void;
}

/** Facts about the end of a turn. */
export interface TracedEnd {
  /** `rejected`: the request failed, and the token before it stays valid. */
  readonly status: SagaTurn['status'] | 'rejected';
  /** Kind of error of a failed or rejected turn. */
  readonly errorType?: string;
  /** `true` for a fault. Refusals, cancellations, and aborts are not faults. */
  readonly isFault: boolean;
  /** IDs of the uncompensated steps of a failed saga, with `(*)` for a key. */
  readonly uncompensated?: readonly string[];
  /** Questions of a suspended turn. */
  readonly asked: readonly { readonly stepId: string; readonly type: string }[];
  /** Time until a suspended turn without questions continues, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Size of the new token, in bytes; 0 if the saga ended. */
  readonly tokenBytes: number;
  /** Expiry of the new token, in milliseconds since the epoch. */
  readonly expiresAt?: number;
}
