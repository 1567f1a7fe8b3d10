import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { backlog, reportUsage } from './serve-measured.ts';

// Parses a body, and returns a constant, without MCP. Shows the minimum cost of any server on Node.
const answer = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  result: { content: [{ type: 'text', text: 'web' }] },
});
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => (body += part));
  request.once('end', () => {
    JSON.parse(body);
    response.setHeader('content-type', 'application/json');
    response.end(answer);
  });
});
server.keepAliveTimeout = 3_600_000;
server.listen({ port: 0, host: '127.0.0.1', ...backlog }, () => {
  const { port } = server.address() as AddressInfo;
  reportUsage(`http://127.0.0.1:${port}/`);
});
