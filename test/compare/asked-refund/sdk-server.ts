import {
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
  type CallToolResult,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Fetch } from '../../interop/support/http-server.ts';
import type { Order } from '../contender.ts';
import { input, key } from './contender.ts';

/** Signs a state for the user who started the call. */
export function codecFor<State>(): RequestStateCodec<State> {
  // #region codec
  const codec = createRequestStateCodec<State>({
    key, // the same in each process
    ttlSeconds: 7 * 24 * 3600,
    bind: ({ http }) => http?.authInfo?.clientId ?? '',
  });
  // #endregion codec
  return codec;
}

/** Asks whether to refund. */
export const ask = ({ order, euros }: Order, requestState: string): InputRequiredResult =>
  inputRequired({
    inputRequests: {
      sure: inputRequired.elicit({
        message: `Refund ${euros} EUR for ${order}?`,
        requestedSchema: { type: 'object', properties: {} },
      }),
    },
    requestState,
  });

/** `true` if the user accepted. */
export function isAccepted({ mcpReq }: ServerContext): boolean {
  const answer = inputResponse(mcpReq.inputResponses, 'sure');
  return answer.kind === 'elicit' && answer.action === 'accept';
}

/** A result with a text. */
export const say = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** Serves the tool with the official SDK. The header `authorization` names the user. */
export function serveTool<State>(
  codec: RequestStateCodec<State>,
  refund: (order: Order, ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>,
): Fetch {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'shop', version: '1' }, { requestState: codec });
    const tool = { description: 'Refunds an order', inputSchema: input };
    server.registerTool('refund', tool, refund);
    return server;
  });
  return (request) => {
    const clientId = request.headers.get('authorization') ?? '';
    return handler.fetch(request, { authInfo: { token: clientId, clientId, scopes: [] } });
  };
}
