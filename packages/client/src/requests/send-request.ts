import { neverAborts, withOwnSignal } from '../runtime/abort.ts';
import { mayOffer } from './server-capability.ts';
import {
  SagaCallAborted,
  type SagaClientError,
  SagaGone,
  SagaProtocolError,
  SagaRequestFailed,
  SagasNotSupported,
} from '../model/errors.ts';
import type { McpClient, RequestOptions } from '../model/mcp-client.ts';
import { isRecord } from '../runtime/json.ts';
import type { SuspendedSaga } from '../model/saga-turn.ts';
import type { SagaMethod } from '../model/wire.ts';

/** One request of the extension. */
export interface SagaRequest {
  readonly method: SagaMethod;
  readonly params: { readonly [key: string]: unknown };
}

/** How to send it. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly requestOptions?: RequestOptions | undefined;
  /** What the errors carry. */
  readonly saga?: SuspendedSaga | undefined;
}

/** Sends a request and gives the raw result; every failure is an error of this package. */
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

function toSagaError(request: SagaRequest, cause: unknown, saga: SuspendedSaga | undefined): SagaClientError {
  const { method } = request;
  const error = isRecord(cause) ? cause : {};
  const { code } = error;
  if (isMethodNotFound(error)) return new SagasNotSupported(method, { cause, saga });
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE') {
    return new SagaProtocolError('resultType', 'is not what the protocol version demands', { cause, saga });
  }
  const reason = isRecord(error['data']) ? error['data']['reason'] : undefined;
  if (reason === 'invalid_saga_token') return new SagaGone({ cause });
  // HTTP errors of SDK v1 have their status in `code`; every code of JSON-RPC that MCP uses is negative.
  const rpcCode = typeof code === 'number' && Number.isInteger(code) && code < 0 ? code : undefined;
  if (rpcCode !== undefined) {
    return new SagaRequestFailed(method, `${publicMessage(error, request)} (${rpcCode})`, rpcCode, {
      cause,
      saga,
      reason: typeof reason === 'string' ? reason : undefined,
    });
  }
  // The message of an HTTP error quotes the whole body of the response, so it stays with the cause.
  const problem =
    typeof code === 'string' || typeof code === 'number' ? String(code) : publicMessage(error, request);
  return new SagaRequestFailed(method, problem, undefined, { cause, saga });
}

/** The message without the prefix that SDK v1 adds, and without the token should a server quote it. */
function publicMessage(error: Readonly<Record<string, unknown>>, { params }: SagaRequest): string {
  if (typeof error['message'] !== 'string') return 'see the cause';
  const message = error['message'].replace(/^MCP error -?\d+: /, '');
  const token = params['sagaToken'];
  return typeof token === 'string' ? message.replaceAll(token, '<token>') : message;
}

const METHOD_NOT_FOUND = -32601;

function isMethodNotFound(error: Readonly<Record<string, unknown>>): boolean {
  if (error['code'] === METHOD_NOT_FOUND) return true;
  // Over HTTP a server of 2026-07-28 answers 404, which SDK v2 hands on as the text of a failed POST.
  const { data } = error;
  if (!isRecord(data) || data['status'] !== 404 || typeof data['text'] !== 'string') return false;
  try {
    const body: unknown = JSON.parse(data['text']);
    return isRecord(body) && isRecord(body['error']) && body['error']['code'] === METHOD_NOT_FOUND;
  } catch {
    return false;
  }
}

/** Result schema that accepts everything, for either SDK: this package validates results, with the field in its errors. */
const anyResult = {
  '~standard': { version: 1, vendor: 'mcp-saga', validate: (value: unknown) => ({ value }) },
  safeParse: (data: unknown) => ({ success: true, data }),
};
