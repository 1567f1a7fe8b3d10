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
  try {
    const result =
      kept === undefined
        ? await callSaga(client, { name: 'deploy', arguments: { service: 'web' } }, { handlers })
        : await resumeSaga(client, JSON.parse(kept), { handlers });
    drawer.delete('deploy');
    return result;
  } catch (error) {
    // The network failed, the user closed the dialog: what was answered so far is not lost. Where the saga is over,
    // error.saga is undefined, and there is nothing to keep.
    const saga = error instanceof SagaClientError ? error.saga : undefined;
    if (saga === undefined) drawer.delete('deploy');
    else drawer.set('deploy', JSON.stringify(saga));
    throw error;
  }
}
// #endregion client
