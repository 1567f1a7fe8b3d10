import { present } from '../values/json.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Steps, UndoWork } from '../model/command.ts';
import type { BoundUndo, UndoneStep } from '../model/undo.ts';
import { undoKeyMark, undoMark } from '../values/path.ts';
import { command } from '../effects/effect-of.ts';
import { generatorKind, isIterator } from '../values/generators.ts';
import type { RetryPolicy } from '../values/retry.ts';

/** What became of undoing a saga. */
export interface UndoReport {
  readonly compensated: UndoneStep[];
  readonly residue: UndoneStep[];
}

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
  readonly timeoutMs: number | undefined;
}

/** Undos have this policy where their author names none. */
export const defaultUndoRetry: RetryPolicy = { attempts: 3 };

/** An undo as results and residue name it. */
export function toUndone({ path, label }: Undo): UndoneStep {
  return { stepId: path, ...present({ label }) };
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
    timeoutMs: undo.timeoutMs,
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
        throw new AuthoringError(`An undo that yields steps has no ${name}: read it in a step of the undo.`);
      },
    });
  }
  return context;
}

function notAGenerator(returned: unknown): unknown {
  if (isIterator(returned)) {
    throw new AuthoringError(
      'An undo that yields steps is a generator: compensate: function* (…) { yield* … }.',
    );
  }
  return returned;
}

/**
 * What an author gave as an undo, by how it is run.
 *
 * @param id - the step that it undoes
 * @throws AuthoringError for an async generator, which nobody would run, and for what is neither a function nor a bound undo
 */
export function toUndoWork(undo: ((undo: never) => unknown) | BoundUndo, id: string): UndoWork {
  if (typeof undo !== 'function') {
    if (typeof (undo as Partial<BoundUndo> | undefined)?.run === 'function' && 'args' in undo)
      return { kind: 'named', bound: undo };
    throw new AuthoringError(
      `The undo of '${id}' must be a function, or a named compensator with arguments: refund.with({ … }).`,
    );
  }
  const kind = generatorKind(undo);
  if (kind === 'async') {
    throw new AuthoringError(
      'An undo is a function, an async function or function*. It must not be an async generator.',
    );
  }
  return kind === 'sync'
    ? { kind: 'generator', run: undo as (facts: never) => Steps<unknown> }
    : { kind: 'function', run: undo };
}
