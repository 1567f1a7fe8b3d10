// #region hono
import { Hono } from 'hono';
import { sagas } from './sagas.ts';

export const app: Hono = new Hono();

app.get('/health', (context) => context.text('ok'));
app.all('/mcp', (context) => sagas.fetch(context.req.raw, context.env));
// #endregion hono
