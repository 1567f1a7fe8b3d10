// #region client
import type { Client } from '@modelcontextprotocol/client';
import {
  callSaga,
  resumeSaga,
  SagaClientError,
  type CallToolResult,
  type StepHandlers,
} from '@mcp-saga/client';

/** Deploys, or resumes an interrupted deployment. `drawer` outlives this process. */
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
    // The network failed, or the signal was aborted: error.saga contains the answers so far. If the
    // saga has ended, error.saga is undefined.
    const saga = error instanceof SagaClientError ? error.saga : undefined;
    if (saga === undefined) drawer.delete('deploy');
    else drawer.set('deploy', JSON.stringify(saga));
    throw error;
  }
}
// #endregion client
