import type { Outcome, Program, Runtime } from '@mcp-saga/server';
import { wrapProgram } from '../values/wrap-program.ts';
import { observe } from './observe-step.ts';
import { perform } from './perform-step.ts';
import type { Stage } from './simulation.ts';

/**
 * A program as it is, on a stage: what it takes from the world around it comes from there, and what it does is noted
 * there. Whatever makes programs can be tested so, since nothing but the program's own interface is used.
 */
export function stagedProgram(staged: Program, stage: Stage): Program {
  return wrapProgram(staged, (program) => ({
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      const outcome = await program.advance(state, answers, stagedRuntime(runtime, stage), end);
      if (outcome.status === 'continued') stage.generation += 1;
      return outcome;
    },
  }));
}

function stagedRuntime(runtime: Runtime, stage: Stage): Runtime {
  return {
    ...runtime,
    sagaId: stage.sagaId,
    now: () => stage.clock.now(),
    sleep: (ms, signal) => stage.clock.sleep(ms, signal),
    random: stage.random,
    idempotencyKey: (path, _key, direction) => stage.idempotencyKey(path, direction),
    randomBytes: (path) => stage.randomBytes(path),
    route: (question) => {
      stage.needs(question.need);
      return runtime.route(question);
    },
    // What answers in the client's stead is no step that a script knows.
    perform: (call) => (call.kind === 'fallback' ? call.run(call.step) : perform(stage, call)),
    observe: (event) => {
      runtime.observe(event);
      observe(stage, event);
    },
    warn: (message) => void (stage.dead || stage.warnings.push(message)),
  };
}
