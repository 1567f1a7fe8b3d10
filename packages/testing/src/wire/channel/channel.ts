import { SagaTestError } from '../../values/errors.ts';

/** What goes over a wire, in either direction. */
export interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A JSON object. */
export interface Fields {
  readonly [name: string]: unknown;
}

/** What a client does with what comes before the answer to its request. */
export interface Listener {
  /** JSON-RPC ID of the request. Default: a new one. */
  readonly id?: string | number | undefined;
  readonly onNotification?: (method: string, params: Fields) => void;
  /** Answers a request of the server. */
  readonly onRequest?: (method: string, params: Fields) => Promise<Fields>;
}

/** How a client reaches a server. */
export interface Channel {
  /**
   * Sends a request, and gives its result.
   *
   * @throws WireError what the server answers instead of a result
   * @throws WireCut where the connection is cut before the answer is there
   */
  send(method: string, params: Fields, listener?: Listener): Promise<Fields>;
  close(): Promise<void>;
}

/** A server answered with a JSON-RPC error. */
export class WireError extends SagaTestError {
  declare readonly code: 'wire_error';
  /** Code of JSON-RPC, such as -32602. */
  readonly rpcCode: number;
  readonly data: unknown;

  constructor({ code, message, data }: NonNullable<WireMessage['error']>) {
    super('wire_error', message);
    this.name = 'WireError';
    this.rpcCode = code;
    this.data = data;
  }
}

/** The connection was cut: what became of the request, the client does not know. */
export class WireCut extends SagaTestError {
  declare readonly code: 'wire_cut';

  constructor() {
    super('wire_cut', 'The connection was cut, as the test says.');
    this.name = 'WireCut';
  }
}

/** The result in an answer. */
export function resultOf({ result, error }: WireMessage): Fields {
  if (error !== undefined) throw new WireError(error);
  return result ?? {};
}

/** Who sends a request, as the transport's authentication finds it. */
export interface AuthInfo {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly extra?: Record<string, unknown>;
}
