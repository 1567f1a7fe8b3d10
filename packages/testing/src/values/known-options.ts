import { SagaTestError } from './errors.ts';
import { isRecord, nearestName } from '@mcp-saga/server/internal';

/** Names of all options in an object. */
export type NamesOf<Options> = { readonly [Name in keyof Options]-?: true };

/** Checks the names of options. Throws `script`, with the nearest known name or else `hint`. */
export function assertKnownOptions(of: string, options: unknown, names: object, hint = ''): void {
  if (options === undefined) return;
  const known = Object.keys(names);
  if (!isRecord(options))
    throw new SagaTestError(
      'script',
      `${of}: the options must be an object of ${known.join(', ')}.`,
    );
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const advice = near === undefined ? hint : ` Did you mean '${near}'?`;
  throw new SagaTestError(
    'script',
    `${of}: unknown option '${unknown}'. Options: ${known.join(', ')}.${advice}`,
  );
}

/** Checks that a value is a saga. Throws `script`. */
export function assertSaga(of: string, value: unknown): void {
  const { name, advance, rules } = Object(value) as {
    name?: unknown;
    advance?: unknown;
    rules?: unknown;
  };
  if (typeof name === 'string' && typeof advance === 'function') return;
  const script = Array.isArray(rules) ? ' Got a script: pass its saga.' : '';
  throw new SagaTestError(
    'script',
    `${of}: expected a saga of saga(…) or machineSaga(…).${script}`,
  );
}
