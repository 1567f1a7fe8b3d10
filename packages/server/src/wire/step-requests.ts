import type { ClientNeed, ClientStep, Json } from '@mcp-saga/core';
import type { WireRequest } from '../model/client-call.ts';

const methods = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const;

/** The capability that a client needs for a step. */
export function needOf({ type, params }: ClientStep): ClientNeed {
  return type === 'elicitation' && params['mode'] === 'url' ? 'elicitation.url' : type;
}

/**
 * A step as the MCP request that a client answers with a handler of its own.
 *
 * @param sagaId - for MCP before 2026-07-28, which wants an id for each URL elicitation
 */
export function toRequest(step: ClientStep, sagaId?: string): WireRequest {
  const { type, reason } = step;
  const params = sagaId === undefined ? step.params : withElicitationId(step, sagaId);
  return { method: methods[type], params: reason === undefined ? params : explained(params, reason) };
}

/** The parameters of a step; of a URL elicitation, with an id that is unique on the server. */
export function withElicitationId({ params, stepId }: ClientStep, sagaId: string): ClientStep['params'] {
  return params['mode'] === 'url' ? { ...params, elicitationId: `${sagaId}.${stepId}` } : params;
}

/** A form that is asked again says why in its message: MCP has no other place for it. (W4) */
function explained(params: ClientStep['params'], reason: string): { readonly [key: string]: Json } {
  const { message } = params;
  return typeof message === 'string' ? { ...params, message: `${message}\n\n(${reason})` } : params;
}
