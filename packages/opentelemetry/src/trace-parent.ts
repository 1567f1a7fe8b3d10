import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { TraceContext } from '@mcp-saga/server';

/**
 * `version "-" trace-id "-" parent-id "-" trace-flags`, by W3C Trace Context; later versions may
 * append fields.
 */
const traceparentForm =
  /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-[\x21-\x7e]{1,200})?$/;

/** Maximum length of a stored `tracestate`: the minimum that W3C Trace Context requires. */
const maxTraceState = 512;

/**
 * Parses trace context from a client. Returns undefined if W3C Trace Context does not allow the
 * value.
 */
export function fromTraceContext({
  traceparent,
  tracestate,
}: TraceContext): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    traceparentForm.exec(traceparent) ?? [];
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const state = tracestate === undefined ? undefined : createTraceState(tracestate);
  const span: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    // An invalid or overlong tracestate is empty.
    ...(state === undefined || state.serialize() === '' ? {} : { traceState: state }),
  };
  return isSpanContextValid(span) ? span : undefined;
}

/** Formats a span for the token: `traceparent`, then a space and `tracestate`, if any. */
export function toParent(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span;
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  const carried = state === '' || state.length > maxTraceState ? '' : ` ${state}`;
  return `00-${traceId}-${spanId}-${flags}${carried}`;
}

/** Parses the format of {@link toParent}. Returns undefined for any other text. */
export function fromParent(parent: string): SpanContext | undefined {
  const at = parent.indexOf(' ');
  if (at === -1) return fromTraceContext({ traceparent: parent });
  return fromTraceContext({ traceparent: parent.slice(0, at), tracestate: parent.slice(at + 1) });
}
