// #region client
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client(
  { name: 'me', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('elicitation/create', ({ params }) => {
  console.log(params.message);
  return { action: 'accept', content: { sure: true } };
});
const url = new URL(process.argv[2] ?? 'http://127.0.0.1:3000/mcp');
await client.connect(new StreamableHTTPClientTransport(url));
const { content } = await client.callTool({ name: 'note', arguments: { text: 'Buy milk' } });
console.log(content);
await client.close();
// #endregion client
