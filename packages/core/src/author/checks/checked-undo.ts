import type { AsksClient } from './yielded-commands.ts';

/**
 * Checks what an undo returns. Rejects an async generator, because the engine never runs one, and a
 * generator that asks the client, who may be gone when the saga is undone. Inferred separately:
 * undos may differ in type.
 */
export type CheckedUndo<U> = [0] extends [1 & U]
  ? unknown
  : // In this order for type parameters: see CheckedResult.
    'refused' extends ([Extract<U, AsyncGenerator>] extends [never] ? never : 'refused')
    ? [
        'An undo is a function, an async function or function*. It must not be an async generator:',
        U,
      ] &
        ((undo: never) => U)
    : true extends AsksClient<U>
      ? ['An undo cannot ask, because the client may be gone. Ask in the body of the saga. Not', U]
      : unknown;

/** Checks what a named compensator returns. It yields no steps. */
export type CheckedCompensator<U> = [0] extends [1 & U]
  ? unknown
  : 'refused' extends ([Extract<U, Generator | AsyncGenerator>] extends [never] ? never : 'refused')
    ? ['A compensator is a function or an async function. It must not be a generator:', U]
    : unknown;
