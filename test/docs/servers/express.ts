// #region express
import { toNodeHandler } from '@modelcontextprotocol/node';
import express, { type Express } from 'express';
import { sagas } from './sagas.ts';

export const app: Express = express();
const handler = toNodeHandler(sagas);

app.get('/health', (_, response) => void response.send('ok'));
app.all('/mcp', (request, response) => handler(request, response));
// #endregion express
