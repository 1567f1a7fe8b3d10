import { isEmpty, oneLine, show, showError } from '../values/show.ts';

/** Effect that asks the client. */
export type QuestionKind = 'elicit' | 'elicitUrl' | 'sample' | 'roots';

/** Event of a run. */
export type TraceEvent =
  | { readonly type: 'started'; readonly saga: string; readonly input: unknown }
  | {
      readonly type: 'asked';
      readonly id: string;
      readonly kind: QuestionKind;
      readonly message: string;
      /** The parameters of the MCP request. */
      readonly params: { readonly [key: string]: unknown };
      /** Reason for the repetition. */
      readonly reason?: string;
    }
  | {
      readonly type: 'answered';
      readonly id: string;
      readonly kind: QuestionKind;
      readonly answer: unknown;
      /** Present if a fallback or the model of the host answered, and not the client. */
      readonly by?: 'server';
    }
  | { readonly type: 'declined' | 'cancelled'; readonly id: string }
  | {
      readonly type: 'ran';
      readonly id: string;
      readonly attempt: number;
      readonly input: unknown;
      readonly result: unknown;
      readonly key: string | undefined;
    }
  | {
      readonly type: 'polled';
      readonly id: string;
      readonly attempt: number;
      readonly result: unknown;
    }
  | {
      readonly type: 'failed';
      readonly id: string;
      readonly attempt: number;
      readonly error: unknown;
    }
  | { readonly type: 'retried'; readonly id: string; readonly attempt: number }
  | { readonly type: 'waited'; readonly ms: number }
  | { readonly type: 'passed'; readonly id: string }
  | { readonly type: 'undone'; readonly id: string; readonly key: string | undefined }
  | { readonly type: 'undoFailed'; readonly id: string; readonly error: unknown }
  | { readonly type: 'uncompensated'; readonly id: string }
  | { readonly type: 'told'; readonly what: 'progress' | 'log'; readonly text: string }
  | { readonly type: 'crashed'; readonly when: 'before' | 'after'; readonly id: string }
  | { readonly type: 'lost'; readonly what: 'response' }
  | { readonly type: 'forked'; readonly id: string }
  /** The guard has the response of an earlier request, so nothing ran. */
  | { readonly type: 'repeated' }
  | { readonly type: 'cancelledFromOutside'; readonly reason: string | undefined }
  | { readonly type: 'completed'; readonly result: unknown }
  | { readonly type: 'gaveUp'; readonly error: unknown }
  | { readonly type: 'refused'; readonly reason: string };

/** Event of a run, with its turn, from 1. */
export type TraceEntry = TraceEvent & { readonly turn: number };

/** Events of a run, in order. */
export class Trace extends Array<TraceEntry> {
  /** `filter`, `map`, and other methods return a plain array. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  /** Lines for `toMatchSagaTrace`, a line per entry. */
  get lines(): readonly string[] {
    return Array.from(this, lineOf);
  }

  /** Formats the run, turn by turn. */
  override toString(): string {
    let turn = 0;
    return Array.from(this, (entry) => {
      const mark = entry.turn === turn ? '       ' : `turn ${String(entry.turn).padEnd(2)}`;
      turn = entry.turn;
      return `${mark} ${lineOf(entry)}`;
    }).join('\n');
  }
}

/** Run for matchers and coverage. */
export interface ReportedRun {
  readonly status: 'completed' | 'failed' | 'refused';
  readonly trace: Trace;
  /** IDs of the undone steps, last first. */
  readonly compensated: readonly string[];
  /** IDs of the uncompensated steps. */
  readonly uncompensated: readonly string[];
}

/** Text for each type of event. */
export type ByEvent<Said> = {
  readonly [Type in TraceEvent['type']]: (event: TraceEvent & { readonly type: Type }) => Said;
};

const lines: ByEvent<string> = {
  started: ({ saga, input }) => `started ${saga}${isEmpty(input) ? '' : ` ${show(input)}`}`,
  asked: ({ id, message, reason }) =>
    reason === undefined
      ? `asked ${id}${message === '' ? '' : `: ${oneLine(message)}`}`
      : `asked ${id} again: ${reason}`,
  answered: ({ id, answer, by }) =>
    `answered ${id}${by === undefined ? '' : ' by the server'}${answer === undefined ? '' : `: ${show(answer)}`}`,
  declined: ({ id }) => `declined ${id}`,
  cancelled: ({ id }) => `dismissed ${id}`,
  ran: ({ id, result }) => `ran ${id}${result === undefined ? '' : `: ${show(result)}`}`,
  polled: ({ id, result }) => `polled ${id}: ${result === undefined ? 'not yet' : show(result)}`,
  failed: ({ id, error }) => `failed ${id}: ${showError(error)}`,
  retried: ({ id }) => `retried ${id}`,
  waited: ({ ms }) => `waited ${ms} ms${ms < 60_000 ? '' : ` (${durationOf(ms)})`}`,
  passed: ({ id }) => `passed ${id}: no way back`,
  undone: ({ id }) => `undid ${id}`,
  undoFailed: ({ id, error }) => `failed to undo ${id}: ${showError(error)}`,
  uncompensated: ({ id }) => `left ${id}`,
  told: ({ what, text }) => `told ${what} ${text}`,
  crashed: ({ when, id }) => `crashed ${when} ${id}`,
  lost: () => `lost the response`,
  forked: ({ id }) => `went back to ${id}`,
  repeated: () => 'got the stored response: nothing ran',
  cancelledFromOutside: ({ reason }) => `was cancelled${reason === undefined ? '' : `: ${reason}`}`,
  completed: ({ result }) => `completed: ${show(result)}`,
  gaveUp: ({ error }) => `failed: ${showError(error)}`,
  refused: ({ reason }) => `was refused: ${reason}`,
};

/**
 * Formats an event as one line.
 * @example
 * ```ts
 * const line = lineOf({ type: 'declined', id: 'sure' });
 * console.log(line);
 * console.log(lineOf({ type: 'cancelled', id: 'sure' }));
 * ```
 */
export function lineOf(event: TraceEvent): string {
  return (lines[event.type] as (given: TraceEvent) => string)(event);
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** Formats a duration: `3 d 2 h`, `1.5 s`, or `20 ms`. */
export function durationOf(ms: number): string {
  let left = Math.round(ms);
  const parts = units.flatMap(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  if (left >= 1_000 || (left > 0 && parts.length > 0)) parts.push(`${left / 1_000} s`);
  return parts.join(' ') || `${left} ms`;
}
