import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/**
 * Connects a client to a server process. By default, the client declares elicitation and sampling.
 */
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
