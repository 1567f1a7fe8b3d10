import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  callSaga,
  cancelSaga,
  resumeSaga,
  SAGA_EXTENSION,
  SagaClientError,
  SagaProtocolError,
  SagaRequestFailed,
  SagasNotSupported,
  startSaga,
} from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import {
  done,
  form,
  type Json,
  rpcError,
  ScriptedServer,
  suspended,
} from './fixtures/scripted-server.ts';
import { thrownBy } from './fixtures/thrown-by.ts';

const call = { name: 'ship' };
const secret = 'eyJ-the-token-that-nobody-may-see';
const typed = 'what the user typed';
const answer = () => ({ action: 'accept', content: { value: typed } }) as const;

describe('a server without saga methods', () => {
  test.for(connections)(
    'is detected without a request if it declares other extensions: $name',
    async ({ connect }) => {
      const server = new ScriptedServer([]);
      server.extensions = { 'com.example/other': {} };
      const { client, close } = await connect(server);

      const error = await thrownBy(SagasNotSupported, callSaga(client, call));

      expect(error).toMatchObject({
        code: 'sagas_not_supported',
        method: 'tools/callSaga',
        saga: undefined,
      });
      expect(server.sent).toStrictEqual([]);
      await close();
    },
  );

  test.for(connections)(
    'is detected by method-not-found if it declares no extensions: $name',
    async ({ connect }) => {
      const server = new ScriptedServer([]);
      server.extensions = undefined;
      server.methods = [];
      const { client, close } = await connect(server);

      const error = await thrownBy(SagasNotSupported, callSaga(client, call));

      expect(error.cause).toBeInstanceOf(Error);
      await close();
    },
  );

  test.for(connections)('keeps a stored saga in the error: $name', async ({ connect }) => {
    const home = new ScriptedServer([suspended(secret, [form('first')])]);
    const first = await connect(home);
    const turn = await startSaga(first.client, call);
    if (turn.status !== 'suspended') throw new Error('completed');
    await first.close();
    const away = new ScriptedServer([]);
    away.extensions = undefined;
    away.methods = [];
    const second = await connect(away);

    const error = await thrownBy(
      SagasNotSupported,
      resumeSaga(second.client, turn.saga, { handlers: { elicitation: answer } }),
    );

    expect(error).toMatchObject({ method: 'tools/resumeSaga' });
    expect(error.saga?.toJSON()).toMatchObject({
      sagaToken: secret,
      completedSteps: [{ stepId: 'first' }],
    });
    await second.close();
  });

  test.for(connections)(
    'receives the request if it declares no extensions: $name',
    async ({ connect }) => {
      const server = new ScriptedServer([done('ok')]);
      server.extensions = undefined;
      const { client, close } = await connect(server);

      await expect(callSaga(client, call)).resolves.toMatchObject({ content: [{ text: 'ok' }] });
      await close();
    },
  );
});

test.for(connections)('reports a server without cancellation: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', [form('first')])]);
  server.extensions = { [SAGA_EXTENSION]: { methods: ['tools/callSaga', 'tools/resumeSaga'] } };
  const { client, close } = await connect(server);
  const turn = await startSaga(client, call);
  if (turn.status !== 'suspended') throw new Error('completed');

  const error = await thrownBy(SagasNotSupported, cancelSaga(client, turn.saga));

  expect(error).toMatchObject({ method: 'tools/cancelSaga', saga: { turn: 1 } });
  expect(server.sent).toHaveLength(1);
  await close();
});

test.for(connections)('reports the code and reason of a rejection: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    suspended('t1', [form('first')]),
    () => {
      throw rpcError(-32602, 'sagaToken has expired');
    },
    () => {
      throw rpcError(-32602, 'sagaToken is not the newest');
    },
  ]);
  const { client, close } = await connect(server);

  const error = await thrownBy(
    SagaRequestFailed,
    callSaga(client, call, { handlers: { elicitation: answer } }),
  );
  expect(error.message).toBe('tools/resumeSaga failed: sagaToken has expired (-32602)');
  expect(error).toMatchObject({ rpcCode: -32602, cause: { code: -32602 } });
  const { saga } = error;
  if (saga === undefined) throw new Error('no saga');
  const refused = await thrownBy(SagaRequestFailed, cancelSaga(client, saga));
  expect(refused).toMatchObject({ rpcCode: -32602, method: 'tools/cancelSaga' });
  await close();
});

