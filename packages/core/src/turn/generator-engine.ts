import type { ClientAnswer } from '../model/client-step.ts';
import type { Outcome } from '../model/outcome.ts';
import type { EndRequest, Origin, Program, Runnable, SagaEngine } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { encode } from '../values/codec.ts';
import { AuthoringError, InvalidInput } from '../values/errors.ts';
import { historyOf, stateOf, timelineOf } from '../journal/read-history.ts';
import { isSameJson, present, type Json } from '../values/json.ts';
import { validate } from '../values/standard-schema.ts';
import { decodeHead, encodeHead } from '../journal/head.ts';
import { ReplayCheck } from './replay-check.ts';
import type { GeneratorProgramOptions } from '../replay/body.ts';
import { Turn } from './turn.ts';

/** Returns the engine of a program. Throws AuthoringError if there is nothing to run. */
export function engineOf(program: Runnable): SagaEngine {
  if (program.engine !== undefined) return program.engine;
  // Without an engine, it is a program.
  const { name, input, reuse, suspends, onMismatch, body } = program as Program;
  if (body === undefined)
    throw new AuthoringError(`Program '${name}' has neither a body nor an engine.`, {
      anchor: 'bodies',
    });
  const acceptsReuse = reuse === 'ok';
  return generatorEngine({ name, input, acceptsReuse, onMismatch, body, ...present({ suspends }) });
}

/** Makes an engine that runs a generator. The state is the journal. */
export function generatorEngine(
  options: GeneratorProgramOptions,
): SagaEngine & Required<Pick<SagaEngine, 'history' | 'restore'>> {
  return {
    begin: (args, progress, origin) => begin(options, args, progress, origin),
    advance: (
      state: ProgramState,
      answers: ReadonlyMap<string, ClientAnswer>,
      runtime: Runtime,
      end?: EndRequest,
    ): Promise<Outcome> =>
      runtime.observer.isStrict === true && runtime.observer.warn !== undefined
        ? new ReplayCheck(options, runtime).take(state, answers, end)
        : new Turn(options, state, runtime, { answers, end }).take(),
    asked: (state) => Object.keys(decodeHead(state.head).asked),
    timeline: timelineOf,
    history: historyOf,
    restore: stateOf,
  };
}

async function begin(
  options: GeneratorProgramOptions,
  args: Json,
  progress: number | undefined,
  origin: Origin = 'client',
): Promise<ProgramState> {
  let input: unknown = {};
  if (options.input !== undefined) {
    const parsed = await validate(options.input, args);
    if (!parsed.ok)
      throw new InvalidInput(`Invalid arguments for '${options.name}': ${parsed.issues}`);
    input = parsed.value;
  }
  // Arguments made by server code, or changed by the schema, may contain secrets: never compressed.
  const isClients = origin === 'client' || isSameJson(args, {});
  const stream = isClients && isSameJson(input, args) ? 'client' : 'server';
  const text = encode(input);
  return {
    head: encodeHead({
      turn: 0,
      input: stream,
      progress,
      asked: {},
      waits: {},
      mismatch: undefined,
    }),
    structure: '',
    client: stream === 'client' ? text : '',
    server: stream === 'server' ? text : '',
  };
}
