import { SagaLimitExceeded } from '@mcp-saga/core';
import { inStates } from '../adapter/xstate-nodes.ts';
import type { StepWatch } from '../model/live-actor.ts';
import { pathOf } from '../adapter/survey.ts';

/** Bounds the steps of a machine and its children in one turn, as XState runs an endless loop forever. */
export function stepLimit(saga: string, limit: number): StepWatch {
  let steps = 0;
  return (actor, { value }) => {
    steps += 1;
    if (steps <= limit) return;
    const path = pathOf(actor);
    const who = path === '' ? 'it' : `its child '${path}'`;
    throw new SagaLimitExceeded(
      `The machine of saga '${saga}' took more than ${limit} steps in one turn, and ${who} goes on in ${inStates(value)}. ` +
        'Is there a loop without end, or is maxCommands too low?',
    );
  };
}
