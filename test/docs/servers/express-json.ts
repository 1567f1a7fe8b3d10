import { toNodeHandler } from '@modelcontextprotocol/node';
import express, { type Express } from 'express';
import { sagas } from './sagas.ts';

export const app: Express = express();
const handler = toNodeHandler(sagas);

// #region express-json
app.use(express.json());
app.all('/mcp', (request, response) => handler(request, response, request.body));
// #endregion express-json
