import { ReplayMismatch } from '@mcp-saga/core';
import type { SagaTurn } from './turn.ts';

/** `true` if a turn failed only because its code was changed: nothing ran, nothing was undone, and the token stays good. */
export function isLeftAsItIs(turn: SagaTurn): boolean {
  return (
    turn.status === 'failed' &&
    turn.error instanceof ReplayMismatch &&
    !turn.error.isFinal &&
    turn.compensated.length + turn.residue.length === 0
  );
}
