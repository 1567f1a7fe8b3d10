// #region core
import { elicit, type Steps } from '@mcp-saga/core';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

/** For any saga: `yield* sure('Delete it?')`. */
export function* sure(message: string): Steps<boolean> {
  const answer = yield* elicit('sure', { message, schema: Sure });
  return answer.sure;
}
// #endregion core
