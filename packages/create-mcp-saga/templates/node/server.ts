import { serveSagas } from '@mcp-saga/server/serve';
import { sendInvoice } from './send-invoice.js';

// The keys are in SAGA_KEYS.
export default serveSagas({
  name: 'mcp-saga-project',
  version: '1.0.0',
  sagas: [sendInvoice],
  // Keeps out web pages that reach this computer under another name. Add the host names of your
  // server.
  http: { allowedHosts: ['localhost', '127.0.0.1'] },
});
