import { brand } from '../../model/command.ts';
import { withinGrace } from './abort-grace.ts';
import type { Runtime } from '../../model/runtime.ts';
import type { StepCall, StepGiven } from '../../model/step-context.ts';
import { undoMark } from '../../values/path.ts';
import { outsideWorkOf, withOutside } from './outside-code.ts';

/** Idempotency key of a step, or a function that derives the key: most steps never read theirs. */
export type StepKey = Awaited<ReturnType<Runtime['effects']['idempotencyKey']>>;

/** Text of a key, derived now if the host has not derived the key yet. */
export function keyText(key: StepKey): string {
  return typeof key === 'string' ? key : key();
}

/**
 * Runs the code of a step, poll, or fallback, or lets the runtime run it. Throws OutcomeUnknown if
 * aborted code never settles.
 */
export function performed(
  runtime: Pick<Runtime, 'effects' | 'observer' | 'request' | 'time'>,
  kind: StepCall['kind'],
  path: string,
  code: (step: never) => unknown,
  given: StepGiven,
): unknown {
  const run = code as StepCall['run'];
  const { outside } = runtime.effects;
  const step =
    outside === undefined ? given : withOutside(outside, runtime.observer, path, code, given);
  const working =
    runtime.effects.perform === undefined
      ? run(step)
      : runtime.effects.perform({
          kind,
          path,
          undoes: path.startsWith(undoMark) ? path.slice(undoMark.length) : undefined,
          outside: outside && outsideWorkOf(code),
          step,
          run,
        });
  return isPromise(working) ? withinGrace(`The ${kind} '${path}'`, working, runtime) : working;
}

/** `true` for a promise. A command is none: as a result, it cannot be recorded. */
function isPromise(value: unknown): value is PromiseLike<unknown> {
  if (brand in Object(value)) return false;
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
