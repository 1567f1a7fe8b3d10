// #region opentelemetry
import { openTelemetry } from '@mcp-saga/opentelemetry';
import { createSagaHost } from '@mcp-saga/server';
import { erase } from './erase.ts';

export const host = createSagaHost({
  sagas: [erase],
  keys: process.env['SAGA_KEYS'],
  name: 'disk',
  telemetry: openTelemetry(),
});
// #endregion opentelemetry
