// #region server
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { note } from './note.ts';

const sagas = serveSagas({
  name: 'notes',
  version: '1.0.0',
  sagas: [note],
  http: { allowedHosts: ['localhost', '127.0.0.1'] }, // no page that its user visits reaches it by another name
});

serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' }); // on PORT, or 3000
// #endregion server
