import { SpanStatusCode, type Attributes, type SpanStatus } from '@opentelemetry/api';
import type { TracedEnd, TracedEvent, TracedStep, TracedTurn } from '@mcp-saga/server/internal';

// `error.type` is an OpenTelemetry convention; sagas have none. The MCP conventions
// (`mcp.method.name`, `gen_ai.tool.name`) describe a request: with several requests in a saga, one
// tool call would be counted once for each turn.

/** Status of a failed span. Without a description, since a thrown error may contain secrets. */
export const fault: SpanStatus = { code: SpanStatusCode.ERROR };

/** Name of the span of a turn, one for each saga. */
export function turnName({ saga }: Pick<TracedTurn, 'saga'>): string {
  return `saga ${saga}`;
}

/** Attributes at the start of a turn. */
export function turnAttributes(turn: TracedTurn): Attributes {
  return {
    'saga.name': turn.saga,
    'saga.version': turn.version,
    'saga.id': turn.sagaId,
    'saga.turn': turn.turn,
    'saga.method': turn.method,
    'saga.action': turn.action,
  };
}

/** Attributes at the end of a turn. */
export function endAttributes({ status, errorType, tokenBytes }: TracedEnd): Attributes {
  return {
    'saga.outcome': status,
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
    ...(tokenBytes === 0 ? {} : { 'saga.token.bytes': tokenBytes }),
  };
}

/** Attributes of a suspended saga: IDs and kinds of the questions, or the time to wait. */
export function suspendedAttributes({ asked, retryAfterMs }: TracedEnd): Attributes {
  return {
    'saga.step.ids': asked.map(({ stepId }) => stepId),
    'saga.step.kinds': asked.map(({ type }) => type),
    ...(retryAfterMs === undefined ? {} : { 'saga.retry_after_ms': retryAfterMs }),
  };
}

/**
 * Name of the span of a step: the ID without scopes and without loop counts, to keep the number of
 * names low.
 */
export function stepName({ kind, stepId }: TracedStep): string {
  const [, id = stepId] = /([^/#@(]+)(?:\(\*\))?(?:#\d+)?(?:@\d+)?$/.exec(stepId) ?? [];
  return `${kind} ${id}`;
}

/** Attributes at the start of an attempt of a step. */
export function stepAttributes({ kind, stepId, attempt }: TracedStep): Attributes {
  return { 'saga.step.id': stepId, 'saga.step.kind': kind, 'saga.step.attempt': attempt };
}

/** Attributes of an event of a step without a span. */
export function eventAttributes({ stepId, kind, errorType }: TracedEvent): Attributes {
  return {
    'saga.step.id': stepId,
    'saga.step.kind': kind,
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
  };
}

/** Span of a rejected token. */
export function refusal(
  reason: string,
  suppressed: number,
): { readonly name: string; readonly attributes: Attributes; readonly status: SpanStatus } {
  return {
    name: 'saga refused',
    attributes: {
      'error.type': reason,
      ...(suppressed === 0 ? {} : { 'saga.suppressed': suppressed }),
    },
    status: fault,
  };
}
