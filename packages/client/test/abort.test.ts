import { expect, test } from 'vitest';
import {
  callSaga,
  cancelSaga,
  resumeSaga,
  SagaCallAborted,
  SagaOnTurnFailed,
  startSaga,
} from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { deferred } from './fixtures/deferred.ts';
import { done, form, ScriptedServer, suspended } from './fixtures/scripted-server.ts';
import { thrownBy } from './fixtures/thrown-by.ts';

const call = { name: 'ship' };
const yes = { action: 'accept', content: { value: 'yes' } } as const;
const reason = new Error('the tab was closed');

test.for(connections)(
  'keeps the answers of a call that is aborted during a step: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t1', [form('first'), form('second')]),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const user = new AbortController();
    const signals: AbortSignal[] = [];

    const error = await thrownBy(
      SagaCallAborted,
      callSaga(client, call, {
        signal: user.signal,
        handlers: {
          elicitation: async (_params, { stepId }, { signal }) => {
            signals.push(signal);
            if (stepId === 'first') return yes;
            // After every answer that is there already has been taken.
            setImmediate(() => user.abort(reason));
            return new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('the dialog was closed')));
            });
          },
        },
      }),
    );

    expect(error.cause).toBe(reason);
    expect(signals.map(({ aborted }) => aborted)).toStrictEqual([true, true]);
    expect(server.sent).toHaveLength(1);
    const { saga } = error;
    expect(saga?.answers).toStrictEqual([{ stepId: 'first', result: yes }]);
    const asked: string[] = [];
    await resumeSaga(client, JSON.parse(JSON.stringify(saga)), {
      handlers: {
        elicitation: (_params, { stepId }) => {
          asked.push(stepId);
          return yes;
        },
      },
    });
    expect(asked).toStrictEqual(['second']);
    expect(server.sent.at(-1)?.params['completedSteps']).toHaveLength(2);
    await close();
  },
);

test.for(connections)(
  'keeps the answers of a call that is aborted during a request: $name',
  async ({ connect }) => {
    const arrived = deferred<null>();
    const never = deferred<Record<string, unknown>>();
    const server = new ScriptedServer([
      suspended('t1', [form('first')]),
      () => {
        arrived.resolve(null);
        return never.promise;
      },
    ]);
    const { client, close } = await connect(server);
    const user = new AbortController();
    const running = callSaga(client, call, {
      signal: user.signal,
      handlers: { elicitation: () => yes },
    });

    await arrived.promise;
    user.abort(reason);
    const error = await thrownBy(SagaCallAborted, running);

    expect(error.cause).toBe(reason);
    expect(error.saga?.answers).toStrictEqual([{ stepId: 'first', result: yes }]);
    never.resolve({});
    await close();
  },
);

test.for(connections)('sends nothing for an aborted signal: $name', async ({ connect }) => {
  const server = new ScriptedServer([]);
  const { client, close } = await connect(server);

  const error = await thrownBy(
    SagaCallAborted,
    callSaga(client, call, { signal: AbortSignal.abort(reason) }),
  );

  expect(error).toMatchObject({ cause: reason, saga: undefined });
  expect(server.sent).toStrictEqual([]);
  await close();
});

test.for(connections)('keeps the saga unchanged when onTurn aborts: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', [])]);
  const { client, close } = await connect(server);
  const user = new AbortController();

  const error = await thrownBy(
    SagaCallAborted,
    callSaga(client, call, { signal: user.signal, onTurn: () => user.abort(reason) }),
  );

  expect(error.saga).toMatchObject({ turn: 1, steps: [] });
  expect(server.sent).toHaveLength(1);
  await close();
});

test.for(connections)('asks nothing if onTurn fails: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', [form('first')])]);
  const { client, close } = await connect(server);
  const full = new Error('the disk is full');

  const error = await thrownBy(
    SagaOnTurnFailed,
    callSaga(client, call, { onTurn: () => Promise.reject(full) }),
  );

  expect(error).toMatchObject({ code: 'saga_on_turn_failed', cause: full, saga: { turn: 1 } });
  expect(server.sent).toHaveLength(1);
  await close();
});

test.for(connections)(
  'sends no cancellation for an abort after the end: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t1', [form('first')]),
      done('ok'),
      done('after'),
    ]);
    const { client, notified, close } = await connect(server);
    const user = new AbortController();

    await callSaga(client, call, { signal: user.signal, handlers: { elicitation: () => yes } });
    user.abort(reason);
    await startSaga(client, call);

    expect(notified.filter((method) => method !== 'notifications/initialized')).toStrictEqual([]);
    await close();
  },
);

test.for(connections)('cancels a saga with a reason: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', [form('first')]), done('Refunded')]);
  const { client, close } = await connect(server);
  const turn = await startSaga(client, call);
  if (turn.status !== 'suspended') throw new Error('completed');

  const result = await cancelSaga(client, turn.saga.toJSON(), { reason: 'changed my mind' });

  expect(result.content).toStrictEqual([{ type: 'text', text: 'Refunded' }]);
  expect(server.sent.at(-1)).toStrictEqual({
    method: 'tools/cancelSaga',
    params: { sagaToken: 't1', reason: 'changed my mind' },
  });
  await close();
});
