import { serveSagas } from '@mcp-saga/server/serve';
import { sendInvoice } from '../send-invoice.js';

// The keys are in SAGA_KEYS.
export default serveSagas({
  name: 'mcp-saga-project',
  version: '1.0.0',
  sagas: [sendInvoice],
  http: { path: '/api/mcp' },
});
