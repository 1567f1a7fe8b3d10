import type { Json } from '@mcp-saga/server';
import { isJsonObject } from '@mcp-saga/server/internal';
import { messageOf } from '../../report/trace-questions.ts';
import type { Row } from '../../report/side-by-side.ts';
import { isSameValue } from '../../values/same-value.ts';
import { show } from '../../values/show.ts';
import {
  isLeft,
  isPassed,
  type RecordedEnd,
  type RecordedEvent,
  type Recording,
} from '../recording.ts';
import { endText, isSameEnd } from './compare-ends.ts';
import { madeOfRedactedFrom } from './redactions.ts';

/** Outcome of a turn with the current code. */
export interface TurnNow {
  readonly events: readonly RecordedEvent[];
  /** Recorded delays that nothing waited for. */
  readonly unheard?: readonly RecordedEvent[];
  /** First effect that is not recorded, if any. */
  readonly does?: string | undefined;
  readonly end?: RecordedEnd;
}

/**
 * Compares a recorded turn, or a whole journal, with the current code, up to the first difference.
 */
export function turnRows(
  recording: Recording,
  turn: number | undefined,
  now: TurnNow,
  ends: 'compare' | 'ignore',
): readonly Row[] {
  const { turns = [], happened, end } = recording;
  const from = madeOfRedactedFrom(recording);
  const rows: Row[] = [];
  const events = [...now.events];
  const ended = now.end === undefined ? [] : [endText(now.end)];
  const elseNow =
    [...(now.does === undefined ? [] : [now.does]), ...ended].join('; ') || '(nothing more)';
  let parted = false;
  const add = (recorded: string, nowText: string, differs: boolean): void => {
    rows.push({ recorded, now: parted ? '' : nowText, differs: differs && !parted });
    parted ||= differs;
  };
  for (const [index, event] of happened.entries()) {
    if (turn !== undefined && event.turn !== turn) continue;
    const text = eventText(event);
    const today =
      parted || now.unheard?.includes(event) === true ? undefined : taken(events, event);
    if (parted || now.unheard?.includes(event) === true) add(text, '', false);
    else if (today === undefined) add(askedText(event) ?? text, elseNow, true);
    else if (isSameEvent(event, today, index >= from)) add(text, text, false);
    else add(...eventTexts(event, today), true);
  }
  const [more] = events;
  const isMore = more !== undefined || now.does !== undefined;
  const nextNow = more === undefined ? elseNow : eventText(more);
  if (turn === undefined || turn === turns.length) {
    const isMadeOfRedacted = from <= happened.length;
    const same = !isMore && isSameEnd({ end, isMadeOfRedacted }, now.end, ends);
    add(endText(end), same ? endText(end) : nextNow, !same);
  } else if (!parted && (isMore || now.end !== undefined)) {
    add('(nothing more in this turn)', nextNow, true);
  }
  return rows;
}

function taken(events: RecordedEvent[], recorded: RecordedEvent): RecordedEvent | undefined {
  // Code after its timeout ends before or after the end of its turn: no difference.
  const unended = events.findIndex(
    (now) => isSameRun(now, recorded) && [now.outcome, recorded.outcome].includes('not ended'),
  );
  const [found] = events.splice(Math.max(0, unended), 1);
  return unended === -1 || found === undefined ? found : { ...found, outcome: recorded.outcome };
}

function isSameRun(one: RecordedEvent, other: RecordedEvent): boolean {
  return one.kind === other.kind && one.id === other.id && one.run === other.run;
}

/**
 * `true` if an event equals the recorded event. Redacted values and dependent values are not
 * compared.
 */
function isSameEvent(
  recorded: RecordedEvent,
  now: RecordedEvent,
  isMadeOfRedacted: boolean,
): boolean {
  if (recorded === now) return true;
  if (
    !isSameRun(recorded, now) ||
    recorded.outcome !== now.outcome ||
    recorded.reason !== now.reason
  )
    return false;
  if (isMadeOfRedacted) return true;
  return (
    recorded.ms === now.ms &&
    recorded.latest === now.latest &&
    (recorded.redacted?.includes('given') === true ||
      isSameValue(recorded.given ?? null, now.given ?? null))
  );
}

/** Formats an event as a line of a comparison. */
export function eventText(event: RecordedEvent): string {
  const { id, outcome, value, reason, ms, latest } = event;
  if (outcome === 'asked') {
    const message = textAsked(event);
    const again = reason === undefined ? '' : `, again: ${reason}`;
    return `asks ${id}${message === '' ? '' : `: ${message}`}${again}`;
  }
  if (isPassed(event)) return `waited ${ms ?? 0} ms`;
  if (isLeft(event)) {
    const until = ms === undefined ? '' : ` ${ms} ms`;
    return `waits${until}${latest === undefined ? '' : `, at the latest ${latest} ms`}`;
  }
  const unused = reason === undefined ? '' : `, not used: ${reason}`;
  return `${id} ${outcome}${value === undefined ? '' : `: ${show(value)}`}${unused}`;
}

/** Formats two events with a visible difference. */
function eventTexts(
  recorded: RecordedEvent,
  now: RecordedEvent,
): readonly [recorded: string, now: string] {
  const texts = [askedText(recorded) ?? eventText(recorded), eventText(now)] as const;
  if (texts[0] !== texts[1] || recorded.letter !== undefined) return texts;
  const { value: _, ...valueless } = recorded;
  const text = eventText(valueless);
  if (recorded.kind !== now.kind)
    return [`${text}, as ${recorded.kind}`, `${text}, as ${now.kind}`];
  const place = differenceIn(recorded.given ?? null, now.given ?? null);
  const at = (given: Json | undefined): string => {
    const what = [recorded.outcome === 'asked' ? 'params' : 'input', ...place].join('.');
    return `${what}: ${show(place.reduce<unknown>((value, key) => Object(value)[key] as unknown, given))}`;
  };
  return [`${text}, ${at(recorded.given)}`, `${text}, ${at(now.given)}`];
}

/** Formats the question of a journal entry, if known. */
function askedText({ id, asked }: RecordedEvent): string | undefined {
  return asked === undefined ? undefined : `asks ${id}: ${asked}`;
}

function differenceIn(one: Json, other: Json): readonly string[] {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return [];
  const [a, b] = [one, other] as unknown as readonly [
    { [key: string]: Json },
    { [key: string]: Json },
  ];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const key = keys.find((each) => !isSameValue(a[each] ?? null, b[each] ?? null));
  if (key === undefined) return [];
  return [key, ...differenceIn(a[key] ?? null, b[key] ?? null)];
}

function textAsked({ kind, given }: RecordedEvent): string {
  if (!isJsonObject(given)) return '';
  const type = kind === 'sample' ? 'sampling' : kind === 'roots' ? 'roots' : 'elicitation';
  return messageOf({ type, params: given });
}
