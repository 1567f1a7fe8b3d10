import { createSagaHost } from '@mcp-saga/server';
import { sendInvoice } from './send-invoice.js';

/**
 * The sagas of this server. Call `sagas.attach(server)` for each `McpServer`, before it connects.
 */
export const sagas = createSagaHost({
  sagas: [sendInvoice],
  keys: process.env['SAGA_KEYS'],
  name: 'mcp-saga-project',
});
