import type { Outcome, Runtime } from '@mcp-saga/server/internal';
import type { Program } from '@mcp-saga/server';
import { wrapProgram } from '../values/wrap-program.ts';
import { observe } from './observe-step.ts';
import { perform } from './perform-step.ts';
import type { World } from './world.ts';

/** Wraps a program so that its clock, randomness, and steps are those of a simulated world. */
export function simulatedProgram(staged: Program, world: World): Program {
  return wrapProgram(staged, (program) => ({
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      const outcome = await program.advance(state, answers, simulatedRuntime(runtime, world), end);
      if (outcome.status === 'continued') world.generation += 1;
      return outcome;
    },
  }));
}

function simulatedRuntime(runtime: Runtime, world: World): Runtime {
  return {
    ...runtime,
    sagaId: world.sagaId,
    now: () => world.clock.now(),
    sleep: (ms, signal) => world.clock.sleep(ms, signal),
    random: world.random,
    idempotencyKey: (path, _key, direction) => world.idempotencyKey(path, direction),
    randomBytes: (path) => world.randomBytes(path),
    route: (question) => {
      world.needs(question.need);
      return runtime.route(question);
    },
    // What answers in the client's stead is no step that a script knows.
    perform: (call) => (call.kind === 'fallback' ? call.run(call.step) : perform(world, call)),
    observe: (event) => {
      runtime.observe(event);
      observe(world, event);
    },
    warn: (message) => void (world.dead || world.warnings.push(message)),
  };
}
