import { createTraceState, isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { TraceContext } from '@mcp-saga/server';

/** `version "-" trace-id "-" parent-id "-" trace-flags`, by W3C Trace Context; later versions may say more behind it. */
const traceparentForm = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-[\x21-\x7e]{1,200})?$/;

/** The longest `tracestate` that is carried: what W3C Trace Context asks for at least. */
const maxTraceState = 512;

/** Reads trace context as it came from outside. Undefined for what is not exactly as W3C Trace Context has it. */
export function fromTraceContext({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = traceparentForm.exec(traceparent) ?? [];
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  const state = tracestate === undefined ? undefined : createTraceState(tracestate);
  const span: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    // What is no tracestate, or too long for one, is an empty one.
    ...(state === undefined || state.serialize() === '' ? {} : { traceState: state }),
  };
  return isSpanContextValid(span) ? span : undefined;
}

/** What a token carries of a span: its `traceparent`, and after a space its `tracestate`, where it has one. */
export function toParent(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span;
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  const carried = state === '' || state.length > maxTraceState ? '' : ` ${state}`;
  return `00-${traceId}-${spanId}-${flags}${carried}`;
}

/** The span that {@link toParent} wrote; undefined for anything else. */
export function fromParent(parent: string): SpanContext | undefined {
  const at = parent.indexOf(' ');
  if (at === -1) return fromTraceContext({ traceparent: parent });
  return fromTraceContext({ traceparent: parent.slice(0, at), tracestate: parent.slice(at + 1) });
}
