import type { Client } from '@modelcontextprotocol/client';
import type { ElicitationResult } from '@mcp-saga/client';
// #region client
import { callSaga, resumeSaga, SagaClientError } from '@mcp-saga/client';

export async function deployWeb(
  client: Client,
  ask: (message: string) => Promise<ElicitationResult>,
  drawer: Map<string, string>,
) {
  const handlers = { elicitation: ({ message }: { message: string }) => ask(message) };
  const kept = drawer.get('deploy');
  try {
    return kept === undefined
      ? await callSaga(client, { name: 'deploy', arguments: { service: 'web' } }, { handlers })
      : await resumeSaga(client, JSON.parse(kept), { handlers });
  } catch (error) {
    // Whatever went wrong, what the user typed is not lost: go on with it another day, in another process.
    if (error instanceof SagaClientError && error.saga) drawer.set('deploy', JSON.stringify(error.saga));
    throw error;
  }
}
// #endregion client
