import { describe, expect, test, vi } from 'vitest';
import {
  callSaga,
  resumeSaga,
  SagaStepUnhandled,
  type KeptSaga,
  type StepHandlers,
} from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { deferred } from './fixtures/deferred.ts';
import { done, form, rpcError, ScriptedServer, suspended } from './fixtures/scripted-server.ts';

const call = { name: 'ship' };
const sampling = {
  type: 'sampling',
  stepId: 'verdict',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Safe?' } }], maxTokens: 5 },
};
const verdict = { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } } as const;
const roots = { roots: [{ uri: 'file:///home' }] };

function answered(server: ScriptedServer): unknown {
  return server.sent.at(-1)?.params['completedSteps'];
}

test.for(connections)(
  'asks all steps of a turn at once, and answers in their order: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t', [form('slow'), form('fast'), sampling]),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const order: string[] = [];
    const fast = deferred<null>();

    await callSaga(client, call, {
      handlers: {
        elicitation: async (_params, { stepId }) => {
          order.push(`ask ${stepId}`);
          if (stepId === 'slow') await fast.promise;
          else fast.resolve(null);
          order.push(`answer ${stepId}`);
          return { action: 'decline' };
        },
        sampling: () => {
          order.push('ask verdict');
          return verdict;
        },
      },
    });

    expect(order.slice(0, 2)).toStrictEqual(['ask slow', 'ask fast']);
    expect(order.indexOf('answer fast')).toBeLessThan(order.indexOf('answer slow'));
    expect(answered(server)).toStrictEqual([
      { stepId: 'slow', result: { action: 'decline' } },
      { stepId: 'fast', result: { action: 'decline' } },
      { stepId: 'verdict', result: verdict },
    ]);
    await close();
  },
);

test.for(connections)('uses the handlers registered on the client: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    suspended('t', [form('who'), sampling, { type: 'roots', stepId: 'where' }]),
    done('ok'),
  ]);
  const contexts: unknown[] = [];
  const { client, close } = await connect(server, {
    elicitation: ({ message }, context) => {
      contexts.push(context);
      return { action: 'accept', content: { value: message } };
    },
    sampling: () => verdict,
    roots: () => roots,
  });

  await callSaga(client, call);

  expect(answered(server)).toStrictEqual([
    { stepId: 'who', result: { action: 'accept', content: { value: 'What about who?' } } },
    { stepId: 'verdict', result: verdict },
    { stepId: 'where', result: roots },
  ]);
  const [context] = contexts;
  const v2 = 'getProtocolEra' in client;
  expect(context).toMatchObject(
    v2
      ? { mcpReq: { id: 'who', method: 'elicitation/create', signal: expect.any(AbortSignal) } }
      : { requestId: 'who', signal: expect.any(AbortSignal) },
  );
  await close();
});

test.for(connections)(
  'prefers a handler of the options to a registered one: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([suspended('t', [form('who')]), done('ok')]);
    const registered = vi.fn(() => ({ action: 'decline' }) as const);
    const { client, close } = await connect(server, { elicitation: registered });

    await callSaga(client, call, { handlers: { elicitation: () => ({ action: 'cancel' }) } });

    expect(answered(server)).toStrictEqual([{ stepId: 'who', result: { action: 'cancel' } }]);
    expect(registered).not.toHaveBeenCalled();
    await close();
  },
);

test.for(connections)(
  'answers a step of an unknown type with an error: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t', [{ type: 'payment', stepId: 'pay', params: {} }]),
      done('ok'),
    ]);
    const { client, close } = await connect(server);

    const result = await callSaga(client, call);

    expect(result.content).toStrictEqual([{ type: 'text', text: 'ok' }]);
    expect(answered(server)).toStrictEqual([
      {
        stepId: 'pay',
        error: { code: -32601, message: "The client does not support steps of type 'payment'" },
      },
    ]);
    await close();
  },
);

const kinds = [
  {
    type: 'elicitation',
    step: form('it'),
    method: 'elicitation/create',
    answer: { action: 'decline' },
  },
  {
    type: 'sampling',
    step: { ...sampling, stepId: 'it' },
    method: 'sampling/createMessage',
    answer: verdict,
  },
  { type: 'roots', step: { type: 'roots', stepId: 'it' }, method: 'roots/list', answer: roots },
] as const;

