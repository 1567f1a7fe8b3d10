import type { ClientStep } from '@mcp-saga/server';
import type { Answer } from '../model/session.ts';

/** Response of a saga method. */
export interface SagaReply {
  readonly state?: 'suspended';
  readonly sagaToken?: string;
  readonly steps?: readonly ClientStep[];
  readonly retryAfterMs?: number;
}

/** Request of this page to a saga. */
export interface Sent {
  readonly id: string;
  readonly tool: string;
  /** ID of the request with the token of this one; undefined for a call. */
  readonly parent: string | undefined;
  readonly method: 'tools/callSaga' | 'tools/resumeSaga' | 'tools/cancelSaga';
  /** Arguments of a call, to start the saga again. */
  readonly args?: object;
  /** Undefined after the response. */
  readonly params?: object;
  readonly reply?: SagaReply;
  /** Error response of the server. */
  readonly error?: string;
}

/** Converts an answer of the form to the result of MCP. */
export function toStepResult({ type }: Pick<ClientStep, 'type'>, { action, content }: Answer): object {
  if (type === 'roots') return { roots: [] };
  if (type === 'sampling')
    return { role: 'assistant', model: 'studio', content: { type: 'text', text: content } };
  return action === 'accept' ? { action, content: content ?? {} } : { action };
}
