import { publicMessageOf } from './errors.ts';
import type { FailedTurn, CompletedTurn } from '../model/turn.ts';
import { WireError } from './wire-error.ts';
import type { ToolResult } from '@mcp-saga/core';
import { isToolResult } from './saga-result.ts';

const internalError = -32603;

/** What a client may read of a saga that failed: the public message, and what was undone and what was not. */
function failureText(saga: string, turn: FailedTurn): string {
  return sentences(publicMessageOf(saga, turn.error), undoing(turn));
}

/** A saga that failed as a JSON-RPC error, for the methods whose results cannot say so. */
export function failureError(saga: string, turn: FailedTurn): WireError {
  const { compensated, residue } = turn;
  const data = compensated.length + residue.length === 0 ? undefined : { compensated, residue };
  return new WireError(internalError, failureText(saga, turn), data);
}

/** What was undone and what was not, in sentences that a model can act on. */
function undoing({ compensated, residue }: FailedTurn): readonly string[] {
  return [
    ...(compensated.length === 0 ? [] : [`Undone: ${named(compensated)}.`]),
    ...(residue.length === 0 ? [] : [`Not undone, and left as it is: ${named(residue)}.`]),
  ];
}

function named(steps: FailedTurn['compensated']): string {
  return steps
    .map(({ stepId, label }) => (label === undefined ? `'${stepId}'` : `'${stepId}' (${label})`))
    .join(', ');
}

/** A message of an author's, with sentences after it. */
function sentences(message: string, more: readonly string[]): string {
  if (more.length === 0) return message;
  return [/[.!?]$/.test(message) ? message : `${message}.`, ...more].join(' ');
}

/** The key under which everything of this project stands in `_meta` and among extensions. */
export const extensionKey = 'io.github.mcp-saga/saga';

/** A turn that ended a saga, as MCP's `CallToolResult`. */
export function toToolResult(saga: string, turn: CompletedTurn | FailedTurn): ToolResult {
  if (turn.status === 'failed') {
    const { compensated, residue } = turn;
    return {
      content: [{ type: 'text', text: failureText(saga, turn) }],
      isError: true,
      ...(compensated.length + residue.length === 0
        ? {}
        : { _meta: { [extensionKey]: { compensated, residue } } }),
    };
  }
  const { result } = turn;
  if (typeof result === 'string') return { content: [{ type: 'text', text: result }] };
  if (isToolResult(result)) return result;
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: result as { readonly [key: string]: unknown },
  };
}
