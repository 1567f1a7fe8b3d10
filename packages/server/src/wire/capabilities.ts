import { isJsonObject } from '@mcp-saga/core/program';
import type { ClientNeed, Json } from '@mcp-saga/core';

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
