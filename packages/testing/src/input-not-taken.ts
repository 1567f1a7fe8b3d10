import { InvalidInput, SagaHostError } from '@mcp-saga/server';
import { SagaTestError } from './errors.ts';
import { show } from './show.ts';
import type { TestSagaOptions } from './test-options.ts';

/** What is said of arguments that a saga does not take: where a script has them from. Undefined for another error. */
export function inputNotTaken(
  error: unknown,
  { input, ...others }: TestSagaOptions,
): SagaTestError | undefined {
  if (!(error instanceof SagaHostError && error.cause instanceof InvalidInput)) return undefined;
  const names = Object.entries(others)
    .flatMap(([name, value]) => (value === undefined ? [] : [name]))
    .join(', ');
  const given =
    input === undefined
      ? `there is no \`input\` in them${names === '' ? '' : `, only ${names}`}`
      : `theirs is ${show(input)}`;
  return new SagaTestError(
    'script',
    `${error.message}. The arguments of a saga are the \`input\` of its test's options, and ${given}. ` +
      'Write testSaga(saga, { input: { … } }), or sagaProperty(saga, { input: fc.record({ … }) }).',
    { cause: error },
  );
}
