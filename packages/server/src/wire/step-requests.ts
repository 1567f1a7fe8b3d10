import type { ClientNeed, ClientStep, Json } from '@mcp-saga/core';
import type { WireRequest } from '../model/call-types.ts';
import { isJsonObject, samplingNeed } from '@mcp-saga/core/program';
import type { SuspendedTurn } from '../model/turn.ts';

const methods = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const;

/** Returns the capability that a client needs for a step. */
export function needOf({ type, params }: ClientStep): ClientNeed {
  if (type === 'sampling') return samplingNeed(params);
  return type === 'elicitation' && params['mode'] === 'url' ? 'elicitation.url' : type;
}

/**
 * Converts a step to the MCP request for the client. `sagaId`: makes the URL elicitation ID for MCP
 * before 2026-07-28.
 */
export function toRequest(step: ClientStep, sagaId?: string): WireRequest {
  const { type, reason } = step;
  const params = sagaId === undefined ? step.params : withElicitationId(step, sagaId);
  return {
    method: methods[type],
    params: reason === undefined ? params : explained(params, reason),
  };
}

/** Adds an ID that is unique on the server to a URL elicitation. */
function withElicitationId({ params, stepId }: ClientStep, sagaId: string): ClientStep['params'] {
  return params['mode'] === 'url'
    ? { ...params, elicitationId: elicitationIdOf(sagaId, stepId) }
    : params;
}

/** ID of a URL elicitation. Made of what each turn knows, so no server has to remember it. */
export function elicitationIdOf(sagaId: string, stepId: string): string {
  return `${sagaId}.${stepId}`;
}

/** Adds the reason of a repeated form to its message: MCP has no other place for it. */
function explained(params: ClientStep['params'], reason: string): { readonly [key: string]: Json } {
  const { message } = params;
  return typeof message === 'string' ? { ...params, message: `${message}\n\n(${reason})` } : params;
}

/** Returns the questions that a client with these capabilities can answer. */
export function asksOf(capabilities: Json | undefined): readonly ClientNeed[] {
  const declared = record(capabilities);
  if (declared === undefined) return [];
  const asks: ClientNeed[] = [];
  const elicitation = record(declared['elicitation']);
  if (elicitation !== undefined) {
    const url = elicitation['url'] !== undefined;
    // Without a mode, clients mean forms, the only mode before 2025-11-25.
    if (elicitation['form'] !== undefined || !url) asks.push('elicitation');
    if (url) asks.push('elicitation.url');
  }
  const sampling = record(declared['sampling']);
  if (sampling !== undefined) asks.push('sampling');
  if (sampling?.['tools'] !== undefined) asks.push('sampling.tools');
  if (record(declared['roots']) !== undefined) asks.push('roots');
  return asks;
}

/** Returns the capabilities that a client must declare, in the form of MCP. */
export function capabilitiesFor(needs: readonly ClientNeed[]): { readonly [name: string]: Json } {
  const capabilities: Record<string, Json> = {};
  const modes: Record<string, Json> = {};
  for (const need of needs) {
    if (need === 'elicitation') modes['form'] = {};
    else if (need === 'elicitation.url') modes['url'] = {};
    else if (need === 'sampling.tools') capabilities['sampling'] = { tools: {} };
    else capabilities[need] ??= {};
  }
  return Object.keys(modes).length === 0 ? capabilities : { elicitation: modes, ...capabilities };
}

function record(value: Json | undefined): { readonly [key: string]: Json } | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Formats the expiry of a token in ISO 8601. */
export function formatExpiry({ expiresAt }: SuspendedTurn): string {
  return new Date(expiresAt).toISOString();
}

/** Converts a step to its form on the wire, for all dialects. */
export function toWireStep(step: ClientStep, sagaId: string): ClientStep {
  return { ...step, params: withElicitationId(step, sagaId) };
}
