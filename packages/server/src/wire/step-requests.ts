import type { ClientNeed, ClientStep, Json } from '@mcp-saga/core';
import type { WireRequest } from '../model/client-call.ts';
import { isJsonObject, present } from '@mcp-saga/core/program';
import type { SuspendedTurn } from '../model/turn.ts';

const methods = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const;

/** The capability that a client needs for a step. */
export function needOf({ type, params }: ClientStep): ClientNeed {
  return type === 'elicitation' && params['mode'] === 'url' ? 'elicitation.url' : type;
}

/** Converts a step to the MCP request for the client. `sagaId`: the URL elicitation ID for MCP before 2026-07-28. */
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

/** What a client that declared these capabilities can be asked for. */
export function asksOf(capabilities: Json | undefined): readonly ClientNeed[] {
  const declared = record(capabilities);
  if (declared === undefined) return [];
  const asks: ClientNeed[] = [];
  const elicitation = record(declared['elicitation']);
  if (elicitation !== undefined) {
    const url = elicitation['url'] !== undefined;
    // A client that names no mode means forms, the only one there was before 2025-11-25.
    if (elicitation['form'] !== undefined || !url) asks.push('elicitation');
    if (url) asks.push('elicitation.url');
  }
  if (record(declared['sampling']) !== undefined) asks.push('sampling');
  if (record(declared['roots']) !== undefined) asks.push('roots');
  return asks;
}

/** The capabilities a client has to declare to be asked for these, in the form clients declare them. */
export function capabilitiesFor(needs: readonly ClientNeed[]): { readonly [name: string]: Json } {
  const capabilities: Record<string, Json> = {};
  const modes: Record<string, Json> = {};
  for (const need of needs) {
    if (need === 'elicitation') modes['form'] = {};
    else if (need === 'elicitation.url') modes['url'] = {};
    else capabilities[need] = {};
  }
  return Object.keys(modes).length === 0 ? capabilities : { elicitation: modes, ...capabilities };
}

function record(value: Json | undefined): { readonly [key: string]: Json } | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** A step of a suspended saga as the saga methods put it on the wire. */
export interface WireStep {
  readonly type: 'elicitation' | 'sampling' | 'roots';
  readonly stepId: string;
  readonly params: { readonly [key: string]: Json };
  readonly reason?: string;
}

/** Formats the time until which the token of a turn is good, in ISO 8601. */
export function formatExpiry({ expiresAt }: SuspendedTurn): string {
  return new Date(expiresAt).toISOString();
}

/** A step as hosts see it, in whatever dialect. */
export function toWireStep(step: ClientStep, sagaId: string): WireStep {
  const { type, stepId, reason } = step;
  return {
    type,
    stepId,
    params: withElicitationId(step, sagaId),
    ...present({ reason }),
  };
}
