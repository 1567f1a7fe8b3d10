import { rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import { SagaCallAborted, SagaRequestFailed } from '../model/errors.ts';
import type { McpClient } from '../model/mcp-client-types.ts';
import { offerOf } from '../requests/send-request.ts';
import { neverAborts } from '../runtime/abort.ts';
import { systemClock } from '../runtime/clock.ts';
import { takeTurn, turnNames } from './suspended-saga.ts';
import type { ClientTurn, TurnOptions } from '../model/client-turn-types.ts';

/** Tool to call, with arguments. */
export interface SagaCall {
  readonly name: string;
  readonly arguments?: { readonly [argument: string]: unknown } | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
  /**
   * Name of this call, in 1 to 256 characters. A server with a store returns the saga that the first
   * call with this key began, and acts no more. If the server announces this for every caller, a
   * call whose connection breaks is sent again, three times at most. Default: a random key, which no
   * other call has.
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

/**
 * Takes the first turn of a saga, with checked options. A call whose response was lost is sent again
 * if the server says that it acts once.
 */
export async function beginSaga(
  client: McpClient,
  call: SagaCall,
  options: TurnOptions,
): Promise<ClientTurn> {
  rejectUnknownOption('A saga call', call, callNames);
  const { idempotencyKey: key = randomKey(), _meta: meta } = call;
  const params = {
    name: call.name,
    ...(call.arguments === undefined ? {} : { arguments: call.arguments }),
    _meta: { ...meta, [idempotencyKeyField]: meta?.[idempotencyKeyField] ?? key },
  };
  const request = { method: 'tools/callSaga', params } as const;
  const before = { name: call.name, completedSteps: [] };
  const { clock = systemClock, signal = neverAborts() } = options;
  for (const waitMs of isJson(params) ? waitsMs : []) {
    try {
      return await takeTurn(client, request, before, options);
    } catch (error) {
      if (!(isLost(error) && offerOf(client)?.['idempotencyKeys'] === true)) throw error;
    }
    try {
      await clock.sleep(waitMs, signal);
    } catch (cause) {
      throw new SagaCallAborted({ cause });
    }
  }
  return await takeTurn(client, request, before, options);
}

/** Waits before a call is sent again, in milliseconds. A server that restarts takes seconds. */
const waitsMs = [500, 2_000, 8_000];

/**
 * `true` if nobody knows whether a request reached the server: its connection broke, or a proxy
 * answered. A request that took too long was cancelled, and is not sent again.
 */
function isLost(error: unknown): boolean {
  if (!(error instanceof SagaRequestFailed)) return false;
  const { httpStatus, cause } = error;
  // A `fetch` whose connection breaks throws a TypeError.
  return httpStatus === undefined
    ? cause instanceof TypeError
    : [502, 503, 504].includes(httpStatus);
}

/** `false` for a value whose serialization throws a TypeError of its own, such as a bigint. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** A key of 128 random bits. Pages without TLS have no `randomUUID`. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
