// #region node
import { serve } from 'srvx';
import sagas from './serve.ts';

export const listen = () => serve({ port: 3000, fetch: (request) => sagas.fetch(request) });
// MCP is at http://localhost:3000/mcp
// #endregion node
