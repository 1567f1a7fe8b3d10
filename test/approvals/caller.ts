import { callSaga, startSaga, type CallToolResult } from '@mcp-saga/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Arguments of a refund. */
export interface RefundCall {
  readonly order: string;
  readonly managers: readonly string[];
  readonly approvals: number;
  readonly isUrgent?: boolean;
}

/** Tools that refund: a generator, and a machine. */
export type RefundTool = 'refund' | 'refund-by-machine';

/** The user of an MCP client. */
export interface Caller {
  /** Calls the saga, and follows it to the end. Resolves with the text of the result. */
  refund(call: RefundCall): Promise<string>;
  /** Starts the saga, and closes the client for good. */
  startAndLeave(tool: RefundTool, call: RefundCall): Promise<void>;
  close(): Promise<void>;
}

/** Connects a client with the access token of a user. */
export async function connectCaller(user: string, origin: string): Promise<Caller> {
  const client = new Client(
    { name: 'approvals', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  const requestInit = { headers: { authorization: `Bearer ${user}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit }));
  const toCall = (name: RefundTool, call: RefundCall) => ({ name, arguments: { ...call } });
  return {
    refund: async (call) =>
      textOf(await callSaga(client, toCall('refund', call), { handlers: {} })),
    startAndLeave: async (tool, call) => {
      await startSaga(client, toCall(tool, call));
      await client.close();
    },
    close: () => client.close(),
  };
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => ('text' in block ? block.text : '')).join('');
}
