import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client(
  { name: 'mcp-saga-project-client', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
);
// Confirms every question. A real client shows the form to its user.
client.setRequestHandler('elicitation/create', ({ params }) => {
  console.log(params.message);
  return { action: 'accept', content: { confirmed: true } };
});
// The argument is the path on this computer, or the whole address of another server.
const port = process.env['PORT'] ?? 3000;
const url = new URL(process.argv[2] ?? '/mcp', `http://127.0.0.1:${port}`);
await client.connect(new StreamableHTTPClientTransport(url));
const { content } = await client.callTool({
  name: 'send_invoice',
  arguments: { customer: 'Ada', amount: 12 },
});
console.log(content);
await client.close();
