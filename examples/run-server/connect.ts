import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A client connected to one server process. It declares that it answers questions, or what it is given to declare. */
export async function connect(
  url: URL,
  capabilities: object = { elicitation: { form: {} }, sampling: {} },
): Promise<Client> {
  const client = new Client(
    { name: 'quickstart', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
}
