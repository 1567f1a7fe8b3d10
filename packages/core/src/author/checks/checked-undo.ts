/**
 * Rejects an async generator as an undo, because the engine never runs one. Inferred separately:
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
    : unknown;
