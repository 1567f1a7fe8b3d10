import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  call,
  checkpoint,
  compensator,
  elicit,
  elicitUrl,
  patched,
  poll,
  promptSaga,
  resourceSaga,
  saga,
  sample,
  sleep,
  step,
} from '../src/index.ts';
import { isAuthoringError } from '../src/program-parts.ts';
import { nearestName } from '../src/shared.ts';
import { failed, start } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';

const schema = z.object({ ok: z.boolean() });
const one = (): number => 1;
const body = function* () {
  yield* checkpoint();
  return 'done';
};
const named = { name: 's', version: '1' };
const params = { messages: [], maxTokens: 1 };
const refund = compensator('refund', z.object({}), one);

/** Options as JavaScript gives them. */
const js = (options: unknown): never => options as never;

const retry = (policy: unknown): never => js({ retry: policy });

const misspelled: readonly (readonly [
  make: () => unknown,
  option: string,
  meant: string | undefined,
])[] = [
  [() => step('charge', one, js({ compesate: one })), 'compesate', 'compensate'],
  [() => step('charge', one, js({ compensation: one })), 'compensation', 'compensate'],
  [() => step('charge', one, js({ timeoutMs: 5 })), 'timeoutMs', 'timeout'],
  [() => step('charge', one, js({ Retry: 5 })), 'Retry', 'retry'],
  [() => step('charge', one, js({ retry: { attempt: 5, attempts: 2 } })), 'attempt', 'attempts'],
  [() => step('charge', one, js({ retry: { attempts: 5, backoff: 2 } })), 'backoff', undefined],
  [() => step('charge', one, js({ compensate: one, undo: { retries: 5 } })), 'retries', 'retry'],
  [() => step('charge', one, js({ retries: 3 })), 'retries', 'retry'],
  [() => step('charge', one, js({ maxRetries: 3 })), 'maxRetries', 'retry'],
  [() => step('charge', one, js({ retryStrategy: {} })), 'retryStrategy', 'retry'],
  [() => step('charge', one, js({ startToCloseTimeout: 5 })), 'startToCloseTimeout', 'timeout'],
  [() => step('charge', one, retry({ maximumAttempts: 3 })), 'maximumAttempts', 'attempts'],
  [() => step('charge', one, js({ compensate: one, labels: 'l' })), 'labels', 'label'],
  [() => saga(js({ ...named, inputSchema: schema }), body as never), 'inputSchema', 'input'],
  [() => saga(js({ ...named, outputSchema: schema }), body as never), 'outputSchema', 'output'],
  [() => saga(js({ ...named, reused: 'ok' }), body as never), 'reused', 'reuse'],
  [() => saga(js({ ...named, descripton: 'd' }), body as never), 'descripton', 'description'],
  [() => promptSaga(js({ ...named, inputs: schema }), body as never), 'inputs', 'input'],
  [() => promptSaga(js({ ...named, annotations: {} }), body as never), 'annotations', undefined],
  [
    () => resourceSaga(js({ ...named, uriTemplate: 'a://{b}', input: schema }), body as never),
    'input',
    undefined,
  ],
  [() => resourceSaga(js({ ...named, uri: 'a://{b}' }), body as never), 'uri', undefined],
  [() => elicit('ok', js({ message: 'm', requestedSchema: schema })), 'requestedSchema', 'schema'],
  [() => elicit('ok', js({ message: 'm', schema, fallBack: {} })), 'fallBack', 'fallback'],
  [() => elicit.outcome('ok', js({ message: 'm', schema, timeoutMs: 1 })), 'timeoutMs', 'timeout'],
  [
    () => elicitUrl('ok', js({ message: 'm', url: 'https://a.example', schema })),
    'schema',
    undefined,
  ],
  [() => sample('s', js({ ...params, system: 'x' })), 'system', 'systemPrompt'],
  [() => sample('s', params, js({ timeoutMs: 1 })), 'timeoutMs', 'timeout'],
  [() => poll('p', one, js({ every: 1, timeout: 2, reports: 'r' })), 'reports', 'report'],
  [() => poll('p', one, js({ everyMs: 1, timeout: 2 })), 'everyMs', 'every'],
  [() => poll('p', one, js({ every: 1, timeouts: 2 })), 'timeouts', 'timeout'],
  [() => patched('p', js({ enable: false })), 'enable', 'enabled'],
];

describe('an unknown option', () => {
  it.each(misspelled)('is refused at its definition: %s, %s', (make, option, meant) => {
    const error = thrown(make);
    expect(isAuthoringError(error)).toBe(true);
    expect(error.message).toContain(`has no option '${option}'.`);
    if (meant === undefined) expect(error.message).not.toContain('Did you mean');
    else expect(error.message).toContain(`Did you mean '${meant}'?`);
  });

  it.each([
    ['a step', () => step('charge', one, js('retry'))],
    ['an elicitation', () => elicit('ok', js('Ok?'))],
    ['an elicitation without any', () => elicit('ok', js(undefined))],
    ['a sampling', () => sample('s', js('Summarize'))],
    ['a poll without any', () => poll('p', one, js(undefined))],
    ['a saga', () => saga(js('s'), body as never)],
    ['a call', () => call(js(undefined), {})],
    ['a call of a name', () => call(js('other'), {})],
    ['a wait with a text that is no duration', () => sleep('5 s')],
    ['an undo', () => step('charge', one, js({ compensate: 'refund' }))],
    [
      'an undo that is a named compensator, without its arguments',
      () => step('charge', one, js({ compensate: refund })),
    ],
    [
      'an undo of an unknown outcome, without the undo',
      () => step('charge', one, js({ unknown: 'compensate' })),
    ],
    [
      'an unknown outcome with a word that is no choice',
      () => step('charge', one, js({ compensate: one, unknown: 'undo' })),
    ],
    ['a list of arguments', () => saga(js({ ...named, needs: 'elicitation' }), body as never)],
  ])('has an error of its own: %s', (_, make) => {
    expect(isAuthoringError(thrown(make))).toBe(true);
  });

  it('fails a saga before the step runs, and is marked for the log', async () => {
    let charged = 0;
    const program = sagaOf(function* () {
      yield* step('charge', () => (charged += 1), js({ compesate: one }));
      return 'done';
    });
    const error = failed(await start(program));
    expect(isAuthoringError(error)).toBe(true);
    expect(charged).toBe(0);
  });
});

it.each([
  ['inputSchema', ['name', 'input', 'output'], 'input'],
  ['compesate', ['compress', 'compensate'], 'compensate'],
  ['x', ['id', 'key'], undefined],
  ['handler', ['retry', 'timeout'], undefined],
])('suggests a known name for %s', (name, names, nearest) => {
  expect(nearestName(name, names)).toBe(nearest);
});

function thrown(make: () => unknown): Error {
  try {
    make();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}
