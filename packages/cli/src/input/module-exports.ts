import type { Program, SagaHost } from '@mcp-saga/server';
import { testSaga, TestSaga } from '@mcp-saga/testing';
import { readObject } from './assignments.ts';

/** `true` for a saga: of a generator, or of a machine. */
export function isSaga(value: unknown): value is Program {
  const { name, version, begin, advance } = Object(value) as Record<string, unknown>;
  return (
    typeof name === 'string' &&
    typeof version === 'string' &&
    typeof begin === 'function' &&
    typeof advance === 'function'
  );
}

/** `true` for a script of a test: `testSaga(…)`. */
export function isScript(value: unknown): value is TestSaga {
  return value instanceof TestSaga;
}

/** `true` for a host: `createSagaHost(…)`. */
export function isHost(value: unknown): value is SagaHost {
  const { inspect, resume } = Object(value) as Record<string, unknown>;
  return typeof inspect === 'function' && typeof resume === 'function';
}

/** Makes the script of a saga from the value of `--input`. Throws `usage`. */
export function scriptOf(saga: Program, input: string | undefined): TestSaga {
  return (testSaga as (saga: Program, options: object) => TestSaga)(
    saga,
    input === undefined ? {} : { input: readObject('input', input) },
  );
}
