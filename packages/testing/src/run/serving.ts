import {
  createSagaHost,
  generateKey,
  InvalidInput,
  memoryGuard,
  SagaHostError,
  type HostRequest,
  type SagaCaller,
  type Program,
  type SagaGuard,
  type SagaHost,
  type SagaTurn,
  type StepAnswer,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { joinRecording } from '../record/join-recording.ts';
import { recordedProgram } from '../record/recorded-program.ts';
import { show } from '../values/show.ts';
import { Crash, type World } from '../world/world.ts';
import { simulatedProgram } from '../world/simulated-program.ts';
import type { TestSagaOptions } from '../script/test-options.ts';

/** A request to the host. */
export type TestRequest =
  | { readonly type: 'start' }
  | { readonly type: 'resume'; readonly token: string; readonly answers: readonly StepAnswer[] }
  | { readonly type: 'cancel'; readonly token: string; readonly reason: string | undefined };

/** End of a run. */
export type Ended =
  | Exclude<SagaTurn, SuspendedTurn>
  | { readonly status: 'refused'; readonly error: unknown };

/** Serves each request of a run with a new host, which shares only key and guard with the others. */
export class Serving {
  readonly #program: Program;
  readonly #key: string;
  readonly #guard: SagaGuard | undefined;

  /** @param before - a serving whose tokens this one opens */
  constructor(program: Program, world: World, before?: Serving) {
    this.#program = program;
    this.#key = before === undefined ? generateKey() : before.#key;
    this.#guard = program.forks === undefined ? undefined : memoryGuard({ clock: () => world.clock.now() });
  }

  /** Serves a request; undefined if it died. */
  async serve(world: World, request: TestRequest): Promise<SagaTurn | undefined> {
    const controller = new AbortController();
    world.dead = false;
    world.ended = 0;
    world.kill = (reason) => controller.abort(reason);
    await world.options.restart?.(world.turn);
    const { capabilities } = world;
    const { signal } = controller;
    const caller: SagaCaller = {
      context: world.options.context,
      ...(capabilities === undefined ? {} : { capabilities }),
      progress: ({ value, total, message }) => {
        const of = total === undefined ? '' : `/${total}`;
        world.tell({
          type: 'told',
          what: 'progress',
          text: `${value}${of}${message === undefined ? '' : ` ${message}`}`,
        });
      },
      log: (level, data) =>
        world.tell({
          type: 'told',
          what: 'log',
          text: `${level} ${typeof data === 'string' ? data : JSON.stringify(data)}`,
        }),
    };
    try {
      return await this.#send(this.#host(world), world, request, { caller, signal });
    } catch (error) {
      if (world.dead || error instanceof Crash) return undefined;
      throw inputNotTaken(error, world.options) ?? error;
    }
  }

  #send(host: SagaHost, world: World, request: TestRequest, sent: HostRequest): Promise<SagaTurn> {
    switch (request.type) {
      case 'start':
        return host.start(this.#program.name, world.options.input ?? {}, sent);
      case 'resume':
        return host.resume(request.token, request.answers, sent);
      case 'cancel':
        return host.cancel(request.token, {
          ...sent,
          ...(request.reason === undefined ? {} : { reason: request.reason }),
        });
    }
  }

  #host(world: World): SagaHost {
    const programs = [this.#program, ...(world.options.sagas ?? [])];
    return createSagaHost({
      ...world.options.host,
      sagas: programs.map((program) => simulatedProgram(recordedOn(world, program), world)),
      keys: this.#key,
      audience: 'test',
      testing: { environment: 'test', clock: () => world.clock.now() },
      ...(this.#guard === undefined ? {} : { guard: { store: this.#guard } }),
      hooks: {
        onError: (error) => void world.errors.push(error),
        onWarning: (message) => void (world.dead || world.warnings.push(message)),
        onReject: () => undefined,
        onTurn: () => undefined,
      },
    });
  }
}

/** Wraps a program so that the world keeps its recordings, except of requests that died. */
function recordedOn(world: World, program: Program): Program {
  const { turns, recordings } = world;
  return recordedProgram(program, (value) => value, {
    journal: (recording) => void (world.dead || recordings.set(world.generation, recording)),
    turn: async (recorded) => {
      if (world.dead) return;
      const turn = await recorded();
      turns.push(turn);
      if (turn.end === undefined) return;
      const all = [...turns];
      recordings.set(world.generation, () => joinRecording(all));
    },
  });
}

/** Error for arguments that the saga rejects: names the option of the test. Undefined for another error. */
function inputNotTaken(error: unknown, { input }: TestSagaOptions): SagaTestError | undefined {
  if (!(error instanceof SagaHostError && error.cause instanceof InvalidInput)) return undefined;
  const given = input === undefined ? 'there is no `input` in them' : `theirs is ${show(input)}`;
  return new SagaTestError(
    'script',
    `${error.message}. The arguments of a saga are the \`input\` of its test's options, and ${given}. ` +
      'Write testSaga(saga, { input: { … } }), or sagaProperty(saga, { input: fc.record({ … }) }).',
    { cause: error },
  );
}
