import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  callSaga,
  type KeptSaga,
  KeptSagaInvalid,
  type McpClient,
  resumeSaga,
  SagaRequestFailed,
  SagaRoundsExceeded,
  startSaga,
  SuspendedSaga,
} from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { thrownBy } from './fixtures/thrown-by.ts';
import { done, form, rpcError, ScriptedServer, suspended } from './fixtures/scripted-server.ts';

const call = { name: 'ship', arguments: { to: 'here' } };
const yes = { action: 'accept', content: { value: 'yes' } } as const;
const unused: McpClient = {
  request: () => Promise.reject(new Error('not used')),
  getServerCapabilities: () => undefined,
};

test.for(connections)(
  'continues a saga from JSON on another client: $name',
  async ({ connect }) => {
    const monday = new ScriptedServer([
      suspended('t1', [form('first')]),
      suspended('t2', [form('second'), form('third')], {
        content: [{ type: 'text', text: 'Half way' }],
      }),
    ]);
    const first = await connect(monday);
    const pages: string[] = [];
    const left = new AbortController();
    const leaving = callSaga(first.client, call, {
      signal: left.signal,
      onTurn: (saga) => {
        pages.push(JSON.stringify(saga));
        if (saga.turn === 2) left.abort();
      },
      handlers: { elicitation: () => yes },
    });
    await expect(leaving).rejects.toMatchObject({ code: 'saga_call_aborted' });
    await first.close();

    const tuesday = new ScriptedServer([done('ok')]);
    const second = await connect(tuesday);
    const asked: string[] = [];
    const result = await resumeSaga(second.client, JSON.parse(pages.at(-1) ?? ''), {
      handlers: {
        elicitation: (_params, { stepId }) => {
          asked.push(stepId);
          return yes;
        },
      },
    });

    expect(asked).toStrictEqual(['second', 'third']);
    expect(tuesday.sent).toStrictEqual([
      {
        method: 'tools/resumeSaga',
        params: {
          sagaToken: 't2',
          completedSteps: ['first', 'second', 'third'].map((stepId) => ({ stepId, result: yes })),
        },
      },
    ]);
    expect(result.content).toStrictEqual([{ type: 'text', text: 'ok' }]);
    await second.close();
  },
);

test.for(connections)(
  'reports each suspended turn before its steps are asked: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t1', [form('first')]),
      suspended('token-2', [form('second')], { content: [{ type: 'text', text: 'Half way' }] }),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const seen: unknown[] = [];

    await callSaga(client, call, {
      onTurn: async ({ name, turn, steps, content, tokenBytes, answers }) => {
        await Promise.resolve();
        seen.push({
          name,
          turn,
          steps: steps.map(({ stepId }) => stepId),
          content,
          tokenBytes,
          answers: answers.length,
        });
      },
      handlers: {
        elicitation: (_params, { stepId }) => {
          seen.push(stepId);
          return yes;
        },
      },
    });

    expect(seen).toStrictEqual([
      { name: 'ship', turn: 1, steps: ['first'], content: undefined, tokenBytes: 2, answers: 0 },
      'first',
      {
        name: 'ship',
        turn: 2,
        steps: ['second'],
        content: [{ type: 'text', text: 'Half way' }],
        tokenBytes: 7,
        answers: 1,
      },
      'second',
    ]);
    await close();
  },
);

test.for(connections)('keeps the answers when their request fails: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    suspended('t1', [form('first')]),
    () => {
      throw rpcError(-32603, 'the database is away');
    },
    done('ok'),
  ]);
  const { client, close } = await connect(server);

  const error = await thrownBy(
    SagaRequestFailed,
    callSaga(client, call, { handlers: { elicitation: () => yes } }),
  );

  expect(error).toMatchObject({ rpcCode: -32603, method: 'tools/resumeSaga' });
  expect(error.message).toBe('tools/resumeSaga failed: the database is away (-32603)');
  expect(error.saga?.pending).toStrictEqual([]);
  const kept = JSON.parse(JSON.stringify(error.saga));
  const result = await resumeSaga(client, kept);
  expect(result.content).toStrictEqual([{ type: 'text', text: 'ok' }]);
  expect(server.sent[2]).toStrictEqual(server.sent[1]);
  await close();
});

test.for(connections)(
  'stops after maxRounds, and returns the saga in the error: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      ...['t1', 't2', 't3'].map((token) => suspended(token, [form(`ask-${token}`)])),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const handlers = { elicitation: () => yes };

    const error = await thrownBy(
      SagaRoundsExceeded,
      callSaga(client, call, { handlers, maxRounds: 2 }),
    );

    expect(error).toMatchObject({ code: 'saga_rounds_exceeded', maxRounds: 2 });
    expect(error.saga).toMatchObject({ turn: 3 });
    expect(server.sent).toHaveLength(3);
    const { saga } = error;
    const result = saga && (await resumeSaga(client, saga, { handlers }));
    expect(result?.content).toStrictEqual([{ type: 'text', text: 'ok' }]);
    await close();
  },
);

