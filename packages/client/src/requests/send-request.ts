import { neverAborts, withOwnSignal } from '../runtime/abort.ts';
import {
  SagaCallAborted,
  type SagaClientError,
  SagaGone,
  SagaProtocolError,
  SagaRequestFailed,
  SagasNotSupported,
} from '../model/errors.ts';
import type { McpClient, RequestOptions } from '../model/mcp-client-types.ts';
import { isRecord } from '../runtime/json.ts';
import type { SuspendedSaga } from '../model/client-turn-types.ts';
import { SAGA_EXTENSION, type SagaMethod } from '../model/wire-types.ts';

/** Request of the extension. */
export interface SagaRequest {
  readonly method: SagaMethod;
  readonly params: { readonly [key: string]: unknown };
}

/** Options of a request. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly requestOptions?: RequestOptions | undefined;
  /** Saga of the errors. */
  readonly saga?: SuspendedSaga | undefined;
}

/** Sends a request, and returns the raw result. Every failure is an error of this package. */
export async function sendRequest(
  client: McpClient,
  request: SagaRequest,
  options: SendOptions,
): Promise<unknown> {
  const { signal = neverAborts(), saga } = options;
  const { method, params } = request;
  if (signal.aborted) throw new SagaCallAborted({ cause: signal.reason, saga });
  if (!mayOffer(client, method)) throw new SagasNotSupported(method, { saga });
  try {
    return await withOwnSignal(signal, (own) =>
      client.request({ method, params }, anyResult, { ...options.requestOptions, signal: own }),
    );
  } catch (cause) {
    if (signal.aborted) throw new SagaCallAborted({ cause: signal.reason, saga });
    throw toSagaError(request, cause, saga);
  }
}

/**
 * Returns `false` if the server declares extensions without this method. Without any extension (SDK
 * v1 before 1.29 strips extensions), the server itself rejects the request.
 */
function mayOffer(client: McpClient, method: SagaMethod): boolean {
  const capabilities = client.getServerCapabilities();
  if (!isRecord(capabilities) || !isRecord(capabilities['extensions'])) return true;
  const offer = offerOf(client);
  if (offer === undefined) return false;
  return !Array.isArray(offer['methods']) || offer['methods'].includes(method);
}

/** Returns what the server offers of the extension. */
export function offerOf(client: McpClient): Readonly<Record<string, unknown>> | undefined {
  const capabilities = client.getServerCapabilities();
  const extensions = isRecord(capabilities) ? capabilities['extensions'] : undefined;
  const offer = isRecord(extensions) ? extensions[SAGA_EXTENSION] : undefined;
  return isRecord(offer) ? offer : undefined;
}

function toSagaError(
  request: SagaRequest,
  cause: unknown,
  saga: SuspendedSaga | undefined,
): SagaClientError {
  const { method } = request;
  const error = isRecord(cause) ? cause : {};
  const { code } = error;
  if (isMethodNotFound(error)) return new SagasNotSupported(method, { cause, saga });
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE') {
    return new SagaProtocolError('resultType', 'does not fit the protocol version', {
      cause,
      saga,
    });
  }
  const reason = isRecord(error['data']) ? error['data']['reason'] : undefined;
  if (reason === 'invalid_saga_token') return new SagaGone({ cause });
  // All JSON-RPC codes of MCP are negative.
  const rpcCode = typeof code === 'number' && Number.isInteger(code) && code < 0 ? code : undefined;
  if (rpcCode !== undefined) {
    return new SagaRequestFailed(method, `${publicMessage(error, request)} (${rpcCode})`, rpcCode, {
      cause,
      saga,
      reason: typeof reason === 'string' ? reason : undefined,
    });
  }
  // HTTP errors have the status as `code` in SDK v1, and in `data` in SDK v2.
  const status = isRecord(error['data']) ? error['data']['status'] : code;
  const httpStatus = typeof status === 'number' ? status : undefined;
  // The message of an HTTP error quotes the body of the response, so only the cause contains the
  // message.
  const problem = httpStatus === undefined ? code : `HTTP ${httpStatus}`;
  const text = typeof problem === 'string' ? problem : publicMessage(error, request);
  return new SagaRequestFailed(method, text, undefined, { cause, saga, httpStatus });
}

/** Returns the message without the prefix of SDK v1, and without a quoted token. */
function publicMessage(error: Readonly<Record<string, unknown>>, { params }: SagaRequest): string {
  if (typeof error['message'] !== 'string') return 'see the cause';
  const message = error['message'].replace(/^MCP error -?\d+: /, '');
  const token = params['sagaToken'];
  return typeof token === 'string' ? message.replaceAll(token, '<token>') : message;
}

const METHOD_NOT_FOUND = -32601;

function isMethodNotFound(error: Readonly<Record<string, unknown>>): boolean {
  if (error['code'] === METHOD_NOT_FOUND) return true;
  // Over HTTP, a server of 2026-07-28 answers 404, which SDK v2 reports as the text of a failed
  // POST.
  const { data } = error;
  if (!isRecord(data) || data['status'] !== 404 || typeof data['text'] !== 'string') return false;
  try {
    const body: unknown = JSON.parse(data['text']);
    return isRecord(body) && isRecord(body['error']) && body['error']['code'] === METHOD_NOT_FOUND;
  } catch {
    return false;
  }
}

/**
 * Result schema for either SDK that accepts everything. This package validates results itself, with
 * the field in errors.
 */
const anyResult = {
  '~standard': { version: 1, vendor: 'mcp-saga', validate: (value: unknown) => ({ value }) },
  safeParse: (data: unknown) => ({ success: true, data }),
};
