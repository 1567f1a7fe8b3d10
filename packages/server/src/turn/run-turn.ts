import {
  assertJson,
  ClientCannot,
  SagaLimitExceeded,
  TurnAborted,
  type IgnoredAnswer,
  type Outcome,
  type Program,
  type Runtime,
} from '@mcp-saga/core';
import { cannotContinue, isLeftAsItIs, reportCannotContinue } from './cannot-continue.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import type { Caller } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf, type StepIds } from '../wire/step-ids.ts';
import type { TurnFacts } from '../model/hooks.ts';
import type { HostSettings } from '../settings/host-settings.ts';
import { advanceFrom } from '../token/program-state.ts';
import { servedAs } from '../settings/registry.ts';
import { suspend } from './suspend.ts';
import { thrownIn } from './thrown-errors.ts';
import { traced } from './traced-turn.ts';
import { tracedRuntime } from './traced-runtime.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { FailedTurn, SagaTurn } from '../model/turn.ts';
import { turnRuntime } from './turn-runtime.ts';
import type { TurnRequest } from './turn-request.ts';

/** How often a saga may start over within one turn. */
const maxContinuations = 1_000;

/**
 * Runs one turn of an opened saga, and seals what is left of it: open -> advance -> seal.
 *
 * @throws SagaHostError `version_gone`, ReplayMismatch: nothing ran, and the token before this turn stays good
 */
export async function runTurn(settings: HostSettings, request: TurnRequest): Promise<SagaTurn> {
  try {
    return await traced(settings, request, (current) => take(settings, current));
  } catch (error) {
    if (cannotContinue(error)) reportCannotContinue(settings, request.saga, error);
    throw error;
  }
}

async function take(settings: HostSettings, request: TurnRequest): Promise<SagaTurn> {
  const began = settings.clock();
  const deadline = request.end === undefined ? deadlineOf(settings, request.traits, began) : undefined;
  let { program, saga, answers } = request;
  const unknown: string[] = [];
  for (let continued = 0; ; continued += 1) {
    const current = { ...request, program, saga };
    const ids = stepIdsOf(saga.state.generation);
    const runtime = runtimeOf(settings, current, deadline, ids);
    const { inner, older } = ids.fromWire(answers);
    // oxlint-disable-next-line no-await-in-loop -- it starts over
    const outcome = await advance(program, saga.state.program, inner, runtime, request.end);
    reportIgnored(settings, saga, [...older, ...outcome.ignored]);
    const unasked = outcome.ignored.filter(({ why }) => why === 'unknown');
    unknown.push(...older.map(({ stepId }) => stepId), ...unasked.map(({ stepId }) => ids.toWire(stepId)));
    if (outcome.status !== 'continued') {
      const mayStay = request.mayStay === true && continued === 0;
      const last = { ...request, program, saga, mayStay };
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      const ended = await concluded(settings, last, outcome, runtime);
      // The same object: what notifies the queue is kept by it.
      const turn = unknown.length === 0 ? ended : Object.assign(ended, { unknown: fewOf(unknown) });
      // A rollback, or another process, can still continue it.
      if (isLeftAsItIs(turn, program)) throw turn.error;
      return reported(settings, turn, began, request.caller);
    }
    try {
      if (continued >= maxContinuations) {
        throw new SagaLimitExceeded(`The saga started over more than ${maxContinuations} times in one turn.`);
      }
      // oxlint-disable-next-line no-await-in-loop -- it starts over
      ({ program, saga } = await continuedSaga(settings, current, outcome));
      answers = new Map();
    } catch (error) {
      const ended = { ...factsOf(saga), compensated: [], residue: [] };
      return reported(settings, { status: 'failed', error, ...ended }, began);
    }
    // oxlint-disable-next-line no-await-in-loop -- it starts over
    await request.goesOnAs?.(program as Program);
  }
}

/** Where the guard is down, nobody aborted the request: what the host says to that is what its client gets. */
async function advance(
  program: Pick<Program, 'advance'>,
  ...turn: Parameters<Program['advance']>
): Promise<Outcome> {
  try {
    return await advanceFrom(program, ...turn);
  } catch (error) {
    const { cause } = error instanceof TurnAborted ? error : {};
    throw cause instanceof SagaHostError && cause.code === 'guard_down' ? cause : error;
  }
}

/** Enough of what a client made up to know it again. */
function fewOf(ids: readonly string[]): readonly string[] {
  return ids.slice(0, 5).map((id) => id.slice(0, 128));
}

function runtimeOf(
  settings: HostSettings,
  request: TurnRequest,
  deadline: number | undefined,
  ids: StepIds,
): Runtime {
  const runtime = turnRuntime(settings, request, deadline);
  const { span } = request;
  return span === undefined ? runtime : tracedRuntime(runtime, span, ids, settings.hooks.onError);
}

function deadlineOf(settings: HostSettings, traits: DialectTraits, began: number): number {
  return traits.runs === false ? Number.NEGATIVE_INFINITY : began + settings.turnBudget;
}

