import { StepError } from '@mcp-saga/core';

const word = /^[A-Za-z][\w.-]{0,63}$/;

/**
 * Which kind of error something is, in a word: its `code`, or else its name. Nothing of its message, and nothing of
 * what a client sent as the error of a step.
 */
export function errorTypeOf(error: unknown): string {
  try {
    // It has the name and the code of what was thrown, which a client may have chosen. One of them is the engine's.
    if (error instanceof StepError) return error.code === 'timeout' ? 'timeout' : 'step_failed';
    const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
    for (const said of [code, name]) if (typeof said === 'string' && word.test(said)) return said;
  } catch {
    // An error may be anything, and so may its getters.
  }
  return '_OTHER';
}
