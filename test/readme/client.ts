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
  signal: AbortSignal, // leaves the saga waiting; a handler that throws or refuses is an answer
): Promise<CallToolResult> {
  const kept = drawer.get('deploy');
  const options = { handlers, signal };
  try {
    const result =
      kept === undefined
        ? await callSaga(client, { name: 'deploy', arguments: { service: 'web' } }, options)
        : await resumeSaga(client, JSON.parse(kept), options);
    drawer.delete('deploy');
    return result;
  } catch (error) {
    // The network failed, or the signal was aborted: what was answered so far is not lost. Where the saga is over,
    // error.saga is undefined, and there is nothing to keep.
    const saga = error instanceof SagaClientError ? error.saga : undefined;
    if (saga === undefined) drawer.delete('deploy');
    else drawer.set('deploy', JSON.stringify(saga));
    throw error;
  }
}
// #endregion client