describe.each(kinds)('a step of type $type without a handler', ({ type, step, method, answer }) => {
  test.for(connections)(
    'asks and sends nothing, and the error names the missing handlers: $name',
    async ({ connect }) => {
      const other = type === 'elicitation' ? sampling : form('other');
      const server = new ScriptedServer([suspended('t', [other, step]), done('ok')]);
      const { client, close } = await connect(server);
      const asked: string[] = [];
      const handlers: StepHandlers = {
        ...(type === 'elicitation'
          ? {}
          : { elicitation: () => (asked.push('user'), { action: 'decline' }) }),
        ...(type === 'elicitation' ? { sampling: () => (asked.push('model'), verdict) } : {}),
      };
      const error: unknown = await callSaga(client, call, { handlers }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(SagaStepUnhandled);
      const { message, saga, ...facts } = error as SagaStepUnhandled;
      expect(facts).toMatchObject({ code: 'saga_step_unhandled', stepId: 'it', type });
      expect(message).toContain(`options.handlers.${type}, or a request handler for ${method}`);
      expect(asked).toEqual([]);
      expect(server.sent).toHaveLength(1);

      const given = { ...handlers, [type]: () => answer };
      const kept = JSON.parse(JSON.stringify(saga)) as KeptSaga;
      expect((await resumeSaga(client, kept, { handlers: given })).content).toEqual([
        { type: 'text', text: 'ok' },
      ]);
      expect(answered(server)).toContainEqual({ stepId: 'it', result: answer });
      await close();
    },
  );
});

test.for(connections)(
  'sends the error of a handler together with the other answers: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t', [
        form('plain'),
        form('coded'),
        form('odd'),
        form('nothing'),
        form('loop'),
        form('fine'),
      ]),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const loop: { self?: unknown } = {};
    loop.self = loop;

    await callSaga(client, call, {
      handlers: {
        elicitation: (_params, { stepId }) => {
          switch (stepId) {
            case 'plain':
              throw new Error('the dialog broke', { cause: new Error('secret cause') });
            case 'coded':
              throw rpcError(-1, 'rejected by the user', { again: true });
            case 'odd':
              throw rpcError(-1, 'its data cannot be sent', loop);
            case 'loop':
              return { action: 'accept', content: JSON.parse('{}'), ...loop };
            case 'nothing':
              return JSON.parse('null');
            default:
              return { action: 'accept', content: { value: 'x' } };
          }
        },
      },
    });

    expect(answered(server)).toStrictEqual([
      { stepId: 'plain', error: { code: -32603, message: 'the dialog broke' } },
      {
        stepId: 'coded',
        error: { code: -1, message: 'rejected by the user', data: { again: true } },
      },
      { stepId: 'odd', error: { code: -1, message: 'its data cannot be sent' } },
      {
        stepId: 'nothing',
        error: { code: -32603, message: 'The handler for elicitation did not return a result' },
      },
      { stepId: 'loop', error: { code: -32603, message: expect.stringContaining('circular') } },
      { stepId: 'fine', result: { action: 'accept', content: { value: 'x' } } },
    ]);
    await close();
  },
);

test.for(connections)(
  '[W4] answers a repeated step again, and drops the rejected answer: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t1', [form('port'), form('host')]),
      suspended('t2', [form('port', { reason: 'port: must be at least 1024' })]),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const reasons: unknown[] = [];

    await callSaga(client, call, {
      handlers: {
        elicitation: (_params, { stepId, reason }) => {
          reasons.push(reason);
          return { action: 'accept', content: { value: reason ? '8080' : stepId } };
        },
      },
    });

    expect(reasons).toStrictEqual([undefined, undefined, 'port: must be at least 1024']);
    expect(answered(server)).toStrictEqual([
      { stepId: 'host', result: { action: 'accept', content: { value: 'host' } } },
      { stepId: 'port', result: { action: 'accept', content: { value: '8080' } } },
    ]);
    await close();
  },
);

test.for(connections)(
  'shows the reason of a rejection by a registered handler: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t', [form('port', { reason: 'too low' })]),
      done('ok'),
    ]);
    const messages: string[] = [];
    const { client, close } = await connect(server, {
      elicitation: ({ message }) => {
        messages.push(message);
        return { action: 'decline' };
      },
    });

    await callSaga(client, call);

    expect(messages).toStrictEqual(['too low\n\nWhat about port?']);
    await close();
  },
);

test.for(connections)(
  'sends the user to a page by a registered handler: $name',
  async ({ connect }) => {
    const page = { mode: 'url', message: 'Sign in', url: 'https://example.com/' };
    const server = new ScriptedServer([
      suspended('t', [
        { type: 'elicitation', stepId: 'sign-in', params: page },
        { type: 'elicitation', stepId: 'again', params: { ...page, elicitationId: 'e1' } },
      ]),
      done('ok'),
    ]);
    const seen: object[] = [];
    const { client, close } = await connect(server, {
      elicitation: (params) => {
        seen.push(params);
        return { action: 'accept' };
      },
    });

    await callSaga(client, call);

    expect(seen).toMatchObject([page, page]);
    expect(answered(server)).toStrictEqual(
      ['sign-in', 'again'].map((stepId) => ({ stepId, result: { action: 'accept' } })),
    );
    await close();
  },
);

test.for(connections)('keeps unknown fields of a result: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    done('ok', {
      structuredContent: { id: 1 },
      isError: false,
      nextThing: { a: 1 },
      _meta: { 'x/y': 1 },
    }),
  ]);
  const { client, close } = await connect(server);

  const result = await callSaga(client, { ...call, _meta: { 'x/z': 2 } });

  expect(result).toMatchObject({
    content: [{ type: 'text', text: 'ok' }],
    structuredContent: { id: 1 },
    isError: false,
    nextThing: { a: 1 },
    _meta: { 'x/y': 1 },
  });
  expect(server.received[0]?.meta).toMatchObject({ 'x/z': 2 });
  await close();
});
