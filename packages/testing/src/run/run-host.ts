import {
  generateKey,
  InvalidInput,
  memoryStore,
  SagaHostError,
  type HostRequest,
  type SagaCaller,
  type Program,
  type SagaStore,
  type SagaHost,
  type SagaInspection,
  type SagaTurn,
  type StepAnswer,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { hostOf, present } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { joinRecording } from '../record/join-recording.ts';
import { recordedProgram } from '../record/recorded-program.ts';
import { show } from '../values/show.ts';
import { Crash, type World } from '../world/world.ts';
import { simulatedProgram } from '../world/simulated-program.ts';
import type { TestSagaOptions } from '../script/test-options.ts';

export type TestRequest =
  | { readonly type: 'start' }
  | {
      readonly type: 'resume' | 'wake';
      readonly token: string;
      readonly answers: readonly StepAnswer[];
    }
  | { readonly type: 'cancel'; readonly token: string; readonly reason: string | undefined };

export type Ended =
  | Exclude<SagaTurn, SuspendedTurn>
  | { readonly status: 'refused'; readonly error: unknown };

/**
 * Serves each request of a run with a new host, which shares only key and store with the others.
 */
export class Serving {
  readonly #program: Program;
  readonly #key: string;
  readonly #store: SagaStore | undefined;

  /** @param before - a serving with the key and the store for this serving */
  constructor(program: Program, world: World, before?: Serving) {
    this.#program = program;
    this.#key = before === undefined ? generateKey() : before.#key;
    if (world.options.store === false) return;
    this.#store = (before === undefined ? undefined : before.#store) ?? lastingStore(world);
  }

  /** Serves a request; undefined if it died. */
  async serve(world: World, request: TestRequest): Promise<SagaTurn | undefined> {
    const controller = new AbortController();
    world.dead = false;
    world.unreported.clear();
    world.kill = (reason) => controller.abort(reason);
    await world.options.restart?.(world.turn);
    const { capabilities } = world;
    const { signal } = controller;
    const told = (what: 'progress' | 'log', text: string): void =>
      world.tell({ type: 'told', what, text });
    const client: SagaCaller = {
      ...present({ user: world.options.user }),
      progress: ({ value, total, message }) => {
        const of = total === undefined ? '' : `/${total}`;
        told('progress', `${value}${of}${message === undefined ? '' : ` ${message}`}`);
      },
      log: (level, data) =>
        told('log', `${level} ${typeof data === 'string' ? data : JSON.stringify(data)}`),
    };
    // A queue runs its turns without a request, and so without a user. The test is the owner.
    const caller: SagaCaller = {
      ...(request.type === 'wake' ? {} : client),
      ...present({ capabilities }),
      principal: 'anonymous',
    };
    try {
      return await this.#send(this.#host(world), world, request, { caller, signal });
    } catch (error) {
      if (world.dead || error instanceof Crash) return undefined;
      throw inputNotTaken(error, world.options) ?? error;
    }
  }

  /** Opens a token, as the operator does. */
  inspect(world: World, token: string): Promise<SagaInspection> {
    return this.#host(world).inspect(token);
  }

  #send(host: SagaHost, world: World, request: TestRequest, sent: HostRequest): Promise<SagaTurn> {
    switch (request.type) {
      case 'start':
        return host.start(this.#program.name, world.options.input ?? {}, sent);
      case 'resume':
      case 'wake':
        return host.resume(request.token, request.answers, sent);
      case 'cancel':
        return host.cancel(request.token, { ...sent, ...present({ reason: request.reason }) });
    }
  }

  #host(world: World): SagaHost {
    const programs = [this.#program, ...(world.options.sagas ?? [])];
    return hostOf({
      // As the client of a script: it comes back by itself.
      starts: { unkeyed: 'handshake' },
      ...world.options.host,
      ...present({ services: world.options.services }),
      sagas: programs.map((program) => simulatedProgram(recordedOn(world, program), world)),
      keys: this.#key,
      name: 'test',
      anonymous: { tasks: 'accept' }, // no advice about the users of a server
      testing: { environment: 'test', clock: () => world.clock.now() },
      ...(this.#store && { store: this.#store, shortTokens: false }),
      hooks: {
        onError: (error) => void world.errors.push(error),
        onWarning: (message) => void (world.dead || world.warnings.push(message)),
        onReject: () => undefined,
        onTurn: () => void (world.hasAdvanced = true),
      },
    });
  }
}

/**
 * Makes a store that forgets nothing: a fork goes back in time, and finds each used token with its
 * response.
 */
function lastingStore({ clock }: World): SagaStore {
  // A shared store of production accepts tokens from before its first guarded turn.
  const store = memoryStore({ clock: () => clock.now(), olderTokens: 'accept' });
  const expiresAtMs = Number.MAX_SAFE_INTEGER;
  return {
    ...store,
    write: (key, value, expected, { charge }) =>
      store.write(key, value, expected, { expiresAtMs, charge }),
  };
}

/** Wraps a program to keep recordings in the world, except of dead requests. */
function recordedOn(world: World, program: Program): Program {
  return recordedProgram(
    program,
    (value) => value,
    async (recorded) => {
      if (world.dead) return;
      const turn = await recorded();
      world.turns.push(turn);
      if (turn.end === undefined) return;
      const all = world.turns.filter((each) => each === turn || each.end === undefined); // its own end only
      for (const at of world.recordings.keys())
        if (at > world.generation) world.recordings.delete(at);
      world.recordings.set(world.generation, () => joinRecording(all));
    },
  );
}

/** Error for rejected arguments, with the option of the test. Undefined for another error. */
function inputNotTaken(error: unknown, { input }: TestSagaOptions): SagaTestError | undefined {
  if (!(error instanceof SagaHostError && error.cause instanceof InvalidInput)) return undefined;
  const given = input === undefined ? 'got none' : `got ${show(input)}`;
  return new SagaTestError(
    'script',
    `${error.message}. Pass the arguments of the saga as \`input\`: ${given}. ` +
      "Write testSaga(saga, { input: { … } }), sagaProperty(saga, { input: fc.record({ … }) }), or --input '{ … }' on the command line.",
    { cause: error },
  );
}
