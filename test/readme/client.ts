// #region client
import type { Client } from '@modelcontextprotocol/client';
import {
  callSaga,
  resumeSaga,
  SagaClientError,
  type CallToolResult,
  type StepHandlers,
} from '@mcp-saga/client';

/** Deploys, or goes on with a deployment that was interrupted. `drawer` outlives this process. */
export async function deployWeb(
  client: Client,
  handlers: StepHandlers,
  drawer: Map<string, string>,
): Promise<CallToolResult> {
  const kept = drawer.get('deploy');
  drawer.delete('deploy');
  try {
    if (kept !== undefined) return await resumeSaga(client, JSON.parse(kept), { handlers });
    return await callSaga(client, { name: 'deploy', arguments: { service: 'web' } }, { handlers });
  } catch (error) {
    // The network failed, the user closed the dialog: what was answered so far is not lost. Where the saga is over,
    // there is nothing to keep, and error.saga is undefined.
    if (error instanceof SagaClientError && error.saga) drawer.set('deploy', JSON.stringify(error.saga));
    throw error;
  }
}
// #endregion client
