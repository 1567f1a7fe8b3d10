import { createSagaHost, memoryStore, type SagaHost } from '@mcp-saga/server';
import { refund } from './logged-refund.ts';

// #region hooks
import type { SagaHostOptions } from '@mcp-saga/server';

const log = (line: object): void => console.log(JSON.stringify(line));
const codeOf = (error: unknown): unknown => Object(error).code ?? Object(error).name;

const logged: Pick<SagaHostOptions, 'hooks' | 'auth'> = {
  hooks: {
    onTurn: ({ saga, sagaId, turn, status, error, durationMs }) => {
      const ms = Math.round(durationMs);
      if (error === undefined) return log({ event: status, saga, sagaId, turn, ms });
      // The cause is the error that a step threw. Its message is yours, and may hold anything.
      const { stepId, cause } = Object(error);
      log({ event: status, saga, sagaId, turn, ms, stepId, code: codeOf(cause ?? error) });
    },
    onStep: ({ type, sagaId, path, attempt, error }) => {
      if (error === undefined) return;
      log({ event: `step ${type}`, sagaId, path, attempt, code: codeOf(error) });
    },
    onSettled: ({ saga, sagaId, uncompensated }) => {
      const steps = uncompensated.map(({ stepId }) => stepId);
      if (steps.length > 0) log({ event: 'not undone', saga, sagaId, steps }); // wake a person
    },
    onReject: ({ reason }) => log({ event: 'token rejected', reason }),
    onError: (error) => log({ event: 'error', code: codeOf(error) }),
  },
  auth: {
    // The only callback that gets the user together with the ID of the saga.
    rateLimit: ({ principal, sagaId, turn }) => {
      const { subject = 'nobody' } = Object(JSON.parse(principal ?? 'null'));
      if (turn === 1) log({ event: 'started', sagaId, user: subject });
      return true;
    },
  },
};
// #endregion hooks

export const host: SagaHost = createSagaHost({
  sagas: [refund],
  name: 'shop',
  keys: process.env['SAGA_KEYS'],
  store: memoryStore(),
  ...logged,
});
