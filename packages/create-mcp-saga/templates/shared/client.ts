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
const url = new URL(process.argv[2] ?? 'http://127.0.0.1:3000/mcp');
await client.connect(new StreamableHTTPClientTransport(url));
const { content } = await client.callTool({
  name: 'send_invoice',
  arguments: { customer: 'Ada', amount: 12 },
});
console.log(content);
await client.close();
