// #region sagas
import { serveSagas } from '@mcp-saga/server/serve';
import { note } from './tool.ts';

export const sagas = serveSagas({
  name: 'notes',
  version: '1.0.0',
  sagas: [note],
  keys: () => process.env['SAGA_KEYS'], // read with the first request
  http: { allowedHosts: ['localhost', '127.0.0.1'] },
});
// #endregion sagas
