import type { Json } from '@mcp-saga/server';
import { redactedBy, type Redact } from './recorded-event.ts';
import type { TurnEvent } from './turns-recording.ts';

/** Something that happened in a turn, with all its values. */
export type RawEvent = Omit<TurnEvent, 'turn' | 'redacted'>;

/** What may be kept of it. */
export function redactedEvent(event: RawEvent, redact: Redact): Omit<TurnEvent, 'turn'> {
  const { kind, id } = event;
  const parts = (['given', 'value'] as const).flatMap((part) => {
    const value = event[part];
    return value === undefined ? [] : [{ part, ...redactedBy(redact, value, { kind, id, part }) }];
  });
  const changed = parts.filter(({ redacted }) => redacted).map(({ part }) => part);
  return {
    ...event,
    ...Object.fromEntries<Json>(parts.map(({ part, kept }) => [part, kept])),
    ...(changed.length === 0 ? {} : { redacted: changed }),
  };
}
