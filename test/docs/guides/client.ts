import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  callSaga,
  KeptSagaInvalid,
  resumeSaga,
  SagaClientError,
  SagaGone,
  type CallToolResult,
  type StepHandlers,
} from '@mcp-saga/client';

// #region call
export async function order(client: Client, handlers: StepHandlers): Promise<CallToolResult> {
  return await callSaga(client, { name: 'order', arguments: {} }, { handlers });
}
// #endregion call

// #region keyed
export async function orderOnce(
  client: Client,
  handlers: StepHandlers,
  idempotencyKey: string, // 'order-7', or a UUID if the client is anonymous
): Promise<CallToolResult> {
  return await callSaga(client, { name: 'order', arguments: {}, idempotencyKey }, { handlers });
}
// #endregion keyed

// #region handlers
/** Answers for a user in a terminal. `ask` prints a question and returns the typed text. */
export const terminal = (ask: (question: string) => Promise<string>): StepHandlers => ({
  elicitation: async (params) => {
    if (params.mode === 'url') {
      const reply = await ask(`${params.message} Do you open ${params.url}? (yes or no)`);
      return { action: reply === 'yes' ? 'accept' : 'decline' };
    }
    const size = await ask(params.message);
    return size === '' ? { action: 'decline' } : { action: 'accept', content: { size } };
  },
});
// #endregion handlers

// #region store
/** Calls the tool, or continues a call that was interrupted. `drawer` outlives this process. */
export async function orderSafely(
  client: Client,
  handlers: StepHandlers,
  drawer: Map<string, string>,
): Promise<CallToolResult> {
  const kept = drawer.get('order');
  try {
    const result =
      kept === undefined
        ? await callSaga(client, { name: 'order', arguments: {} }, { handlers })
        : await resumeSaga(client, JSON.parse(kept), { handlers });
    drawer.delete('order');
    return result;
  } catch (error) {
    const saga = error instanceof SagaClientError ? error.saga : undefined;
    if (saga !== undefined) drawer.set('order', JSON.stringify(saga)); // with the answers so far
    else if (error instanceof SagaGone || error instanceof KeptSagaInvalid) drawer.delete('order');
    throw error;
  }
}
// #endregion store

// #region bearer
/** Connects as the user of an access token. */
export async function connectAs(token: string, url: URL): Promise<Client> {
  const client = new Client(
    { name: 'desk', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
  );
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}
// #endregion bearer
