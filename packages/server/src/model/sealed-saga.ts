import type { ProgramState } from '@mcp-saga/core/program';
import type { Claims } from '@mcp-saga/seal';

/** State in a token, beside its claims. */
export interface SagaState {
  readonly program: ProgramState;
  /** Secret of the saga, from which idempotency keys and random numbers are derived. */
  readonly secret: Uint8Array;
  /** Number of `continueAs` so far. */
  readonly generation: number;
  /** Number of turns without a request of the client. Absent: none. */
  readonly ownTurns?: number;
  /** Estimated bytes of stored responses, without the newest token. Absent: no guard. */
  readonly keptBytes?: number;
  /** `true` once the saga has shown a page: each of its tokens returns its own response. */
  readonly hasPages?: true | undefined;
  /** `true` if the start of the saga has a name, by which it may be repeated. */
  readonly isNamed?: true | undefined;
  /** `true` while the saga undoes its steps, which no limit of stored bytes refuses. */
  readonly undoes?: true | undefined;
  /** Trace parent of telemetry, carried by hosts without telemetry too. */
  readonly trace?: string;
  /**
   * Digest of the ID of the resumable request. Absent: `requests/resume` does not accept the token.
   */
  readonly requestId?: string | undefined;
}

/** Content of an opened token. */
export interface SealedSaga {
  /** Length of the token. 0 before the first token. */
  readonly tokenBytes: number;
  /** ID of the saga: 16 random bytes in base64url. */
  readonly sagaId: string;
  readonly claims: Claims;
  readonly state: SagaState;
  /**
   * Objects that stand for the compressed streams in the committed turns of a run. Absent: another
   * turn.
   */
  readonly grown?: { readonly structure: object; readonly client: object } | undefined;
}
