import { command, type Steps } from './command.ts';
import { generatorKind, isIterator } from './generators.ts';
import type { RetryPolicy } from './retry.ts';
import type { Context } from './step.ts';

/** What an undo gets to know and to work with. */
export interface UndoContext<R, I> {
  /** What the step returned, as the journal has it. */
  readonly result: R;
  /** The step's `input`. */
  readonly input: I;
  /** The idempotency key the step ran with: by it a provider finds what the step did. */
  readonly stepKey: string;
  /** The key of this undo: another one than the step's, and the same on every attempt, fork and rotation. */
  readonly idempotencyKey: string;
  /** What the host's caller gave this request. */
  readonly context: Context;
  /** Aborts with the request and on the undo's timeout. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
}

/** What a step was given and what it returned: what the arguments of a named compensator are made of. */
export type UndoFacts<R, I> = Pick<UndoContext<R, I>, 'result' | 'input'>;

/**
 * Undoes a step: a function; or a generator, whose server steps are journalled one by one. The generator itself knows
 * `result`, `input` and `stepKey`; the rest belongs to its steps, and throws where it is read outside of them.
 */
export type UndoFunction<R, I> = (undo: UndoContext<R, I>) => unknown;

/** How an undo is run. */
export interface UndoPolicy {
  /** Attempts, or a policy. Default: three attempts. */
  readonly retry?: RetryPolicy | number;
  /** Milliseconds for one attempt. Default: none. */
  readonly timeout?: number;
}

/** A step that was undone, or one that could not be: its id, and the label its author gave it. */
export interface UndoneStep {
  readonly stepId: string;
  readonly label?: string;
}

/** What became of undoing a saga. */
export interface UndoReport {
  readonly compensated: UndoneStep[];
  readonly residue: UndoneStep[];
}

/** A named undo with its arguments, as it is sealed: it runs even when the code that registered it is gone. */
export interface BoundUndo {
  readonly name: string;
  readonly args: unknown;
  readonly run: (undo: never) => unknown;
}

/** How something is undone. */
export type UndoWork =
  | { readonly kind: 'function'; readonly run: (undo: never) => unknown }
  | { readonly kind: 'generator'; readonly run: (undo: never) => Steps<unknown> }
  | { readonly kind: 'named'; readonly bound: BoundUndo };

/** Something on the undo stack. */
export interface Undo {
  /** The path of the step it undoes. */
  readonly path: string;
  readonly key: string | undefined;
  readonly label: string | undefined;
  /** Undefined where nothing can undo it: it is residue. */
  readonly work: UndoWork | undefined;
  /** The step's result and input, made anew each time. */
  readonly facts: () => { readonly result?: unknown; readonly input?: unknown };
  readonly retry: RetryPolicy;
  readonly timeout: number | undefined;
}

/** Undos have this policy where their author names none. */
export const defaultUndoRetry: RetryPolicy = { attempts: 3 };

/** The mark of paths that belong to undoing; ids of authors never begin with it. */
export const undoMark = '~';
/** The mark of entries about how a body ends: neither steps nor undos have such paths. */
export const endMark = '!';
/** The mark of the entry at which an undo that is a generator reads the key of its step. */
export const undoKeyMark = '~~';

/** An undo as results and residue name it. */
export function toUndone({ path, label }: Undo): UndoneStep {
  return { stepId: path, ...(label === undefined ? {} : { label }) };
}

/** Where undos are taken from, and what became of them goes. */
export interface Undoing {
  /** The next one, or undefined when nothing is left. */
  take(): Undo | undefined;
  /** What was taken last is undone, or it is residue. */
  settle(into: keyof UndoReport, why?: unknown): void;
}

/**
 * Undoes what is on the stack, last first. It is a body like any other: its steps are journalled, so that a crash in
 * the middle goes on where it was. What fails for good is residue, and the rest goes on. (E3)
 */
export function* undoAll(undoing: Undoing): Steps<void> {
  for (let undo = undoing.take(); undo !== undefined; undo = undoing.take()) {
    if (undo.work === undefined) {
      undoing.settle('residue');
      continue;
    }
    try {
      yield* undoOne(undo, undo.work);
      undoing.settle('compensated');
    } catch (error) {
      undoing.settle('residue', error);
    }
  }
}

function* undoOne(undo: Undo, work: UndoWork): Steps<void> {
  const id = undoMark + undo.path;
  if (work.kind === 'generator') {
    const { path, key, facts } = undo;
    const stepKey = yield* command<string>({ kind: 'stepKey', id: undoKeyMark + path, path, key });
    const steps = work.run(generatorContext({ ...facts(), stepKey }) as never);
    yield* command<unknown>({ kind: 'scope', id, steps });
    return;
  }
  // Each attempt has a context of its own: it is added to, not copied, so that who watches it sees what is read.
  const run =
    work.kind === 'function'
      ? (context: object) => notAGenerator(work.run(Object.assign(context, undo.facts()) as never))
      : (context: object) => work.bound.run(Object.assign(context, { args: work.bound.args }) as never);
  yield* command<void>({
    kind: 'step',
    id,
    run,
    input: undefined,
    key: undefined,
    keep: false,
    compress: false,
    once: false,
    retry: undo.retry,
    timeout: undo.timeout,
    undo: undefined,
    of: { path: undo.path, key: undo.key },
  });
}

/** What an undo that is a generator gets: what is a step's own is not there, and says so. */
function generatorContext(facts: object): object {
  const context = { ...facts };
  for (const name of ['idempotencyKey', 'context', 'signal', 'attempt']) {
    Object.defineProperty(context, name, {
      get: () => {
        throw new TypeError(
          `An undo that yields steps has no ${name} of its own: read it in a step of the undo.`,
        );
      },
    });
  }
  return context;
}

function notAGenerator(returned: unknown): unknown {
  if (isIterator(returned)) {
    throw new TypeError(
      'An undo that yields steps is a generator itself: compensate: function* (…) { yield* … }.',
    );
  }
  return returned;
}

/**
 * What an author gave as an undo, by how it is run.
 *
 * @throws TypeError for an async generator, which nobody would run
 */
export function toUndoWork(undo: ((undo: never) => unknown) | BoundUndo): UndoWork {
  if (typeof undo !== 'function') return { kind: 'named', bound: undo };
  const kind = generatorKind(undo);
  if (kind === 'async') {
    throw new TypeError(
      'An undo is a function, an async function or function*. It must not be an async generator.',
    );
  }
  return kind === 'sync'
    ? { kind: 'generator', run: undo as (facts: never) => Steps<unknown> }
    : { kind: 'function', run: undo };
}