async function continuedSaga(
  settings: HostSettings,
  { program: current, saga, caller, isGuarded = false }: TurnRequest,
  { program: wanted, args, progress }: Extract<Outcome, { status: 'continued' }>,
): Promise<{ readonly program: Program; readonly saga: SealedSaga }> {
  const program = settings.registry.version(wanted.name, wanted.version, settings.clock());
  if (program === undefined) {
    throw new SagaHostError(
      'unknown_saga',
      `continueAs: this host does not serve version '${wanted.version}' of '${wanted.name}'. Add it to its sagas.`,
      { public: false },
    );
  }
  // The client waits for a result of the kind it asked for.
  if (servedAs(program) !== servedAs(current)) {
    throw new SagaHostError(
      'unknown_saga',
      `continueAs: '${program.name}' serves something else than '${saga.claims.saga.name}'.`,
      { public: false },
    );
  }
  // The token that this turn came from can be used again: the other saga would run once for each time. (E7)
  const isAccepting = current.forks === 'accept' || (!isGuarded && saga.claims.turn > 0);
  if (program.forks === 'refuse' && isAccepting) {
    throw new TypeError(
      `continueAs: '${program.name}' refuses forks, and where it goes on from they are accepted, so that an older ` +
        "token would begin it once more. Declare forks: 'refuse' there as well.",
    );
  }
  if (!(await settings.authorize(caller, program))) {
    throw new SagaHostError('forbidden', `Not allowed: ${program.name}`);
  }
  assertJson(args, { where: `arguments of continueAs('${wanted.name}')` });
  const state = await program.begin(args, progress, 'server');
  const { claims } = saga;
  return {
    program,
    saga: {
      ...saga,
      // The entry stays: a client repeats the call it made at the start. (T6)
      claims: { ...claims, saga: { name: program.name, version: program.version } },
      state: { ...saga.state, program: state, generation: saga.state.generation + 1 },
    },
  };
}

async function concluded(
  settings: HostSettings,
  request: TurnRequest,
  outcome: Exclude<Outcome, { status: 'continued' }>,
  runtime: Runtime,
): Promise<SagaTurn> {
  const { program, saga } = request;
  const facts = factsOf(saga);
  const failed = (error: unknown, from?: Extract<Outcome, { status: 'failed' }>): SagaTurn => {
    const { compensated = [], residue = [] } = from ?? {};
    return { status: 'failed', error: explained(error, request.traits), compensated, residue, ...facts };
  };
  try {
    switch (outcome.status) {
      case 'suspended':
        return await suspend(settings, request, outcome);
      case 'completed':
        return { status: 'completed', result: outcome.result, ...facts };
      case 'failed':
        return failed(outcome.error, outcome);
    }
  } catch (error) {
    if (outcome.status !== 'suspended') return failed(error);
    // It cannot be kept, so it ends here, as after an unknown outcome: nothing is stranded. (T11)
    // There is no later turn of the client's to which the undoing could be left.
    const now = { ...runtime, defersEffects: false };
    const ended = await advance(program, outcome.state, new Map(), now, { error });
    if (ended.status !== 'suspended') return failed(error, ended.status === 'failed' ? ended : undefined);
    try {
      // A guard keeps what no token of a client could hold, if the host continues at once. A repetition may not meet the limit
      // any more. (E1)
      if (ended.goesOn !== undefined) return await suspend(settings, { ...request, isForGuard: true }, ended);
    } catch {
      // Undone below.
    }
    // Waits between two attempts of an undo are held: no client could come back with the token.
    const unkept = { ...now, checkpointBeforeUndo: false };
    const undone = await advance(program, outcome.state, new Map(), unkept, { error });
    return failed(error, undone.status === 'failed' ? undone : undefined);
  }
}

function factsOf({ claims, sagaId }: SealedSaga): Pick<SagaTurn, 'saga' | 'sagaId' | 'turn'> {
  return { saga: claims.saga.name, sagaId, turn: claims.turn + 1 };
}

function reportIgnored(settings: HostSettings, saga: SealedSaga, ignored: readonly IgnoredAnswer[]): void {
  const { sagaId, claims } = saga;
  for (const answer of ignored) {
    settings.hooks.onIgnoredAnswer({ ...answer, saga: claims.saga.name, sagaId });
  }
}

/** Tells the hooks of a turn that ended. */
function reported(settings: HostSettings, turn: SagaTurn, began: number, caller: Caller = {}): SagaTurn {
  const { saga, sagaId, status } = turn;
  settings.hooks.onTurn({
    saga,
    sagaId,
    turn: turn.turn,
    status,
    ...(status === 'failed' ? failureOf(turn, caller) : {}),
    tokenBytes: status === 'suspended' ? turn.token.length : 0,
    duration: settings.clock() - began,
  });
  return turn;
}

/** The error of a question that nobody could be asked, with what there is to say of its client. Its body read none of it. (R2) */
function explained(error: unknown, { unasked }: DialectTraits): unknown {
  if (unasked === undefined || !(error instanceof ClientCannot) || error.need === 'wait') return error;
  return new ClientCannot(error.stepId, error.need, unasked);
}

/** What failed a turn, and why it could not undo what it leaves behind, as far as this process knows. */
function failureOf(
  { sagaId, error, residue }: FailedTurn,
  caller: Caller,
): Pick<TurnFacts, 'error' | 'residue'> {
  const thrown = thrownIn(sagaId, caller);
  thrown.reveal(error);
  if (residue.length === 0) return { error };
  return {
    error,
    residue: residue.map((step) => {
      const why = thrown.ofUndo(step.stepId);
      thrown.reveal(why);
      return why === undefined ? step : { ...step, error: why };
    }),
  };
}
