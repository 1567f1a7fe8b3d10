import type { McpClient } from '../model/mcp-client.ts';
import { takeTurn } from './suspended-saga.ts';
import type { ClientTurn, TurnOptions } from '../model/saga-turn.ts';

/** Which tool to call, and with what. */
export interface SagaCall {
  readonly name: string;
  readonly arguments?: { readonly [argument: string]: unknown } | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
}

/**
 * Starts a saga and stops at its first turn, for hosts that answer its steps by hand: `turn.saga.resume(answers)`
 * takes the next one. `callSaga` does all of it.
 *
 * @throws SagasNotSupported, SagaRequestFailed, SagaProtocolError, SagaCallAborted
 */
export function startSaga(client: McpClient, call: SagaCall, options: TurnOptions = {}): Promise<ClientTurn> {
  const params = {
    name: call.name,
    ...(call.arguments === undefined ? {} : { arguments: call.arguments }),
    ...(call['_meta'] === undefined ? {} : { _meta: call['_meta'] }),
  };
  return takeTurn(
    client,
    { method: 'tools/callSaga', params },
    { name: call.name, completedSteps: [] },
    options,
  );
}
