import type { IgnoredAnswer, StepEvent } from '@mcp-saga/core';

/** A token that was refused. The client got the one frozen answer; this is the true reason. */
export interface Rejection {
  /** Why: `expired`, `principal`, `undecryptable`, … */
  readonly reason: string;
  /** How many rejections were not reported in the second before, because there were too many. */
  readonly suppressed: number;
}

/** Facts about one turn that ended. */
export interface TurnFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** From 1. */
  readonly turn: number;
  readonly status: 'suspended' | 'completed' | 'failed';
  /** What failed the saga, of a failed turn: for logs, never for the wire. */
  readonly error?: unknown;
  /** Bytes of the token that was sealed; 0 when the saga ended. */
  readonly tokenBytes: number;
  /** Milliseconds. */
  readonly duration: number;
}

/** What a host tells its operator. None of these gets a token, a key or an answer. */
export interface HostHooks {
  /** A token was refused. At most ten a second. (T5) */
  readonly onReject?: (rejection: Rejection) => void;
  /** A client's answer was not used. (W4) */
  readonly onIgnoredAnswer?: (
    answer: IgnoredAnswer & { readonly saga: string; readonly sagaId: string },
  ) => void;
  /** Something happened to a step. */
  readonly onStep?: (event: StepEvent & { readonly saga: string; readonly sagaId: string }) => void;
  /** A turn has ended. */
  readonly onTurn?: (turn: TurnFacts) => void;
  /** Something failed that the client is told nothing about. */
  readonly onError?: (error: unknown) => void;
  /** Advice: a token grows large, a command was never yielded, keys are ephemeral. Default: `console.warn`. */
  readonly onWarning?: (message: string) => void;
}

const rejectionsPerSecond = 10;

/** Reports rejections, at most ten a second: an attacker shall not fill the logs. */
export function rejectionReporter(
  report: HostHooks['onReject'],
  clock: () => number,
): (reason: string) => void {
  let second = 0;
  let count = 0;
  let suppressed = 0;
  return (reason) => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      count = 0;
    }
    count += 1;
    if (count > rejectionsPerSecond) {
      suppressed += 1;
      return;
    }
    report?.({ reason, suppressed });
    suppressed = 0;
  };
}

/** Where warnings go when the operator names no place. */
export function defaultWarning(message: string): void {
  globalThis.console.warn(`mcp-saga: ${message}`);
}
