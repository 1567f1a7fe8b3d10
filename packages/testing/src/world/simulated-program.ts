import type { Outcome, Runtime, StepEvent } from '@mcp-saga/server/internal';
import type { Program } from '@mcp-saga/server';
import { wrapProgram } from '../values/wrap-program.ts';
import { perform } from './perform-step.ts';
import type { World } from './world.ts';
import { kindOfStep } from '../report/trace-questions.ts';
import type { TraceEvent } from '../report/trace.ts';

/** Wraps a program with the clock, randomness, and steps of a simulated world. */
export function simulatedProgram(staged: Program, world: World): Program {
  return wrapProgram(staged, (engine) => ({
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      world.generation = runtime.saga.generation;
      return await engine.advance(state, answers, simulatedRuntime(runtime, world), end);
    },
  }));
}

function simulatedRuntime(runtime: Runtime, world: World): Runtime {
  return {
    ...runtime,
    saga: { ...runtime.saga, id: world.sagaId },
    turn: world.calls.follow(runtime.turn, () => {
      world.committedAt = world.clock.now();
    }),
    time: {
      ...runtime.time,
      now: () => world.clock.now(),
      sleep: (ms, signal) => world.clock.sleep(ms, signal),
      random: world.random,
    },
    questions: {
      ...runtime.questions,
      route: (question) => {
        world.needs(question.need);
        return runtime.questions.route(question);
      },
    },
    effects: {
      ...runtime.effects,
      idempotencyKey: (path, _key, direction) => world.idempotencyKey(path, direction),
      randomBytes: (path) => world.randomBytes(path),
      outside: world.outside,
      // Scripts have no rules for fallbacks.
      perform: (call) => (call.kind === 'fallback' ? call.run(call.step) : perform(world, call)),
    },
    observer: {
      ...runtime.observer,
      observe: (event) => {
        runtime.observer.observe(event);
        observe(world, event);
      },
      warn: (message) => void (world.dead || world.warnings.push(message)),
    },
  };
}

/** Adds an event of a step to the trace. Events carry no values, which the kit sees elsewhere. */
export function observe(world: World, event: StepEvent): void {
  const { type, path, attempt = 1, error } = event;
  const id = world.idOf(path);
  const undoes = id.startsWith('~') ? id.slice(1) : undefined;
  const effect = world.unreported.get(id);
  world.unreported.delete(id);
  switch (type) {
    case 'started':
      if (event.reads === true) world.reads.add(id);
      if (attempt > 1) world.tell({ type: 'retried', id, attempt });
      return;
    case 'succeeded':
      if (effect !== undefined) world.tell(effect);
      else if (event.kind !== 'step') world.tell({ type: 'answered', id, ...byServer(event.kind) });
      return;
    case 'failed':
    case 'retrying':
      if (undoes === undefined) world.tell({ type: 'failed', id, attempt, error });
      else world.tell({ type: 'undoFailed', id: undoes, error });
      return;
    case 'passed':
      if (event.kind === 'pivot') world.tell({ type: 'passed', id });
      return;
    case 'answered':
      answered(world, id);
      return;
    case 'asked':
  }
}

function byServer(
  kind: string,
): Pick<Extract<TraceEvent, { type: 'answered' }>, 'kind' | 'answer' | 'by'> {
  return { kind: kind === 'sample' ? kind : 'elicit', answer: undefined, by: 'server' };
}

/** Tells the answer that the client has sent, if any. */
export function answered(world: World, id: string): void {
  const asked = world.asked.get(id);
  const answer = world.sent.get(id);
  if (asked === undefined || answer === undefined) return;
  const kind = kindOfStep(asked);
  const given: unknown = 'error' in answer ? { content: answer.error } : answer.result;
  const { action, content } = Object(given) as {
    readonly action?: string;
    readonly content?: unknown;
  };
  const { text } = Object(kind === 'sample' ? content : undefined) as { readonly text?: string };
  if (action === 'decline') world.tell({ type: 'declined', id });
  else if (action === 'cancel') world.tell({ type: 'cancelled', id });
  else world.tell({ type: 'answered', id, kind, answer: text ?? content });
}
