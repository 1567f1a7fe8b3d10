import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A client that answers questions, connected to one server process. */
export async function connect(url: URL): Promise<Client> {
  const client = new Client(
    { name: 'quickstart', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} }, sampling: {} }, versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
}
