import { rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { McpClient } from '../model/mcp-client-types.ts';
import { takeTurn, turnNames } from './suspended-saga.ts';
import type { ClientTurn, TurnOptions } from '../model/client-turn-types.ts';

/** Tool to call, with arguments. */
export interface SagaCall {
  readonly name: string;
  readonly arguments?: { readonly [argument: string]: unknown } | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
  /**
   * Name of this call, in 1 to 256 characters. If the response is lost, call again with the same
   * key: a server with a store returns the saga that the first call began, and acts no more.
   * Default: a random key, which no other call has.
   */
  readonly idempotencyKey?: string | undefined;
}

const callNames: NamesOf<SagaCall> = {
  name: true,
  arguments: true,
  _meta: true,
  idempotencyKey: true,
};

/** Field of `_meta` that names a call. */
const idempotencyKeyField = 'io.github.mcp-saga/idempotencyKey';

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
    _meta: { [idempotencyKeyField]: call.idempotencyKey ?? randomKey(), ...call['_meta'] },
  };
  return takeTurn(
    client,
    { method: 'tools/callSaga', params },
    { name: call.name, completedSteps: [] },
    options,
  );
}

/** A key of 128 random bits. Pages without TLS have no `randomUUID`. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
