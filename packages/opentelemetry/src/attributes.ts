import { SpanStatusCode, type Attributes, type SpanStatus } from '@opentelemetry/api';
import type { TracedEnd, TracedEvent, TracedStep, TracedTurn } from '@mcp-saga/server/internal';

// The names of what is recorded. `error.type` is OpenTelemetry's; there are no conventions for sagas. Those for MCP
// (`mcp.method.name`, `gen_ai.tool.name`) are for the span of a request, of which a saga has many: a tool that was called
// once would be counted once for each turn.

/** The status of a span that shows something going wrong. What was thrown may hold anything, so there is no description. */
export const fault: SpanStatus = { code: SpanStatusCode.ERROR };

/** The name of a turn's span: one for each saga. */
export function turnName({ saga }: Pick<TracedTurn, 'saga'>): string {
  return `saga ${saga}`;
}

/** What is known of a turn when it begins. */
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

/** What is known of a turn when it has ended. */
export function endAttributes({ status, errorType, tokenBytes }: TracedEnd): Attributes {
  return {
    'saga.outcome': status,
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
    ...(tokenBytes === 0 ? {} : { 'saga.token.bytes': tokenBytes }),
  };
}

/** What a saga waits for: ids and kinds of the questions, or for how long. */
export function suspendedAttributes({ asked, retryAfterMs }: TracedEnd): Attributes {
  return {
    'saga.step.ids': asked.map(({ stepId }) => stepId),
    'saga.step.kinds': asked.map(({ type }) => type),
    ...(retryAfterMs === undefined ? {} : { 'saga.retry_after_ms': retryAfterMs }),
  };
}

/**
 * The name of a step's span: the id as it stands in the code, without the scopes it is in and what tells its runs in a loop apart,
 * for names are to be few.
 */
export function stepName({ kind, stepId }: TracedStep): string {
  const [, id = stepId] = /([^/#@(]+)(?:\(\*\))?(?:#\d+)?(?:@\d+)?$/.exec(stepId) ?? [];
  return `${kind} ${id}`;
}

/** What is known of an attempt of a step when it begins. */
export function stepAttributes({ kind, stepId, attempt }: TracedStep): Attributes {
  return { 'saga.step.id': stepId, 'saga.step.kind': kind, 'saga.step.attempt': attempt };
}

/** What happened to a step that has no span. */
export function eventAttributes({ stepId, kind, errorType }: TracedEvent): Attributes {
  return {
    'saga.step.id': stepId,
    'saga.step.kind': kind,
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
  };
}

/** A token that was refused. */
export function refusal(
  reason: string,
  suppressed: number,
): { readonly name: string; readonly attributes: Attributes; readonly status: SpanStatus } {
  return {
    name: 'saga refused',
    attributes: { 'error.type': reason, ...(suppressed === 0 ? {} : { 'saga.suppressed': suppressed }) },
    status: fault,
  };
}
