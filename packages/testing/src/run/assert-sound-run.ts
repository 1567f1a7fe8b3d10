import { ReplayMismatch, type Program, type SagaError } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import type { Ended } from './run-host.ts';
import type { World } from '../world/world.ts';

/**
 * Throws for a mistake in the saga of a run, at any end: `not_deterministic`, `floating`, or an
 * error of the kit.
 */
export function assertSound(program: Program, world: World, ended: Ended): void {
  if (world.objection !== undefined) throw world.objection;
  if (ended.status !== 'completed' && ended.error instanceof ReplayMismatch && !world.mayMismatch) {
    throw new SagaTestError(
      'not_deterministic',
      explainMismatch(program.name, world.turn, ended.error),
      {
        cause: ended.error,
      },
    );
  }
  const floated =
    neverYielded(ended) ?? world.warnings.find((warning) => warning.includes('never yielded it'));
  if (floated !== undefined) {
    throw new SagaTestError(
      'floating',
      `${floated}\n\nOnly yield* runs a command. To run two commands at the same time, write yield* all({ … }).`,
    );
  }
}

/** Message of the error of a saga that failed because of a command without `yield*`. */
function neverYielded(ended: Ended): string | undefined {
  if (ended.status === 'completed') return undefined;
  const { code, message } = Object(ended.error) as Partial<SagaError>;
  return code === 'never_yielded' ? message : undefined;
}

/** Explains a mismatch, side by side. */
export function explainMismatch(
  saga: string,
  turn: number,
  { recorded, asked }: ReplayMismatch,
): string {
  const now = asked.map(({ kind, path }) => `${kind} '${path}'`).join(', ');
  const same = asked.some(({ kind, path }) => kind === recorded.kind && path === recorded.path);
  return (
    `The saga '${saga}' is not deterministic: its replay in turn ${turn} differs.\n\n` +
    `    recorded: ${recorded.kind} '${recorded.path}'\n` +
    `    now asks: ${now === '' ? 'nothing more' : now}${same ? ', with other content' : ''}\n\n` +
    'Between two steps, a body may only depend on its input and the results of its steps. Check the code before this step for ' +
    'the time (use yield* now()), randomness (use yield* random()), globals, module variables, and the order of outside ' +
    'objects. Read such values in a step: the journal keeps results of steps.'
  );
}
