import type { ProgramState } from '@mcp-saga/core/program';
import type { Claims } from '@mcp-saga/seal';

/** What a token holds beside its claims. */
export interface SagaState {
  readonly program: ProgramState;
  /** The saga's secret, of which idempotency keys and random numbers are derived. (T8) */
  readonly secret: Uint8Array;
  /** How often the saga has started over (`continueAs`). */
  readonly generation: number;
  /** Number of turns that the host took by itself after those of requests. Absent: none. */
  readonly ownTurns?: number;
  /** Bytes of responses that a guard keeps of the saga, without the newest token. Absent: no guard was asked. */
  readonly keptBytes?: number;
  /** What its trace hangs on, as telemetry gave it: carried on by hosts without telemetry, too. */
  readonly trace?: string;
  /** `true` if `requests/resume` takes this token. Absent: no. */
  readonly isResumable?: boolean;
  /** Digest of the ID of the request that is resumed. Absent: any, as in tokens of older releases. */
  readonly requestId?: string | undefined;
}

/** A saga in motion, between open and seal. */
export interface SealedSaga {
  /** 16 random bytes, base64url. */
  readonly sagaId: string;
  readonly claims: Claims;
  readonly state: SagaState;
}
