import type { Program } from '@mcp-saga/server';
import { engineOf, present, type SagaEngine } from '@mcp-saga/server/internal';

/** Methods of an engine that a wrapper may replace. */
export type EngineChanges = Partial<Pick<SagaEngine, 'begin' | 'advance'>>;

/** Wraps the engine of a program, and of its older versions. An engine may be of a class. */
export function wrapProgram(
  program: Program,
  change: (engine: SagaEngine, program: Program) => EngineChanges,
): Program {
  const engine = engineOf(program);
  const history: SagaEngine['history'] = engine.history?.bind(engine);
  const restore: SagaEngine['restore'] = engine.restore?.bind(engine);
  return {
    ...program,
    previous: program.previous.map((older) => ({
      ...older,
      saga: wrapProgram(older.saga, change),
    })),
    engine: {
      begin: (...start) => engine.begin(...start),
      advance: (...turn) => engine.advance(...turn),
      asked: (state) => engine.asked(state),
      timeline: (state) => engine.timeline(state),
      ...present({ history, restore }),
      ...change(engine, program),
    },
  };
}
