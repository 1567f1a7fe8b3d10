import type { Json } from '@mcp-saga/core';
import type { ClientFacts } from '../dialects/dialect.ts';
import { asksOf } from '../host/asks.ts';
import { capabilitiesOf, type McpServerLike, type RequestContextLike } from './sdk.ts';

const protocolVersionKey = 'io.modelcontextprotocol/protocolVersion';

/** What a request tells of its client. */
export function clientFactsOf(server: McpServerLike, context: RequestContextLike): ClientFacts {
  const capabilities: Json | undefined = capabilitiesOf(server, context);
  // Some clients send other parts of it in the older era as well.
  const era = context.mcpReq?.envelope?.[protocolVersionKey] === undefined ? 'legacy' : 'modern';
  const overHttp = context.http?.req !== undefined || context.requestInfo !== undefined;
  return {
    era,
    // Over HTTP without a session each request meets a server that never saw the client's other ones.
    isSession: era === 'legacy' && (!overHttp || context.sessionId !== undefined),
    capabilities,
    asks: asksOf(capabilities),
  };
}
