import { rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { CallToolResult } from '../model/tool-result.ts';
import { SagaProtocolError } from '../model/errors.ts';
import type { McpClient } from '../model/mcp-client-types.ts';
import { parseResult } from '../requests/parse-answer.ts';
import { sendRequest } from '../requests/send-request.ts';
import { SuspendedSaga } from './suspended-saga.ts';
import type { KeptSaga, TurnOptions } from '../model/client-turn-types.ts';

/** Options of {@link cancelSaga}. */
export interface CancelOptions extends Omit<TurnOptions, 'clock'> {
  /** Reason for the server. */
  readonly reason?: string | undefined;
}

const names: NamesOf<CancelOptions> = { reason: true, signal: true, requestOptions: true };

/**
 * Cancels a suspended saga. The server undoes the saga, and reports the outcome. Cancelling an
 * older turn has no effect.
 * @throws SagasNotSupported if the server does not offer cancellation
 * @throws SagaRequestFailed if the server rejects the cancellation, since an undo may be unsafe
 * @throws KeptSagaInvalid if the value is not a stored saga
 * @example
 * ```ts
 * declare const saga: SuspendedSaga;
 *
 * const { content } = await cancelSaga(client, saga, { reason: 'Wrong service' });
 * ```
 */
export async function cancelSaga(
  client: McpClient,
  saga: SuspendedSaga | KeptSaga,
  options: CancelOptions = {},
): Promise<CallToolResult> {
  rejectUnknownOption('cancelSaga', options, names);
  const { reason, signal, requestOptions } = options;
  const suspended = SuspendedSaga.from(client, saga);
  const { sagaToken } = suspended.toJSON();
  const params = { sagaToken, ...(reason === undefined ? {} : { reason }) };
  const request = { method: 'tools/cancelSaga', params } as const;
  const result = await sendRequest(client, request, { signal, requestOptions, saga: suspended });
  return parseResult(
    result,
    (field, problem) => new SagaProtocolError(field, problem, { saga: suspended }),
  );
}
