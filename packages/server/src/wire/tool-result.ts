import { publicMessageOf } from './errors.ts';
import type { FailedTurn, CompletedTurn } from '../model/turn.ts';
import { WireError } from './wire-error.ts';
import type { ToolResult } from '@mcp-saga/core';
import { moreMayHaveRun, splitUncompensated } from './interrupted-turn.ts';

const internalError = -32603;

/** Returns the public message of a failed saga, and its undone and uncompensated steps. */
function failureText(saga: string, turn: FailedTurn): string {
  return sentences(publicMessageOf(saga, turn.error), undoing(turn));
}

/** Converts a failed saga to a JSON-RPC error, for methods without error results. */
export function failureError(saga: string, turn: FailedTurn): WireError {
  const { compensated, uncompensated } = turn;
  const data =
    compensated.length + uncompensated.length === 0 ? undefined : { compensated, uncompensated };
  return new WireError(internalError, failureText(saga, turn), data);
}

/** Lists undone and uncompensated steps in sentences that a model can act on. */
function undoing({ compensated, uncompensated }: FailedTurn): readonly string[] {
  const { steps, turns } = splitUncompensated(uncompensated);
  return [
    ...(compensated.length === 0 ? [] : [`Undone: ${named(compensated)}.`]),
    ...(steps.length === 0 ? [] : [`Not undone, and left as it is: ${named(steps)}.`]),
    ...turns.map(moreMayHaveRun),
  ];
}

function named(steps: FailedTurn['compensated']): string {
  return steps
    .map(({ stepId, label }) => (label === undefined ? `'${stepId}'` : `'${stepId}' (${label})`))
    .join(', ');
}

function sentences(message: string, more: readonly string[]): string {
  if (more.length === 0) return message;
  return [/[.!?]$/.test(message) ? message : `${message}.`, ...more].join(' ');
}

/** Key of this project in `_meta` and among extensions. */
export const extensionKey = 'io.github.mcp-saga/saga';

/** Converts an ended saga to MCP's `CallToolResult`. */
export function toToolResult(saga: string, turn: CompletedTurn | FailedTurn): ToolResult {
  if (turn.status === 'failed') {
    const { compensated, uncompensated } = turn;
    return {
      content: [{ type: 'text', text: failureText(saga, turn) }],
      isError: true,
      ...(compensated.length + uncompensated.length === 0
        ? {}
        : { _meta: { [extensionKey]: { compensated, uncompensated } } }),
    };
  }
  const { result, isContent = false } = turn;
  if (typeof result === 'string') return { content: [{ type: 'text', text: result }] };
  if (isContent) return result as ToolResult;
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: result as { readonly [key: string]: unknown },
  };
}
