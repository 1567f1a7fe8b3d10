import type { ToolResult } from '@mcp-saga/core';
import { publicMessageOf } from '../host/public-message.ts';
import { isToolResult } from '../host/result.ts';
import type { CompletedTurn, FailedTurn } from '../host/turn.ts';

/** The key under which everything of this project stands in `_meta` and among extensions. */
export const extensionKey = 'io.github.mcp-saga/saga';

/** A turn that ended a saga, as MCP's `CallToolResult`. */
export function toToolResult(saga: string, turn: CompletedTurn | FailedTurn): ToolResult {
  if (turn.status === 'failed') {
    const { compensated, residue } = turn;
    return {
      content: [{ type: 'text', text: sentences(publicMessageOf(saga, turn.error), undoing(turn)) }],
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
