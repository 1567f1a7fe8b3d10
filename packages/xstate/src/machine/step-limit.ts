import { SagaLimitExceeded } from '@mcp-saga/core';
import { inStates } from '../adapter/xstate-nodes.ts';
import type { StepWatch } from '../model/live-actor.ts';
import { pathOf } from '../adapter/xstate-actors.ts';

/**
 * Limits the steps of a machine and its children in one turn, since XState would run an endless
 * loop.
 */
export function stepLimit(saga: string, limit: number): StepWatch {
  let steps = 0;
  return (actor, { value }) => {
    steps += 1;
    if (steps <= limit) return;
    const path = pathOf(actor);
    const where = path === '' ? 'the machine' : `its child '${path}'`;
    throw new SagaLimitExceeded(
      `The machine of saga '${saga}' exceeded ${limit} steps in one turn, with ${where} in ${inStates(value)}. ` +
        'Fix the endless loop.',
    );
  };
}
