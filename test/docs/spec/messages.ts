import type {
  CallToolResult,
  CompletedStep,
  ContentBlock,
  SagaMethod,
  SagaStep,
} from '@mcp-saga/client';

/** ID of a JSON-RPC request. */
export type RequestId = string | number;

/** Metadata of MCP, with prefixed keys. */
export interface Meta {
  readonly [key: string]: unknown;
}

interface Request<Method extends SagaMethod, Params> {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: Method;
  readonly params: Params;
}

/** Starts a saga: the parameters of `tools/callSaga`. */
export interface CallSagaParams {
  /** Name of the tool. */
  readonly name: string;
  /** Arguments of the tool. Default: none. */
  readonly arguments?: { readonly [argument: string]: unknown };
  readonly _meta?: Meta;
}

/** Continues a saga: the parameters of `tools/resumeSaga`. */
export interface ResumeSagaParams {
  /** The newest token of the saga, verbatim. */
  readonly sagaToken: string;
  /** Results of the pending steps, and of any earlier steps. */
  readonly completedSteps?: readonly CompletedStep[];
  readonly _meta?: Meta;
}

/** Ends a saga and undoes its steps: the parameters of `tools/cancelSaga`. */
export interface CancelSagaParams {
  /** The newest token of the saga, verbatim. */
  readonly sagaToken: string;
  /** Reason for the result that the client reads. */
  readonly reason?: string;
  readonly _meta?: Meta;
}

export type CallSagaRequest = Request<'tools/callSaga', CallSagaParams>;
export type ResumeSagaRequest = Request<'tools/resumeSaga', ResumeSagaParams>;
export type CancelSagaRequest = Request<'tools/cancelSaga', CancelSagaParams>;

/** Facts about a suspended saga, and about answers that were not used. */
export interface SagaReport {
  /** Expiry of the token, in ISO 8601. Only of a suspended saga. */
  readonly expiresAt?: string;
  /** IDs in `completedSteps` that no step waits for. */
  readonly unknownSteps?: readonly string[];
  /** Steps that were undone. Only of a failed saga. */
  readonly compensated?: readonly UndoneStep[];
  /** Steps that were not undone. Only of a failed saga. */
  readonly uncompensated?: readonly UndoneStep[];
}

/** A step that was undone, or that was not. */
export interface UndoneStep {
  readonly stepId: string;
  /** Description for people. */
  readonly label?: string;
}

/** Metadata of a result. */
export interface ResultMeta {
  readonly 'io.github.mcp-saga/saga'?: SagaReport;
  readonly [key: string]: unknown;
}

/** Result of `tools/callSaga` and `tools/resumeSaga` while the saga waits. */
export interface SuspendedSaga {
  readonly state: 'suspended';
  /** Opaque. Replaces the token of the request. */
  readonly sagaToken: string;
  /** Steps that the client performs. Empty if the saga waits for a time. */
  readonly steps: readonly SagaStep[];
  /** Time to wait before resuming, in milliseconds. Only with empty `steps`. */
  readonly retryAfterMs?: number;
  /** Text for the user in the meantime. */
  readonly content?: readonly ContentBlock[];
  readonly _meta?: ResultMeta;
}

/** Result of a saga that has ended. It has no `state`. */
export interface EndedSaga extends CallToolResult {
  readonly state?: undefined;
  readonly sagaToken?: undefined;
  _meta?: ResultMeta;
}

/** Response to `tools/callSaga` and `tools/resumeSaga`. */
export interface SagaResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: SuspendedSaga | EndedSaga;
}

/** Response to `tools/cancelSaga`. */
export interface CancelSagaResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: EndedSaga;
}

/** Response to a request that the server did not serve. */
export interface SagaErrorResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly error: {
    /**
     * -32602: the request is wrong. -32603: the server cannot serve it now. -32021: the client
     * lacks a capability.
     */
    readonly code: number;
    readonly message: string;
    readonly data?: {
      /** Stable reason. With -32603, the token stays valid. */
      readonly reason?: string;
      /** Step whose repeated answer differs from the recorded one. */
      readonly stepId?: string;
      /** Capabilities that the client would have to declare. */
      readonly requiredCapabilities?: { readonly [name: string]: unknown };
      readonly [key: string]: unknown;
    };
  };
}

/** Value of the extension in `capabilities.extensions` of the server, and in `_meta` of a tool. */
export interface SagaCapability {
  readonly methods: readonly SagaMethod[];
  /**
   * `true` if a repeated `tools/callSaga` with the idempotency key of the first one acts once,
   * whoever calls. Only of a server. Default: the client does not know.
   */
  readonly idempotencyKeys?: true;
}