test.for(connections)('a host can collect answers one by one: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    suspended('t1', [form('first'), form('second')]),
    suspended('t2', [form('first')]),
    done('ok'),
  ]);
  const { client, close } = await connect(server);

  const turn = await startSaga(client, call);
  if (turn.status !== 'suspended') throw new Error('completed');
  const later = turn.saga.withAnswers([{ stepId: 'second', result: yes }]);
  expect(later.pending.map(({ stepId }) => stepId)).toStrictEqual(['first']);
  expect(turn.saga.answers).toStrictEqual([]);

  const next = await SuspendedSaga.from(client, JSON.parse(JSON.stringify(later))).resume();
  if (next.status !== 'suspended') throw new Error('completed');
  const last = await next.saga.resume([
    { stepId: 'first', error: { code: -1, message: 'gave up' } },
  ]);

  expect(last).toMatchObject({
    status: 'completed',
    result: { content: [{ type: 'text', text: 'ok' }] },
  });
  expect(server.sent.slice(1).map(({ params }) => params)).toStrictEqual([
    { sagaToken: 't1', completedSteps: [{ stepId: 'second', result: yes }] },
    {
      sagaToken: 't2',
      completedSteps: [
        { stepId: 'second', result: yes },
        { stepId: 'first', error: { code: -1, message: 'gave up' } },
      ],
    },
  ]);
  await close();
});

describe('a stored saga', () => {
  const kept = {
    format: 'mcp-saga/client@1',
    name: 'ship',
    sagaToken: 'the-secret-token',
    turn: 2,
    steps: [form('second')],
    completedSteps: [{ stepId: 'first', result: yes }],
    content: [{ type: 'text', text: 'Half way' }],
    retryAt: 5,
  };

  test('is the same after JSON, whatever its content', () => {
    const text = fc.string({ minLength: 1 });
    const answers = fc.uniqueArray(
      fc.oneof(
        fc.record({ stepId: text, result: fc.dictionary(text, fc.jsonValue()) }),
        fc.record({ stepId: text, error: fc.record({ code: fc.integer(), message: fc.string() }) }),
      ),
      { selector: ({ stepId }) => stepId },
    );
    const steps = fc.uniqueArray(text, { maxLength: 5 }).map((ids) => ids.map((id) => form(id)));
    const anyKept = fc.record(
      {
        format: fc.constant('mcp-saga/client@1'),
        name: text,
        sagaToken: text,
        turn: fc.integer({ min: 1 }),
        steps,
        completedSteps: answers,
        content: fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
        retryAt: fc.nat(),
      },
      { requiredKeys: ['format', 'name', 'sagaToken', 'turn', 'steps', 'completedSteps'] },
    );
    fc.assert(
      fc.property(anyKept, (saga) => {
        const json = JSON.stringify(saga);
        const after: unknown = JSON.parse(
          JSON.stringify(SuspendedSaga.from(unused, JSON.parse(json))),
        );
        // Not toStrictEqual, which takes a member named `constructor` for the class of the object.
        expect(isDeepStrictEqual(after, JSON.parse(json))).toBe(true);
      }),
    );
  });

  test.for([
    ['', null],
    ['', 'a string'],
    ['format', { ...kept, format: 'mcp-saga/client@2' }],
    ['name', { ...kept, name: 1 }],
    ['sagaToken', { ...kept, sagaToken: '' }],
    ['turn', { ...kept, turn: 0.5 }],
    ['steps', { ...kept, steps: undefined }],
    ['steps[0].stepId', { ...kept, steps: [{ type: 'roots' }] }],
    ['completedSteps', { ...kept, completedSteps: {} }],
    ['completedSteps[0]', { ...kept, completedSteps: [null] }],
    ['completedSteps[0]', { ...kept, completedSteps: [{ stepId: 'first' }] }],
    [
      'completedSteps[0]',
      { ...kept, completedSteps: [{ stepId: 'first', error: { code: 1.5, message: '' } }] },
    ],
    ['completedSteps[0].stepId', { ...kept, completedSteps: [{ result: {} }] }],
    ['content', { ...kept, content: 'Half way' }],
    ['retryAt', { ...kept, retryAt: 'soon' }],
  ] as const)('rejects a stored saga with an invalid field: %s', ([field, value]) => {
    const restore = (): unknown => SuspendedSaga.from(unused, JSON.parse(JSON.stringify(value)));
    expect(restore).toThrow(KeptSagaInvalid);
    expect(restore).toThrow(expect.objectContaining({ field, code: 'kept_saga_invalid' }));
    expect(restore).not.toThrow(
      expect.objectContaining({ message: expect.stringContaining('secret') }),
    );
  });

  test('rejects an answer to an unknown step', () => {
    const saga = SuspendedSaga.from(unused, kept);
    expect(() => saga.withAnswers([{ stepId: 'first', result: yes }])).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  test('keeps an answer as it was when given', () => {
    const content = { value: 'before' };
    const saga = SuspendedSaga.from(unused, kept).withAnswers([
      { stepId: 'second', result: { action: 'accept', content } },
    ]);
    content.value = 'after';
    expect(saga.answers.at(-1)).toMatchObject({ result: { content: { value: 'before' } } });
  });

  test('resumeSaga rejects a value that is not an object', async () => {
    const nothing: KeptSaga = JSON.parse('null');
    await expect(resumeSaga(unused, nothing)).rejects.toMatchObject({
      code: 'kept_saga_invalid',
      field: '',
    });
  });
});

test.for([-1, Number.NaN])('rejects %s as maxRounds before any request', async (maxRounds) => {
  await expect(callSaga(unused, call, { maxRounds })).rejects.toThrow(
    expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
  );
});
