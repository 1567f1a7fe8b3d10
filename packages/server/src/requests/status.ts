import { TokenRefused } from '@mcp-saga/seal';
import type { Program } from '@mcp-saga/core';
import type { Caller } from '../model/caller.ts';
import { stepIdsOf } from '../wire/step-answers.ts';
import { fromHandle } from '../token/handles.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { openForCaller } from './open-for-caller.ts';
import { standIn } from '../token/resolve-program.ts';
import type { StatusRequest } from '../model/request-types.ts';

/** State of a saga, for callers with access. */
export interface SagaStatus {
  readonly sagaId: string;
  /** Saga of the call. The current saga may be another one, after `continueAs`. */
  readonly saga: Program;
  /** Turn in which the token was sealed, from 1. */
  readonly turn: number;
  /** IDs of the pending questions. */
  readonly asked: readonly string[];
  /** `true` if the saga will fail: its version is gone, and `onMismatch` is `compensate`. */
  readonly fails: boolean;
  /** `true` if `requests/resume` accepts the token: its client declared resumable requests. */
  readonly isResumable: boolean;
  /** Digest of the JSON-RPC ID of the resumable request; undefined if any ID may resume it. */
  readonly requestId: string | undefined;
}

/** Reads the state of a saga. Replays and runs nothing, so no rate limit applies. */
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
