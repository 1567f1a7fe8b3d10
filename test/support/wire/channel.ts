/** A JSON-RPC message. */
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

/** Handles messages that arrive before the answer to a request. */
export interface Listener {
  /** JSON-RPC ID of the request. Default: a new one. */
  readonly id?: string | number | undefined;
  readonly onNotification?: (method: string, params: Fields) => void;
  /** Answers a request of the server. */
  readonly onRequest?: (method: string, params: Fields) => Promise<Fields>;
}

/** A connection to a server. */
export interface Channel {
  /**
   * Sends a request, and returns its result.
   *
   * @throws WireError the error of the server
   * @throws WireCut if the connection is cut before the answer
   */
  send(method: string, params: Fields, listener?: Listener): Promise<Fields>;
  close(): Promise<void>;
}

/** JSON-RPC error of a server. */
export class WireError extends Error {
  override readonly name = 'WireError';
  /** Code of JSON-RPC, such as -32602. */
  readonly rpcCode: number;
  readonly data: unknown;

  constructor({ code, message, data }: NonNullable<WireMessage['error']>) {
    super(message);
    this.rpcCode = code;
    this.data = data;
  }
}

/** Returns the result of a response, or throws its error. */
export function resultOf({ result, error }: WireMessage): Fields {
  if (error !== undefined) throw new WireError(error);
  return result ?? {};
}
