import type { Json } from '@mcp-saga/server';
import { encode, toStepErrorData, type Outcome } from '@mcp-saga/server/internal';
import type { Recorded, RecordedEnd, RecordedEvent, Redact } from './recording.ts';

/** Redacts a value, and tells if the value changed. */
export function redactedBy(
  redact: Redact,
  value: Json,
  of: Recorded,
): { readonly kept: Json; readonly redacted: boolean } {
  // Before the call: `redact` may change the value in place.
  const text = JSON.stringify(value);
  const kept = redact(value, of);
  return { kept, redacted: JSON.stringify(kept) !== text };
}

export function redactedEvent(event: RecordedEvent, redact: Redact): RecordedEvent {
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

/** Formats the end of a saga for a recording. */
export function endOf(
  outcome: Exclude<Outcome, { readonly status: 'suspended' }>,
  redact: Redact,
): RecordedEnd {
  switch (outcome.status) {
    case 'completed': {
      const of = { kind: 'result', id: '', part: 'value' } as const;
      const { kept, redacted } = redactedBy(redact, toJson(outcome.result), of);
      return { status: 'completed', result: kept, ...(redacted ? { redacted } : {}) };
    }
    case 'continued':
      return { status: 'continued', saga: outcome.program.name, version: outcome.program.version };
    case 'failed':
      return {
        status: 'failed',
        ...failure(outcome.error, redact),
        compensated: outcome.compensated.map(({ stepId }) => stepId),
        uncompensated: outcome.uncompensated.map(({ stepId }) => stepId),
      };
  }
}

/** Formats the error of a saga for a recording. */
export function failure(
  thrown: unknown,
  redact: Redact,
): {
  readonly error: { readonly name: string; readonly message: string };
  readonly redacted?: true;
} {
  const { name, message } = toStepErrorData(thrown);
  const of = { kind: 'error', id: '', part: 'value' } as const;
  const { kept, redacted } = redactedBy(redact, message, of);
  return {
    error: { name, message: typeof kept === 'string' ? kept : JSON.stringify(kept) },
    ...(redacted ? { redacted } : {}),
  };
}

/** Converts a value to JSON by the codec of the journal. */
export function toJson(value: unknown): Json {
  return JSON.parse(encode(value)) as Json;
}
