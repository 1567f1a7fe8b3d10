import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client(
  { name: 'desk', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('elicitation/create', ({ params }) => {
  console.log(params.message);
  return { action: 'accept', content: { euros: 20 } };
});
const url = new URL(process.argv[2] ?? 'http://127.0.0.1:3000/mcp');
await client.connect(new StreamableHTTPClientTransport(url));
const { content } = await client.callTool({ name: 'refund', arguments: { order: 'A7' } });
console.log(content);
await client.close();
