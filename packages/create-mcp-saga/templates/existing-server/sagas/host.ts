import { createSagaHost } from '@mcp-saga/server';
import { sendInvoice } from './send-invoice.js';

/**
 * The sagas of this server. Call `sagas.attach(server)` for each `McpServer`, before it connects. The
 * keys are in SAGA_KEYS.
 */
export const sagas = createSagaHost({
  sagas: [sendInvoice],
  name: 'mcp-saga-project',
  // A step with `compensate` or `once` also needs a `store`.
});
