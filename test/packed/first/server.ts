// #region server
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { note } from './note.ts';

const sagas = serveSagas({
  name: 'notes',
  version: '1.0.0',
  sagas: [note],
  keys: 'ephemeral', // a key that ends with this process: set SAGA_KEYS and drop this line in production
  http: { allowedHosts: ['localhost', '127.0.0.1'] }, // rejects web pages that reach the server by DNS rebinding
});

serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' }); // on PORT, or 3000
// #endregion server
