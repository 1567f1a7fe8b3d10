import { ReplayMismatch, type Program } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import type { Ended } from './serving.ts';
import type { World } from '../world/world.ts';

/** Throws if a run shows a mistake in its saga, however it ended: `not_deterministic`, `floating`, or an error of the kit. */
export function assertSound(program: Program, world: World, ended: Ended): void {
  if (world.objection !== undefined) throw world.objection;
  if (ended.status !== 'completed' && ended.error instanceof ReplayMismatch && !world.mayMismatch) {
    throw new SagaTestError('not_deterministic', explainMismatch(program.name, world.turn, ended.error), {
      cause: ended.error,
    });
  }
  const floated = world.warnings.find((warning) => warning.includes('never yielded it'));
  if (floated !== undefined) {
    throw new SagaTestError(
      'floating',
      `${floated}\n\nA command is a description of what is to be done: only yield* hands it to the engine. For two things ` +
        'at the same time, write yield* all({ … }).',
    );
  }
}

/** Explains a mismatch, side by side. */
export function explainMismatch(saga: string, turn: number, { recorded, asked }: ReplayMismatch): string {
  const now = asked.map(({ kind, path }) => `${kind} '${path}'`).join(', ');
  const same = asked.some(({ kind, path }) => kind === recorded.kind && path === recorded.path);
  return (
    `When the saga '${saga}' was replayed in turn ${turn}, it did something else than before:\n\n` +
    `    recorded: ${recorded.kind} '${recorded.path}'\n` +
    `    now asks: ${now === '' ? 'nothing more' : now}${same ? ', with other content' : ''}\n\n` +
    'Between two steps a body may only depend on its input and on what its steps gave. Look at what stands before this ' +
    'step: does it read the time (use yield* now()), randomness (yield* random()), the order of an object from ' +
    'outside, a global, a variable of the module? Read it in a step: what a step gives is journalled.'
  );
}
