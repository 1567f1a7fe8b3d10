import { rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { McpClient } from '../model/mcp-client-types.ts';
import { takeTurn, turnNames } from './suspended-saga.ts';
import type { ClientTurn, TurnOptions } from '../model/client-turn-types.ts';

/** Tool to call, with arguments. */
export interface SagaCall {
  readonly name: string;
  readonly arguments?: { readonly [argument: string]: unknown } | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
}

const callNames: NamesOf<SagaCall> = { name: true, arguments: true, _meta: true };

/**
 * Starts a saga, and returns the first turn, for hosts that answer steps themselves with
 * `turn.saga.resume(answers)`.
 * @throws SagasNotSupported, SagaRequestFailed, SagaProtocolError, SagaCallAborted
 * @example
 * ```ts
 * const turn = await startSaga(client, { name: 'deploy' });
 * if (turn.status === 'suspended') {
 *   await turn.saga.resume([{ stepId: 'confirm', result: { action: 'accept', content: { sure: true } } }]);
 * }
 * ```
 */
export async function startSaga(
  client: McpClient,
  call: SagaCall,
  options: TurnOptions = {},
): Promise<ClientTurn> {
  rejectUnknownOption('startSaga', options, turnNames);
  return beginSaga(client, call, options);
}

/** Takes the first turn of a saga, with checked options. */
export function beginSaga(
  client: McpClient,
  call: SagaCall,
  options: TurnOptions,
): Promise<ClientTurn> {
  rejectUnknownOption('A saga call', call, callNames);
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
