import {
  present,
  type Runtime,
  type StepCall,
  type StepEvent,
  withoutKeys,
} from '@mcp-saga/core/program';
import { errorTypeOf, within } from './traced-turn.ts';
import type { StepIds } from '../wire/step-answers.ts';
import { quietly } from '../settings/observer-hooks.ts';
import type { StepSpan, TracedStep, TurnSpan } from '../model/telemetry.ts';

/** Runtime of a traced turn: the code of each step runs within its own span. */
export function tracedRuntime(
  runtime: Runtime,
  trace: { readonly span: TurnSpan | undefined },
  { toWire }: Pick<StepIds, 'toWire'>,
  onError: (error: unknown) => void,
): Runtime {
  const running = new Map<string, StepSpan>();
  const idOf = (path: string): string => toWire(withoutKeys(path));
  return {
    ...runtime,
    effects: {
      ...runtime.effects,
      perform: (call) => {
        const attempt = beginStep(trace.span, call, idOf, onError);
        const { path, run, step } = call;
        const work = async (): Promise<unknown> => await run(step);
        if (attempt === undefined) return work();
        const working = within(attempt, onError, work);
        if (call.kind === 'step') {
          running.set(path, attempt);
        } else {
          const end = (errorType?: string): void => quietly(() => attempt.end(errorType), onError);
          working.then(
            () => end(),
            (error: unknown) => end(errorTypeOf(error)),
          );
        }
        return working;
      },
    },
    observer: {
      ...runtime.observer,
      observe: (event) => {
        runtime.observer.observe(event);
        const { type, kind, path, error } = event;
        const failure = type === 'failed' || type === 'retrying' ? errorTypeOf(error) : undefined;
        const attempt = running.get(path);
        if (kind !== 'step') report(trace.span, event, idOf(path), failure, onError);
        else if (attempt !== undefined) {
          // The engine knows best how an attempt ended: its code may go on after a timeout, and
          // what it returned may be nothing that can be kept.
          running.delete(path);
          quietly(() => attempt.end(failure), onError);
        }
      },
    },
  };
}

function beginStep(
  span: TurnSpan | undefined,
  { kind, path, undoes, step }: StepCall,
  idOf: (path: string) => string,
  onError: (error: unknown) => void,
): StepSpan | undefined {
  let begun: StepSpan | undefined;
  const facts: TracedStep = {
    stepId: idOf(undoes ?? path),
    kind: undoes === undefined ? kind : 'undo',
    attempt: step.attempt,
  };
  quietly(() => (begun = span?.step(facts)), onError);
  return begun;
}

function report(
  span: TurnSpan | undefined,
  { type, kind }: StepEvent,
  stepId: string,
  errorType: string | undefined,
  onError: (error: unknown) => void,
): void {
  // Questions are reported when the turn ends.
  if (type === 'asked') return;
  const event = { type, kind, stepId, ...present({ errorType }) };
  quietly(() => span?.event(event), onError);
}
