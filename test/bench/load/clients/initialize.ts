import { info } from '../tool.ts';
import { post, textOf } from './post.ts';

const version = '2025-11-25';

/**
 * Makes the handshake of MCP 2025-11-25, and returns the headers of all later requests. A server
 * without sessions assigns none.
 */
export async function initialize(url: string): Promise<{ readonly [name: string]: string }> {
  const message = {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: version, capabilities: { elicitation: {} }, clientInfo: info },
  };
  const initialized = await post(url, message, { headers: {} });
  await textOf(initialized);
  const session = initialized.headers['mcp-session-id'];
  const headers = {
    'mcp-protocol-version': version,
    ...(session === undefined ? {} : { 'mcp-session-id': String(session) }),
  };
  await textOf(await post(url, { method: 'notifications/initialized' }, { headers }));
  return headers;
}
