import type { Json } from '@mcp-saga/server';
import { endText, isSameEnd } from './compare-ends.ts';
import { messageOf } from '../../report/question-text.ts';
import { isLeft, isPassed, type RawEvent, type TurnEvent, type TurnsRecording } from '../turns-recording.ts';
import type { RecordedEnd } from '../recorded-event.ts';
import { madeOfRedactedFrom } from './redactions.ts';
import { isSameValue } from '../../values/same-value.ts';
import { show } from '../../values/show.ts';
import type { Row } from '../../report/side-by-side.ts';

/** Outcome of a turn with the current code. */
export interface TurnNow {
  readonly events: readonly RawEvent[];
  /** Recorded delays that nothing waited for. */
  readonly unheard: readonly TurnEvent[];
  /** Effect that is not recorded, if it would run one. */
  readonly does?: string;
  readonly end?: RecordedEnd;
}

type Event = Omit<TurnEvent, 'turn'>;

/** Compares a recorded turn with the current code, up to the first difference. */
export function turnRows(
  recording: TurnsRecording,
  turn: number,
  now: TurnNow,
  ends: 'compare' | 'ignore',
): readonly Row[] {
  const { turns, happened, end } = recording;
  const from = madeOfRedactedFrom(recording);
  const rows: Row[] = [];
  const events = [...now.events];
  const elseNow = (): string => now.does ?? (now.end === undefined ? '(nothing more)' : endText(now.end));
  let parted = false;
  const add = (recorded: string, nowText: string, differs: boolean): void => {
    rows.push({ recorded, now: parted ? '' : nowText, differs: differs && !parted });
    parted ||= differs;
  };
  for (const [index, event] of happened.entries()) {
    if (event.turn !== turn) continue;
    const text = eventText(event);
    if (now.unheard.includes(event)) add(text, '', false);
    else if (parted) add(text, '', false);
    else {
      const today = taken(events, event);
      if (today === undefined) add(text, elseNow(), true);
      else if (isSameEvent(event, today, index >= from)) add(text, text, false);
      else add(...eventTexts(event, today), true);
    }
  }
  const [more] = events;
  const nextNow = more === undefined ? elseNow() : eventText(more);
  if (turn === turns.length) {
    const same =
      more === undefined &&
      now.does === undefined &&
      isSameEnd({ end, isMadeOfRedacted: from <= happened.length }, now.end, ends);
    add(endText(end), same ? endText(end) : nextNow, !same);
  } else if (!parted && (more !== undefined || now.does !== undefined || now.end !== undefined)) {
    add('(nothing more in this turn)', nextNow, true);
  }
  return rows;
}

function taken(events: RawEvent[], recorded: Event): RawEvent | undefined {
  // Code that nobody waits for any more, since its time was over, ends before its turn does or after it: that says nothing.
  const unended = events.findIndex(
    (now) => isSameRun(now, recorded) && [now.outcome, recorded.outcome].includes('not ended'),
  );
  const [found] = events.splice(Math.max(0, unended), 1);
  return unended === -1 || found === undefined ? found : { ...found, outcome: recorded.outcome };
}

function isSameRun(one: Event, other: Event): boolean {
  return one.kind === other.kind && one.id === other.id && one.run === other.run;
}

/** `true` if an event equals the recorded one. Values that are redacted, or depend on redacted values, are not compared. */
function isSameEvent(recorded: Event, now: Event, isMadeOfRedacted: boolean): boolean {
  if (!isSameRun(recorded, now) || recorded.outcome !== now.outcome || recorded.reason !== now.reason)
    return false;
  if (isMadeOfRedacted) return true;
  return (
    recorded.ms === now.ms &&
    recorded.latest === now.latest &&
    (recorded.redacted?.includes('given') === true || isSameValue(recorded.given ?? null, now.given ?? null))
  );
}

/** Formats an event as a line of a comparison. */
export function eventText(event: Event): string {
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

/** Formats two events so that they read differently. */
function eventTexts(recorded: Event, now: Event): readonly [recorded: string, now: string] {
  const texts = [eventText(recorded), eventText(now)] as const;
  if (texts[0] !== texts[1]) return texts;
  const { value: _, ...valueless } = recorded;
  const text = eventText(valueless);
  if (recorded.kind !== now.kind) return [`${text}, as ${recorded.kind}`, `${text}, as ${now.kind}`];
  const place = differenceIn(recorded.given ?? null, now.given ?? null);
  const at = (given: Json | undefined): string => {
    const what = [recorded.outcome === 'asked' ? 'params' : 'input', ...place].join('.');
    return `${what}: ${show(place.reduce<unknown>((value, key) => Object(value)[key] as unknown, given))}`;
  };
  return [`${text}, ${at(recorded.given)}`, `${text}, ${at(now.given)}`];
}

function differenceIn(one: Json, other: Json): readonly string[] {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return [];
  const [a, b] = [one, other] as unknown as readonly [{ [key: string]: Json }, { [key: string]: Json }];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const key = keys.find((each) => !isSameValue(a[each] ?? null, b[each] ?? null));
  if (key === undefined) return [];
  return [key, ...differenceIn(a[key] ?? null, b[key] ?? null)];
}

function textAsked({ kind, given }: Event): string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return '';
  const params = given as { readonly [key: string]: Json };
  return messageOf({
    type: kind === 'sample' ? 'sampling' : kind === 'roots' ? 'roots' : 'elicitation',
    params,
  });
}
