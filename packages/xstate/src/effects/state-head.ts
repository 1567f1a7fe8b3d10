import { encodeHead, type Head } from '@mcp-saga/core/program';

/** Encodes the head of a state whose first value is in the server stream. */
export function stateHead(
  turn: number,
  facts: Partial<Pick<Head, 'asked' | 'progress' | 'others' | 'interrupted'>> = {},
): string {
  const { asked = {}, progress, others, interrupted } = facts;
  return encodeHead({
    turn,
    input: 'server',
    progress,
    asked,
    waits: {},
    others,
    mismatch: undefined,
    interrupted,
  });
}
