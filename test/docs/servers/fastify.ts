// #region fastify
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import fastify, { type FastifyInstance } from 'fastify';
import { sagas } from './sagas.ts';

export const app: FastifyInstance = fastify();
type Handler = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>;
const handler = toNodeHandler(sagas) as Handler;

app.get('/health', () => 'ok');
app.all('/mcp', async (request, reply) => {
  reply.hijack();
  await handler(request.raw, reply.raw, request.body); // Fastify has parsed the body
});
// #endregion fastify