const malformed: readonly (readonly [field: string, answer: Json])[] = [
  ['sagaToken', { state: 'suspended', steps: [] }],
  ['sagaToken', suspended('', [])],
  ['steps', { state: 'suspended', sagaToken: secret, steps: { secret } }],
  ['steps[0].stepId', suspended(secret, [{ type: 'roots', stepId: 7 }])],
  ['steps[0].type', suspended(secret, [{ stepId: 'a' }])],
  ['steps[1].stepId', suspended(secret, [form('a'), form('a')])],
  ['steps[0].params', suspended(secret, [{ type: 'sampling', stepId: 'a' }])],
  ['steps[0].params', suspended(secret, [{ type: 'roots', stepId: 'a', params: [secret] }])],
  [
    'steps[0].params.message',
    suspended(secret, [{ type: 'elicitation', stepId: 'a', params: {} }]),
  ],
  [
    'steps[0].params.requestedSchema',
    suspended(secret, [{ type: 'elicitation', stepId: 'a', params: { message: secret } }]),
  ],
  [
    'steps[0].params.url',
    suspended(secret, [
      { type: 'elicitation', stepId: 'a', params: { mode: 'url', message: secret } },
    ]),
  ],
  [
    'steps[0].params.messages',
    suspended(secret, [{ type: 'sampling', stepId: 'a', params: { messages: secret } }]),
  ],
  ['steps[0].reason', suspended(secret, [form('a', { reason: { secret } })])],
  ['retryAfterMs', suspended(secret, [], { retryAfterMs: -1 })],
  ['retryAfterMs', suspended(secret, [], { retryAfterMs: secret })],
  ['content', suspended(secret, [], { content: secret })],
  ['content[0].type', suspended(secret, [], { content: [secret] })],
  ['state', { state: secret }],
  ['content', { sagaToken: secret }],
  ['content', { content: secret }],
  ['isError', done('ok', { isError: secret })],
  ['structuredContent', done('ok', { structuredContent: secret })],
];

test.for(connections)(
  'reports the field of a malformed answer, never its value: $name',
  async ({ connect }) => {
    const server = new ScriptedServer(
      malformed.flatMap(([, wrong]) => [suspended('t1', [form('first')]), wrong]),
    );
    const { client, close } = await connect(server);

    for (const [field] of malformed) {
      const error = await thrownBy(
        SagaProtocolError,
        callSaga(client, call, { handlers: { elicitation: answer } }),
      );
      expect(error).toMatchObject({ code: 'saga_protocol_error', field });
      expect(error.message).toContain(field);
      expect(error.message).not.toContain(secret);
      // The saga is where it was: a better server can take it on.
      expect(error.saga?.toJSON()).toMatchObject({
        sagaToken: 't1',
        completedSteps: [{ stepId: 'first' }],
      });
    }
    await close();
  },
);

test.for(connections)(
  'rejects a suspended saga as the answer to a cancellation: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([suspended('t1', []), suspended(secret, [])]);
    const { client, close } = await connect(server);
    const turn = await startSaga(client, call);
    if (turn.status !== 'suspended') throw new Error('completed');

    await expect(cancelSaga(client, turn.saga)).rejects.toMatchObject({ field: 'state' });
    await close();
  },
);

test.for(connections)(
  'logs neither token nor answer of an error or a saga: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended(secret, [form('first')]),
      ({ params }) => {
        throw rpcError(-32602, `cannot open ${String(params['sagaToken'])}`);
      },
      suspended(secret, [form('first')]),
      { state: 'suspended', sagaToken: secret, steps: secret },
      suspended(secret, [form('first')]),
      suspended(secret, [form('second')]),
    ]);
    const { client, close } = await connect(server);
    const user = new AbortController();
    const options = { handlers: { elicitation: answer }, maxRounds: 1, signal: user.signal };
    const errors = [
      await thrownBy(SagaClientError, callSaga(client, call, options)),
      await thrownBy(SagaClientError, callSaga(client, call, options)),
      await thrownBy(SagaClientError, callSaga(client, call, options)),
    ];
    user.abort();
    errors.push(
      await thrownBy(
        SagaClientError,
        resumeSaga(client, errors[2]?.saga ?? JSON.parse('0'), options),
      ),
    );

    expect(errors.map(({ name, code }) => `${name} ${code}`)).toStrictEqual([
      'SagaRequestFailed saga_request_failed',
      'SagaProtocolError saga_protocol_error',
      'SagaRoundsExceeded saga_rounds_exceeded',
      'SagaCallAborted saga_call_aborted',
    ]);
    for (const error of errors) {
      // The first server quotes the token in its message, and the SDK's own error stays as it is in
      // `cause`.
      const { cause: _cause, saga, ...fields } = error;
      const whole = error === errors[0] ? fields : error;
      const printed = [
        String(error),
        error.stack,
        JSON.stringify(error),
        inspect(whole, { depth: 9 }),
        inspect(saga, { depth: 9 }),
      ].join('\n');
      expect(printed).not.toContain(secret);
      expect(printed).not.toContain(typed);
      expect(saga?.toJSON().sagaToken).toBe(secret);
    }
    expect(errors[0]?.message).toBe('tools/resumeSaga failed: cannot open <token> (-32602)');
    await close();
  },
);
