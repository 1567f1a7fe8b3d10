import type { TraceEvent } from './trace.ts';

/**
 * Place of an event: between client and server, between server and outside world, or at a single
 * lifeline.
 */
export type Place = 'call' | 'reply' | 'effect' | 'undo' | 'here' | 'between';

/** Look of an event. */
interface EventLook {
  readonly place: Place;
  /** Word before the ID. Absent: the ID and the value are enough. */
  readonly verb?: string;
  /**
   * `true` if the kit has a sentence for the event, beside those that are not between two
   * lifelines.
   */
  readonly isSentence?: true;
  /** `true` if something went wrong. */
  readonly isBad?: true;
  /** State of the line of source that the event lights. */
  readonly line?: 'open' | 'done' | 'bad' | 'undone';
}

/** `when`: of a crash. `by`: of an answer. */
export type Shown = Pick<TraceEvent, 'type'> &
  Readonly<{ when?: 'before' | 'after' | undefined; by?: 'server' | undefined }>;

export type EventLooks = Readonly<Record<TraceEvent['type'], EventLook>>;

/** Look of each event, for the ladder, its drawing, and the editor. */
export const looks: EventLooks = {
  started: { place: 'call', verb: 'call' },
  answered: { place: 'call', line: 'done' },
  declined: { place: 'call', verb: 'decline', line: 'bad' },
  cancelled: { place: 'call', verb: 'dismiss', line: 'bad' },
  cancelledFromOutside: { place: 'call', isSentence: true },
  asked: { place: 'reply', line: 'open' },
  told: { place: 'reply', isSentence: true },
  lost: { place: 'reply', isSentence: true, isBad: true },
  repeated: { place: 'reply', isSentence: true },
  completed: { place: 'reply', verb: 'result' },
  gaveUp: { place: 'reply', verb: 'error, in the log:', isBad: true, line: 'bad' },
  refused: { place: 'reply', verb: 'refused, in the log:', isBad: true },
  ran: { place: 'effect', line: 'done' },
  polled: { place: 'effect', verb: 'poll', line: 'done' },
  failed: { place: 'effect', verb: 'failed', isBad: true, line: 'bad' },
  undone: { place: 'undo', verb: 'undo', line: 'undone' },
  undoFailed: { place: 'undo', verb: 'undo failed', isBad: true, line: 'bad' },
  retried: { place: 'here' },
  passed: { place: 'here', line: 'done' },
  uncompensated: { place: 'here', isBad: true, line: 'bad' },
  crashed: { place: 'here', isSentence: true, isBad: true, line: 'bad' },
  waited: { place: 'between', line: 'done' },
  forked: { place: 'call', isSentence: true },
};

/**
 * Returns the look of an event. The effect before a crash has happened, though nothing recorded it.
 */
export function lookOf({ type, when, by }: Shown): EventLook {
  if (by !== undefined) return { ...looks[type], place: 'here' };
  return when === 'after' ? { ...looks.crashed, place: 'effect' } : looks[type];
}

/** Returns the text of an event for a picture. The client does not see the error in the log. */
export function captionOf({ type, text }: Shown & { readonly text: string }): string {
  const { verb = '' } = looks[type];
  return verb.endsWith('log:') && !text.startsWith(verb) ? `in the log: ${text}` : text;
}
