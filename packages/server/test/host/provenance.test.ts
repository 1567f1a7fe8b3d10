import {
  all,
  call,
  createSagaHost,
  elicit,
  generateKey,
  saga,
  type Answerer,
  type SagaHost,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { Target } from '../fixtures/sagas.ts';
import { coreOf } from '../../src/saga-host.ts';

const both = saga({ name: 'both', version: '1' }, function* () {
  const { open, strict } = yield* all({
    open: elicit('open', {
      message: 'Open?',
      schema: Target,
      answeredBy: ['client', 'model'],
    }),
    strict: elicit.outcome('strict', {
      message: 'Strict?',
      schema: Target,
      fallback: { target: 'the fallback' },
    }),
  });
  return `${open.target}, ${strict.action === 'accept' ? strict.content.target : strict.action}`;
});

test('[T14] accepts an answer of a model by the options of the current host and of the question', async () => {
  const keys = generateKey();
  const hostOf = (answerers: NonNullable<SagaHostOptions['answerers']>): SagaHost =>
    createSagaHost({
      sagas: [both],
      keys,
      name: 'test',
      answerers,
      hooks: { onWarning: () => undefined, onTurn: () => undefined },
    });
  const dialect = { asks: [], asksModel: true };
  const turn = await coreOf(hostOf({ model: 'accept' })).start('both', {}, {}, { dialect });
  if (turn.status !== 'suspended') throw new Error(turn.status);
  expect(turn.steps.map(({ stepId }) => stepId)).toEqual(['open']);
  const answers = ['open', 'strict'].map((stepId) => ({
    stepId,
    result: { action: 'accept', content: { target: 'the model' } },
  }));
  const request = { provenance: 'model', dialect } as const;
  expect(
    await coreOf(hostOf({ model: 'accept' })).resume(turn.token, answers, {}, request),
  ).toMatchObject({ result: 'the model, the fallback' });
  expect(await coreOf(hostOf({})).resume(turn.token, answers, {}, request)).toMatchObject({
    status: 'failed',
    error: { code: 'client_cannot' },
  });
});

test('[T14] a called saga keeps its own word on who may answer, also below a group', async () => {
  const asks = (name: string, answeredBy?: readonly Answerer[]) =>
    saga({ name, version: '1', ...(answeredBy && { answeredBy }) }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      return target;
    });
  const strict = asks('strict', ['client']);
  const open = asks('open');
  const caller = saga(
    { name: 'caller', version: '1', answeredBy: ['client', 'model'] },
    function* () {
      const { first } = yield* all({ first: call(open, {}) });
      const { second } = yield* all({ second: call(strict, {}) });
      return `${first} ${second}`;
    },
  );
  const host = coreOf(
    createSagaHost({
      sagas: [caller],
      keys: generateKey(),
      name: 'test',
      answerers: { model: 'accept' },
      hooks: { onWarning: () => undefined, onTurn: () => undefined },
    }),
  );
  const dialect = { asks: [], asksModel: true };
  const turn = await host.start('caller', {}, {}, { dialect });
  if (turn.status !== 'suspended') throw new Error(turn.status);
  expect(turn.steps.map(({ stepId }) => stepId)).toEqual(['open/target']);
  const result = { action: 'accept', content: { target: 'the model' } };
  const answers = [{ stepId: 'open/target', result }];
  const request = { provenance: 'model', dialect } as const;
  // The called saga does not let the model answer, whatever its caller allows.
  expect(await host.resume(turn.token, answers, {}, request)).toMatchObject({
    status: 'failed',
    error: { code: 'client_cannot', stepId: 'strict/target' },
  });
});
