import type { CallToolResult } from '../model/content.ts';
import { SagaProtocolError } from '../model/errors.ts';
import type { McpClient } from '../model/mcp-client.ts';
import { parseResult } from '../requests/parse-answer.ts';
import { sendRequest } from '../requests/send-request.ts';
import { assertKnownOptions, type NamesOf } from '../runtime/known-options.ts';
import { SuspendedSaga } from './suspended-saga.ts';
import type { KeptSaga, TurnOptions } from '../model/saga-turn.ts';

/** How to cancel. */
export interface CancelOptions extends Omit<TurnOptions, 'clock'> {
  /** Told to the server. */
  readonly reason?: string | undefined;
}

const names: NamesOf<CancelOptions> = { reason: true, signal: true, requestOptions: true };

/**
 * Gives a suspended saga up: the server undoes what it has done and says so. Servers offer this only where going back
 * is safe, so it may be refused; cancelling anything but the newest turn does nothing.
 *
 * @throws SagasNotSupported when the server does not offer it; SagaRequestFailed when it refuses; KeptSagaInvalid
 */
export async function cancelSaga(
  client: McpClient,
  saga: SuspendedSaga | KeptSaga,
  options: CancelOptions = {},
): Promise<CallToolResult> {
  assertKnownOptions('cancelSaga', options, names);
  const { reason, signal, requestOptions } = options;
  const suspended = SuspendedSaga.from(client, saga);
  const { sagaToken } = suspended.toJSON();
  const params = { sagaToken, ...(reason === undefined ? {} : { reason }) };
  const request = { method: 'tools/cancelSaga', params } as const;
  const result = await sendRequest(client, request, { signal, requestOptions, saga: suspended });
  return parseResult(result, (field, problem) => new SagaProtocolError(field, problem, { saga: suspended }));
}
