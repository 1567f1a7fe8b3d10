import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { sendInvoice } from './send-invoice.js';

// The keys are in SAGA_KEYS.
const sagas = serveSagas({
  name: 'mcp-saga-project',
  version: '1.0.0',
  sagas: [sendInvoice],
  // Keeps out web pages that reach this computer under another name. Add the host names of your server.
  http: { allowedHosts: ['localhost', '127.0.0.1'] },
});

// On PORT, or 3000.
serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' });
