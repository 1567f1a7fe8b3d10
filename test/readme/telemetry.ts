import {
  createSagaHost,
  generateKey,
  memoryStore,
  type HostHooks,
  type SagaHost,
} from '@mcp-saga/server';
import { deploy } from './deploy.ts';
import { buy } from './undo.ts';

const keys = generateKey();

// #region hooks
import { metrics } from '@opentelemetry/api';

/**
 * Where logs go. No hook is given a token, an answer or a result to write here; errors may hold
 * anything.
 */
export type Log = (line: { readonly [field: string]: unknown }) => void;

export function hooksInto(log: Log): HostHooks {
  const meter = metrics.getMeter('shop');
  const turns = meter.createHistogram('saga.turn.duration', { unit: 'ms' });
  const refused = meter.createCounter('saga.tokens.refused');
  return {
    onTurn: ({ saga, sagaId, turn, status, tokenBytes, durationMs, error }) => {
      turns.record(durationMs, { saga, status });
      log({ level: status === 'failed' ? 'warn' : 'info', saga, sagaId, turn, status, tokenBytes });
      if (error !== undefined) log({ level: 'debug', sagaId, error });
    },
    onStep: ({ type, kind, path, attempt, sagaId }) => {
      if (type === 'retrying' || type === 'failed')
        log({ level: 'warn', sagaId, type, kind, path, attempt });
    },
    onReject: ({ reason, suppressed }) => refused.add(1 + suppressed, { reason }),
    onError: (error) => log({ level: 'error', error }),
    onWarning: (message) => log({ level: 'warn', message }),
  };
}
// #endregion hooks

/** A host whose hooks write to a log. */
export function loggedHost(log: Log): SagaHost {
  return createSagaHost({
    sagas: [buy],
    keys,
    name: 'shop',
    store: memoryStore(),
    hooks: hooksInto(log),
  });
}

// #region opentelemetry
import { openTelemetry } from '@mcp-saga/opentelemetry';

export const host = createSagaHost({
  sagas: [deploy],
  keys,
  name: 'deployer',
  telemetry: openTelemetry(), // or of serveSagas
});
// #endregion opentelemetry
