import type { ToolResult } from '@mcp-saga/core';
import { isToolResult } from './saga-result.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import { failureText } from './failure-result.ts';

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
