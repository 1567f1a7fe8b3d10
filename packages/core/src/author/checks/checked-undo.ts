/**
 * Goes beside an undo that returns a `U`: nothing, or for an async generator, which nobody would run, what its author reads
 * in the error. `U` is told from the function that stands beside the words and holds nobody to it otherwise: of undos to
 * choose from, one type need not be that of the others.
 */
export type CheckedUndo<U> = [0] extends [1 & U]
  ? unknown
  : // Asked this way around for type parameters: see CheckedResult.
    'refused' extends ([Extract<U, AsyncGenerator>] extends [never] ? never : 'refused')
    ? ['An undo is a function, an async function or function*. It must not be an async generator:', U] &
        ((undo: never) => U)
    : unknown;
