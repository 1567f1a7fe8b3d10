import type { ClientStep } from '@mcp-saga/server';
import type { Answer } from '../model/session.ts';

/** Response of a saga method; of a saga that has ended, without these fields. */
export interface SagaReply {
  readonly sagaToken?: string;
  readonly steps?: readonly ClientStep[];
  readonly retryAfterMs?: number;
}

/** Request of this page to a saga. */
export interface Sent {
  readonly id: string;
  readonly tool: string;
  /** ID of the request with the token of this one; undefined for a call. */
  readonly parent?: string;
  readonly method: 'tools/callSaga' | 'tools/resumeSaga' | 'tools/cancelSaga';
  /** Arguments of a call, to start the saga again. */
  readonly args?: object;
  /** Undefined after the response. */
  readonly params?: object;
  readonly reply?: SagaReply;
  /** Error response of the server. */
  readonly error?: string;
}

/** Converts an answer of the form to the answer of a step in MCP. */
export function toCompletedStep({ stepId, type }: ClientStep, { action, content }: Answer): object {
  const text = { type: 'text', text: content };
  if (type === 'roots') return { stepId, result: { roots: [] } };
  if (type === 'sampling') return { stepId, result: { role: 'assistant', model: 'studio', content: text } };
  return { stepId, result: action === 'accept' ? { action, content: content ?? {} } : { action } };
}
