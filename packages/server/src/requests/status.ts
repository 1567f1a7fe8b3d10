import { TokenRefused } from '@mcp-saga/seal';
import type { Program } from '@mcp-saga/core';
import type { Caller } from '../model/caller.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import { fromHandle } from '../token/handles.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { openForCaller } from './open-saga.ts';
import { standIn } from '../token/resolve-program.ts';
import type { StatusRequest } from '../model/host-requests.ts';

/** How far the saga of a token is, for whoever may go on with it. */
export interface SagaStatus {
  readonly sagaId: string;
  /** The saga that was called; it may have gone on as another one since. */
  readonly saga: Program;
  /** The turn the token was sealed in, from 1. */
  readonly turn: number;
  /** The ids of the client steps it waits for. */
  readonly asked: readonly string[];
  /** `true` if the saga fails when it continues: its version is gone, and `onMismatch` is `compensate`. */
  readonly fails: boolean;
  /** `true` if `requests/resume` accepts the token: its client declared resumable requests. */
  readonly isResumable: boolean;
  /** Digest of the JSON-RPC ID of the request that is resumed; undefined if any ID may resume it. */
  readonly requestId: string | undefined;
}

/** Looks how far a saga is. Nothing is replayed and nothing runs; it takes no turn, so that it is not admitted. (W7) */
export async function statusOf(
  host: HostParts,
  token: string,
  caller: Caller,
  request: StatusRequest,
): Promise<SagaStatus> {
  try {
    const { token: sealed, purpose } = await fromHandle(host, token);
    const opened = await openForCaller(host, sealed, caller, { ...request, purpose });
    const { saga, program, current } = opened;
    const { claims, state, sagaId } = saga;
    const ids = stepIdsOf(state.generation);
    return {
      sagaId,
      saga: host.registry.named(claims.entry.target) ?? current,
      turn: claims.turn,
      asked: standIn(opened)
        .asked(state.program)
        .map((stepId) => ids.toWire(stepId)),
      fails: program === undefined && current.onMismatch === 'compensate',
      isResumable: state.isResumable === true,
      requestId: state.requestId,
    };
  } catch (error) {
    if (error instanceof TokenRefused) host.observer.reject(error.reason);
    throw error;
  }
}
