import type { McpClient } from '../model/mcp-client.ts';
import { assertKnownOptions, type NamesOf } from '../runtime/known-options.ts';
import { takeTurn, turnNames } from './suspended-saga.ts';
import type { ClientTurn, TurnOptions } from '../model/saga-turn.ts';

/** Which tool to call, and with what. */
export interface SagaCall {
  readonly name: string;
  readonly arguments?: { readonly [argument: string]: unknown } | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
}

const callNames: NamesOf<SagaCall> = { name: true, arguments: true, _meta: true };

/**
 * Starts a saga and stops at its first turn, for hosts that answer its steps by hand: `turn.saga.resume(answers)`
 * takes the next one. `callSaga` does all of it.
 *
 * @throws SagasNotSupported, SagaRequestFailed, SagaProtocolError, SagaCallAborted
 */
export async function startSaga(
  client: McpClient,
  call: SagaCall,
  options: TurnOptions = {},
): Promise<ClientTurn> {
  assertKnownOptions('startSaga', options, turnNames);
  return beginSaga(client, call, options);
}

/** Takes the first turn of a saga, with options that were checked. */
export function beginSaga(client: McpClient, call: SagaCall, options: TurnOptions): Promise<ClientTurn> {
  assertKnownOptions('The call of a saga', call, callNames);
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
