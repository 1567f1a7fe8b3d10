import type { SeenClient } from '../studio/seen-turns.ts';
import type { Say } from './turn-log.ts';

const prefix = 'io.modelcontextprotocol/';
const maxClients = 100;

type Facts = Readonly<Record<string, unknown>>;

/**
 * Lists each client with its capabilities, from requests, or `initialize` before MCP 2026-07-28.
 * Returns the name of a request's client.
 */
export function seenClients(
  say: Say,
  clients: Map<string, SeenClient>,
): (request: Request) => Promise<string | undefined> {
  return async (request) => {
    const message: unknown = await request.json().catch(() => undefined);
    const { method, params = {} } = Object(message) as {
      readonly method?: string;
      readonly params?: Facts;
    };
    const meta = Object(params['_meta']) as Facts;
    const isInitial = method === 'initialize';
    const client = isInitial ? params['clientInfo'] : meta[`${prefix}clientInfo`];
    const capabilities = isInitial ? params['capabilities'] : meta[`${prefix}clientCapabilities`];
    const mcp = String(isInitial ? params['protocolVersion'] : meta[`${prefix}protocolVersion`]);
    if (client === undefined) return undefined;
    const { name: title, version } = Object(client) as Readonly<Record<string, string>>;
    const name = `${title} ${version}`;
    const supports = namesIn(capabilities);
    const text = `client ${name}, MCP ${mcp}: ${supports.join(', ') || 'no capabilities'}`;
    if (!clients.has(text) && clients.size < maxClients) {
      say({ type: 'client', client, mcp, capabilities }, text);
      clients.set(text, { name, mcp, supports });
    }
    return name;
  };
}

/** Lists capabilities: `elicitation.form`, `sampling`. */
function namesIn(capabilities: unknown): readonly string[] {
  return Object.entries(Object(capabilities) as Record<string, unknown>).flatMap(
    ([name, value]) => {
      const parts = Object.keys(Object(value) as object);
      return parts.length === 0 ? [name] : parts.map((part) => `${name}.${part}`);
    },
  );
}
