// #region stdio
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './attach.ts';

serveStdio(createServer);
// #endregion stdio
