import { describe, expect, test } from 'vitest';
import { elicit, saga, SagaHostError, type StepAnswer } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import * as z from 'zod';
import {
  accept,
  hooksInto,
  hostOf,
  nothingTold,
  oldKey,
  suspended,
  type Told,
} from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { ask, eras, postText, read, type RawMessage } from '../fixtures/raw.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';

const Input = z.strictObject({
  service: z.string().max(10),
  count: z.number().max(3).optional(),
  tags: z.array(z.enum(['a', 'b'])).optional(),
});
const typed = saga({ name: 'typed', version: '1', input: Input }, function* ({ service }) {
  const { target } = yield* elicit('target', {
    message: 'Where?',
    schema: z.object({ target: z.string().max(5), size: z.number().optional() }),
  });
  yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
  return `${service} ${target}`;
});

function serving(): { server: SagaServer; told: Told } {
  const told = nothingTold();
  const server = serveSagas({
    name: 'deployer',
    version: '1',
    sagas: [typed, asking()],
    keys: oldKey,
    testing: { environment: 'production' },
    hooks: hooksInto(told),
  });
  return { server, told };
}

describe.each(eras)('invalid input of a client of the %s era', (era) => {
  const refused = async (method: string, params: unknown): Promise<RawMessage['error']> => {
    const { server, told } = serving();
    const { last } = await ask(server, era, method, params);
    expect(told.steps).toEqual([]);
    expect(told.errors).toEqual([]);
    return last.error;
  };

  test.each([
    ['no name', {}, 'name: expected a string'],
    ['a name that is a number', { name: 7 }, 'name: expected a string'],
    ['a name that is null', { name: null }, 'name: expected a string'],
    [
      'arguments that are a list',
      { name: 'asking', arguments: [] },
      'arguments: expected an object',
    ],
    [
      'arguments that are null',
      { name: 'asking', arguments: null },
      'arguments: expected an object',
    ],
    [
      'arguments that are a text',
      { name: 'asking', arguments: '{}' },
      'arguments: expected an object',
    ],
  ])('at the start is reported by its field: %s', async (_, params, problem) => {
    expect(await refused('tools/callSaga', params)).toStrictEqual({
      code: -32602,
      message: `Invalid params: ${problem}`,
      data: { reason: 'invalid_params' },
    });
  });

  test.each(['nope', '__proto__', 'constructor', ''])(
    'with an unknown name is reported as an unknown tool: "%s"',
    async (name) => {
      expect(await refused('tools/callSaga', { name })).toStrictEqual({
        code: -32602,
        message: `Unknown tool: ${JSON.stringify(name)}`,
        data: { reason: 'unknown_saga' },
      });
    },
  );

  test('with a name of a megabyte is reported without the whole name', async () => {
    const error = await refused('tools/callSaga', { name: 'n'.repeat(1_000_000) });
    expect(error?.message.length).toBeLessThan(200);
  });

  test.each([
    ['a missing field', {}, 'service: expected string'],
    ['a field of another type', { service: 918_273 }, 'service: expected string'],
    ['a field too long', { service: 'kq-918273-kq' }, 'service: Too big'],
    ['a field out of bounds', { service: 'a', count: 918_273 }, 'count: Too big'],
    ['a nested field', { service: 'a', tags: ['a', 'kq-918273'] }, 'tags[1]: Invalid option'],
  ])(
    '[W4] in arguments is reported by its field, without the value: %s',
    async (_, args, problem) => {
      const error = await refused('tools/callSaga', { name: 'typed', arguments: args });
      expect(error).toMatchObject({ code: -32602, data: { reason: 'invalid_params' } });
      expect(error?.message).toContain(`Invalid arguments for 'typed': ${problem}`);
      expect(JSON.stringify(error)).not.toContain('918273');
    },
  );

  test.each([
    ['missing', {}],
    ['null', { sagaToken: null }],
    ['a number', { sagaToken: 7 }],
    ['an object', { sagaToken: { toString: 'x' } }],
  ])('is reported as a sagaToken that is %s', async (_, params) => {
    for (const method of ['tools/resumeSaga', 'tools/cancelSaga']) {
      expect(await refused(method, params)).toStrictEqual({
        code: -32602,
        message: 'Invalid params: sagaToken: expected a string',
        data: { reason: 'invalid_params' },
      });
    }
  });

  test.each<[string, unknown, string]>([
    ['an object', {}, 'completedSteps: expected an array of step results'],
    ['null', null, 'completedSteps: expected an array of step results'],
    ['a list of null', [null], 'completedSteps[0]: expected an object'],
    ['a list of lists', [[]], 'completedSteps[0]: expected an object'],
    ['a step without an id', [{ result: {} }], 'completedSteps[0].stepId: expected a string'],
    [
      'a step with a number for an id',
      [{ stepId: 1, result: {} }],
      'completedSteps[0].stepId: expected a string',
    ],
    [
      'a step with neither',
      [{ stepId: 'a' }],
      'completedSteps[0]: expected either a result or an error',
    ],
    [
      'a step with both',
      [{ stepId: 'a', result: {}, error: { code: 1, message: '' } }],
      'completedSteps[0]: expected either a result or an error',
    ],
    [
      'an error that is null',
      [{ stepId: 'a', error: null }],
      'completedSteps[0].error.code: expected a whole number',
    ],
    [
      'an error that is a text',
      [{ stepId: 'a', error: 'x' }],
      'completedSteps[0].error.code: expected a whole number',
    ],
    [
      'an error without a code',
      [{ stepId: 'a', error: { message: '' } }],
      'completedSteps[0].error.code: expected a whole number',
    ],
    [
      'a code with a fraction',
      [{ stepId: 'a', error: { code: 0.5, message: '' } }],
      'completedSteps[0].error.code: expected a whole number',
    ],
    [
      'an error without a message',
      [{ stepId: 'a', error: { code: 1 } }],
      'completedSteps[0].error.message: expected a string',
    ],
    [
      'one step twice',
      [accept('a', {}), accept('b', {}), accept('a', {})],
      'completedSteps[2].stepId: this step has a result already in the same request',
    ],
    [
      'half a surrogate pair',
      [{ stepId: 'a', result: { action: '\ud800' } }],
      'completedSteps[0].result.action: has a lone surrogate',
    ],
    [
      'half a surrogate pair in an error',
      [{ stepId: 'a', error: { code: 1, message: '\udfff' } }],
      'completedSteps[0].error.message: has a lone surrogate',
    ],
  ])('is reported by its field if completedSteps is %s', async (_, completedSteps, problem) => {
    expect(await refused('tools/resumeSaga', { sagaToken: 'x', completedSteps })).toStrictEqual({
      code: -32602,
      message: `Invalid params: ${problem}`,
      data: { reason: 'invalid_params' },
    });
  });

  test('[T9] with an own __proto__ in arguments or answers is refused before a turn', async () => {
    const { server, told } = serving();
    const meta =
      era === 'legacy'
        ? ''
        : ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
    const send = async (method: string, params: string): Promise<RawMessage['error']> => {
      const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params}${meta}}}`;
      return (await read(await server.fetch(postText(era, method, body)))).last.error;
    };
    expect(
      await send(
        'tools/callSaga',
        '"name":"asking","arguments":{"a":{"__proto__":{"polluted":1}}}',
      ),
    ).toMatchObject({
      code: -32602,
      message: 'Invalid params: arguments.a.__proto__: is a forbidden key',
    });
    expect(
      await send(
        'tools/resumeSaga',
        '"sagaToken":"x","completedSteps":[{"stepId":"target","result":{"action":"accept","content":{"__proto__":{"polluted":1}}}}]',
      ),
    ).toMatchObject({
      code: -32602,
      message: 'Invalid params: completedSteps[0].result.content.__proto__: is a forbidden key',
    });
    expect({}).not.toHaveProperty('polluted');
    expect(told.steps).toEqual([]);
  });

  test('[W4] in a form is asked again with the reason, and without the value', async () => {
    const { server, told } = serving();
    const first = await ask(server, era, 'tools/callSaga', {
      name: 'typed',
      arguments: { service: 'a' },
    });
    const completedSteps = [accept('target', { target: 'kq-918273', size: 'kq-918273' })];
    const { sagaToken } = first.last.result as { sagaToken: string };
    const { text, last } = await ask(server, era, 'tools/resumeSaga', {
      sagaToken,
      completedSteps,
    });
    expect(last.result).toMatchObject({
      state: 'suspended',
      steps: [
        {
          stepId: 'target',
          reason: 'target: Too big: expected string to have <=5 characters; size: expected number',
        },
      ],
    });
    expect(text).not.toContain('918273');
    expect(told.ignored).toEqual([{ stepId: 'target', why: 'invalid' }]);
  });

  test('[W4] that changes a recorded answer is reported with the ID of the step', async () => {
    const { server } = serving();
    const first = await ask(server, era, 'tools/callSaga', {
      name: 'typed',
      arguments: { service: 'a' },
    });
    const second = await ask(server, era, 'tools/resumeSaga', {
      sagaToken: first.last.result?.['sagaToken'],
      completedSteps: [accept('target', { target: 'eu' })],
    });
    const { last, text } = await ask(server, era, 'tools/resumeSaga', {
      sagaToken: second.last.result?.['sagaToken'],
      completedSteps: [accept('target', { target: 'us' }), accept('sure', {})],
    });
    expect(last.error).toMatchObject({ code: -32602, data: { stepId: 'target' } });
    expect(last.error?.message).toContain("'target' already has another answer");
    expect(text).not.toMatch(/"eu"|"us"/);
  });
});

const started = async (): Promise<ReturnType<typeof hostOf> & { token: string }> => {
  const made = hostOf(typed);
  const { token } = suspended(await made.host.start('typed', { service: 'a' }));
  return { ...made, token };
};

describe('answers', () => {
  test('[W4] to unknown steps are ignored, and reported to the hook', async () => {
    const { host, told, token } = await started();
    const turn = suspended(
      await host.resume(token, [
        accept('sure', {}),
        accept('__proto__', {}),
        accept('constructor', {}),
      ]),
    );
    expect(turn.steps.map(({ stepId }) => stepId)).toEqual(['target']);
    expect(told.ignored).toEqual([
      { stepId: 'sure', why: 'unknown' },
      { stepId: '__proto__', why: 'unknown' },
      { stepId: 'constructor', why: 'unknown' },
    ]);
  });

  test('[W4] are compared as JSON: the order of members does not matter', async () => {
    const { host, token } = await started();
    const content = { target: 'eu', size: 1 };
    const second = suspended(await host.resume(token, [accept('target', content)]));
    const repeated: StepAnswer = {
      stepId: 'target',
      result: { content: { size: 1, target: 'eu' }, action: 'accept' },
    };
    expect((await host.resume(second.token, [repeated, accept('sure', {})])).status).toBe(
      'completed',
    );
    const other = host.resume(second.token, [accept('target', { target: 'eu', size: 2 })]);
    await expect(other).rejects.toMatchObject({ code: 'answer_conflict', stepId: 'target' });
  });

  test.each<[string, StepAnswer]>([
    ['null', { stepId: 'target', result: null }],
    ['a text', { stepId: 'target', result: 'accept' }],
    ['a list', { stepId: 'target', result: ['accept'] }],
    ['without an action', { stepId: 'target', result: {} }],
    [
      'with another action',
      { stepId: 'target', result: { action: 'ok', content: { target: 'x' } } },
    ],
    ['without content', { stepId: 'target', result: { action: 'accept' } }],
    ['with a list for content', { stepId: 'target', result: { action: 'accept', content: [] } }],
  ])('[W4] that are %s are asked again with a reason', async (_, answer) => {
    const { host, told, token } = await started();
    const turn = suspended(await host.resume(token, [answer]));
    expect(turn.steps[0]?.reason).toMatch(/expected/);
    expect(told.ignored).toEqual([{ stepId: 'target', why: 'invalid' }]);
  });

  test('that an operator passes in a wrong form are an error, not a refusal', async () => {
    const { host, token } = await started();
    const sent = 'target' as unknown as StepAnswer[];
    await expect(thrownBy(SagaHostError, host.resume(token, sent))).resolves.toMatchObject({
      code: 'invalid_params',
      message: 'Invalid params: answers: expected an array of step results',
    });
  });
});

describe('arguments', () => {
  test.each([
    ['a list', [1]],
    ['a text', 'x'],
    ['a number', 7],
    ['a date', { when: new Date(0) }],
    ['undefined inside', { a: undefined }],
    ['not finite', { a: Number.NaN }],
    ['a bigint', { a: 1n }],
    ['a hole', { a: [, 1] }], // oxlint-disable-line no-sparse-arrays -- that is the case
    ['half a surrogate pair', { a: '\ud83d' }],
    ['half a surrogate pair for a key', { '\ud83d': 1 }],
  ])('[T6] that are %s are refused before anything runs', async (_, args) => {
    const { host, told } = hostOf(asking());
    const error = await thrownBy(SagaHostError, host.start('asking', args));
    expect(error).toMatchObject({ code: 'invalid_params', public: true });
    expect(error.message).toMatch(/^Invalid params: arguments/);
    expect(told.turns).toEqual([]);
  });
});
