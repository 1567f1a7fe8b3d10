import { isProgram } from '@mcp-saga/core/program';
import type { Program } from '@mcp-saga/server';
import { testSaga, type TestSaga } from '@mcp-saga/testing';
import { readObject } from './assignments.ts';

/** `true` for a saga: of a generator, or of a machine. */
export function isSaga(value: unknown): value is Program {
  const { name, version } = Object(value) as Record<string, unknown>;
  return typeof name === 'string' && typeof version === 'string' && isProgram(value);
}

/** `true` for a script of a test: `testSaga(…)`, also of another copy of the test kit. */
export function isScript(value: unknown): value is TestSaga {
  const { saga, rules, runOn } = Object(value) as Record<string, unknown>;
  return isSaga(saga) && Array.isArray(rules) && typeof runOn === 'function';
}

/** Makes the script of a saga from the value of `--input`. Throws `usage`. */
export function scriptOf(saga: Program, input: string | undefined): TestSaga {
  return (testSaga as (saga: Program, options: object) => TestSaga)(
    saga,
    input === undefined ? {} : { input: readObject('input', input) },
  );
}
