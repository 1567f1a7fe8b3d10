// #region client
import { callSaga, type CallToolResult } from '@mcp-saga/client';
import type { Client } from '@modelcontextprotocol/client';

export async function eraseAll(client: Client): Promise<CallToolResult> {
  const elicitation = () => ({ action: 'accept', content: { sure: true } }) as const;
  return await callSaga(client, { name: 'erase', arguments: {} }, { handlers: { elicitation } });
}
// #endregion client
