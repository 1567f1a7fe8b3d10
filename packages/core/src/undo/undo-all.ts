import { present } from '../values/json.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Steps, StepUndo, UndoWork } from '../model/command.ts';
import type { UndoneStep } from '../model/undo-types.ts';
import { undoKeyMark, undoMark } from '../values/path.ts';
import { command } from '../effects/make-command.ts';
import { generatorKind, isIterator } from '../values/generators.ts';
import type { RetryPlan } from '../values/retry.ts';

export interface UndoReport {
  readonly compensated: UndoneStep[];
  readonly uncompensated: UndoneStep[];
}

export interface Undo {
  /** Path of the step to undo. */
  readonly path: string;
  readonly key: string | undefined;
  /** Undefined if no code can undo the step, which is then uncompensated. */
  readonly work: UndoWork | undefined;
  /** Outcome of the step, with copies of its result and input. */
  readonly facts: () => {
    readonly outcome?: 'done' | 'unknown';
    readonly result?: unknown;
    readonly input?: unknown;
  };
  readonly policy: Pick<StepUndo, 'label' | 'retry' | 'timeoutMs'>;
}

/** Retry policy of a compensation by default: 3 attempts. */
export const defaultUndoRetry: RetryPlan = {
  attempts: 3,
  delayMs: 200,
  factor: 2,
  maxDelayMs: 60_000,
  jitter: true,
};

/** Converts an undo to its form in results. */
export function toUndone({ path, policy: { label } }: Undo): UndoneStep {
  return { stepId: path, ...present({ label }) };
}

/** Source of undos, and receiver of their results. */
export interface Undoing {
  take(): Undo | undefined;
  /** Reports the last taken undo as compensated or uncompensated. */
  settle(into: keyof UndoReport, why?: unknown): void;
}

/**
 * Runs the undos on the stack, last first, as a body with journaled steps: a crash resumes at the
 * same place. An undo that fails for good is uncompensated; the others run.
 */
export function* undoAll(undoing: Undoing): Steps<void> {
  for (let undo = undoing.take(); undo !== undefined; undo = undoing.take()) {
    if (undo.work === undefined) {
      undoing.settle('uncompensated');
      continue;
    }
    try {
      yield* undoOne(undo, undo.work);
      undoing.settle('compensated');
    } catch (error) {
      undoing.settle('uncompensated', error);
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
  // Each attempt has a separate context. Fields are added, not copied, so observers of the context
  // see reads.
  const run =
    work.kind === 'function'
      ? (context: object) => notAGenerator(work.run(Object.assign(context, undo.facts()) as never))
      : (context: object) =>
          work.bound.run(Object.assign(context, { args: work.bound.args }) as never);
  yield* command<void>({
    kind: 'step',
    id,
    run,
    input: undefined,
    key: undefined,
    keep: false,
    compress: false,
    once: false,
    reads: false,
    retry: undo.policy.retry,
    timeoutMs: undo.policy.timeoutMs,
    undo: undefined,
    of: { path: undo.path, key: undo.key },
  });
}

/** Context of a generator undo. Fields of a step throw an error with advice. */
function generatorContext(facts: object): object {
  const context = { ...facts };
  for (const name of ['idempotencyKey', 'services', 'user', 'signal', 'attempt']) {
    Object.defineProperty(context, name, {
      get: () => {
        throw new AuthoringError(
          `An undo that yields steps has no ${name}: read it in a step of the undo.`,
          { anchor: 'undos' },
        );
      },
    });
  }
  return context;
}

function notAGenerator(returned: unknown): unknown {
  if (isIterator(returned)) {
    throw new AuthoringError(
      'An undo that yields steps is a generator: compensate: function* (…) { yield* … }.',
      { anchor: 'undos' },
    );
  }
  return returned;
}

/** Classifies an undo. Throws AuthoringError for an async generator. */
export function toUndoWork(undo: (undo: never) => unknown): UndoWork {
  const kind = generatorKind(undo);
  if (kind === 'async') {
    throw new AuthoringError(
      'An undo is a function, an async function or function*. It must not be an async generator.',
      { anchor: 'undos' },
    );
  }
  return kind === 'sync'
    ? { kind: 'generator', run: undo as (facts: never) => Steps<unknown> }
    : { kind: 'function', run: undo };
}
