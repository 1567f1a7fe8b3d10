import type { ClientAnswer, IgnoredAnswer } from '@mcp-saga/core';

/** The ids of steps inside a program, and on the wire. */
export interface StepIds {
  toWire(stepId: string): string;
  /** The answers to steps of this generation, and those to older ones, which nobody waits for. */
  fromWire(answers: ReadonlyMap<string, ClientAnswer>): {
    readonly inner: ReadonlyMap<string, ClientAnswer>;
    readonly older: readonly IgnoredAnswer[];
  };
}

/** After the nth `continueAs` every id on the wire ends in `@n`: ids are never used twice in one saga. */
export function stepIdsOf(generation: number): StepIds {
  if (generation === 0) return { toWire: (stepId) => stepId, fromWire: (inner) => ({ inner, older: [] }) };
  const suffix = `@${generation}`;
  return {
    toWire: (stepId) => stepId + suffix,
    fromWire: (answers) => {
      const inner = new Map<string, ClientAnswer>();
      const older: IgnoredAnswer[] = [];
      for (const [stepId, answer] of answers) {
        if (stepId.endsWith(suffix)) inner.set(stepId.slice(0, -suffix.length), answer);
        else older.push({ stepId, why: 'unknown' });
      }
      return { inner, older };
    },
  };
}
