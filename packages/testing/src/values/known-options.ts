import { SagaTestError } from './errors.ts';
import { describeUnknownOption, isRecord, isProgram } from '@mcp-saga/server/internal';

/** Checks the names of options. Throws `script`, with the nearest known name and with `hint`. */
export function assertKnownOptions(of: string, options: unknown, names: object, hint = ''): void {
  if (options === undefined) return;
  if (!isRecord(options)) {
    const known = Object.keys(names).join(', ');
    throw new SagaTestError('script', `${of}: the options must be an object of ${known}.`);
  }
  const problem = describeUnknownOption(() => of, options, names);
  if (problem !== undefined) throw new SagaTestError('script', problem + hint);
}

/** Checks that a value is a saga. Throws `script`. */
export function assertSaga(of: string, value: unknown): void {
  const { name, rules } = Object(value) as { name?: unknown; rules?: unknown };
  if (typeof name === 'string' && isProgram(value)) return;
  const script = Array.isArray(rules) ? ' Got a script: pass its saga.' : '';
  throw new SagaTestError(
    'script',
    `${of}: expected a saga of saga(…) or machineSaga(…).${script}`,
  );
}
