/**
 * One turn at the host: a claimed token and answers go in, and a response comes out that can be
 * repeated.
 *
 * 1. `Lease` (`turn-lease.ts`) claims the turn at the guard, or finds what another request has
 *    done with the token.
 * 2. `turnRuntime` makes what the engine gets from this host, and `advanceFrom` runs the turn of
 *    the program.
 * 3. Each commit stores a response, begins the next turn under the same lease, and tells the
 *    queue.
 * 4. `suspend` seals the state into the next token. A state that does not fit ends the saga,
 *    which is undone within this turn.
 * 5. The response is sealed, then stored at the guard, and only then returned. The queue gets its
 *    message last.
 *
 * - Whoever repeats the request gets the stored response. A turn without a response is run again
 *   only as an interrupted one.
 * - A turn that changed nothing gives its token back.
 * - If this process cannot continue the saga, nothing runs, and the token stays good for another
 *   one.
 */
import { completedBy } from '../wire/saga-result.ts';
import {
  SagaLimitExceeded,
  TurnAborted,
  type IgnoredAnswer,
  type Program,
  type Services,
} from '@mcp-saga/core';
import {
  type CommitPoint,
  type CommittedTurn,
  assertJson,
  decodeHead,
  type ClientAnswer,
  type Outcome,
  type Runtime,
  type StepEvent,
  withoutKeys,
  engineOf,
} from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import { createSecret } from '@mcp-saga/seal';
import {
  cannotContinue,
  isUntouchedMismatch,
  reportCannotContinue,
  advanceFrom,
} from '../token/resolve-program.ts';
import type { Caller } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';
import { stepIdsOf, type StepIds } from '../wire/step-answers.ts';
import { type HostParts, mayHaveUndos } from '../settings/host-parts.ts';
import { servedAs } from '../settings/registry.ts';
import { suspend } from './suspend.ts';
import { TurnTrace } from './traced-turn.ts';
import { tracedRuntime } from './traced-runtime.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn } from '../model/turn.ts';
import { explained, failureOf } from './thrown-errors.ts';
import { firstHolder } from './first-effects.ts';
import { turnRuntime, type RuntimeRequest } from './turn-runtime.ts';
import { answersOf, type TurnRequest } from './turn-request.ts';
import { holderAfterCommit, resumableOf } from '../model/holder.ts';
import type { GuardedTurn, Lease } from './turn-lease.ts';

/** Maximum number of `continueAs` in a turn. */
const maxContinuations = 1_000;

/**
 * Runs one turn of an opened saga, seals it, keeps it at the guard, and notifies the queue. If the
 * code of this process cannot continue the saga, throws `version_gone` or ReplayMismatch: nothing
 * ran, and the token stays valid.
 */
export async function runTurn(
  host: HostParts,
  request: TurnRequest,
  lease: Lease,
): Promise<GuardedTurn> {
  const run = new TurnRun(host, request, lease, await host.services());
  let turn: SagaTurn | undefined;
  try {
    turn = await (run.trace === undefined ? run.take() : run.trace.within(() => run.take()));
    run.trace?.end(turn);
    await lease.seal(turn);
  } catch (error) {
    return await lease.fail(turn === undefined ? run.failed(error) : error);
  }
  await lease.finish(turn);
  return { turn, isCommitted: false };
}

class TurnRun {
  /** Undefined without telemetry. */
  readonly trace: TurnTrace | undefined;

  readonly #host: HostParts;
  readonly #services: Services;
  readonly #lease: Lease;
  /** Request with the changes of commits and `continueAs`. */
  #request: TurnRequest;
  #began: number;
  /** End of the time of the turn (ms since the epoch). Undefined: it has any time. */
  #deadline: number | undefined;
  /** Answers to the questions of the turn, by step ID. */
  #answers: ReadonlyMap<string, ClientAnswer> = new Map();
  /** Answers to questions before the last `continueAs`. */
  #older: readonly IgnoredAnswer[] = [];
  /** IDs of answers that no step waited for. */
  readonly #unknown: string[] = [];

  constructor(host: HostParts, request: TurnRequest, lease: Lease, services: Services) {
    this.#host = host;
    this.#services = services;
    this.#lease = lease;
    const { telemetry } = host.observer;
    this.trace = telemetry && new TurnTrace(telemetry, host.observer.hooks, request);
    this.#request = { ...request, saga: this.trace?.begin(request.saga) ?? request.saga };
    this.#began = host.timing.clock();
    if (request.intent.kind === 'answer') this.#deadline = this.#deadlineFrom(this.#began);
  }

  /** `true` if the turn can end between two steps: a guard keeps the state, or the client gets it. */
  get #commits(): boolean {
    const { intent, holder, program } = this.#request;
    const isKept = this.#lease.canCommit && program.reuse !== 'ok';
    return intent.kind === 'answer' && (isKept || resumableOf(holder) !== undefined);
  }

  /** How long what must not be lost waits: for a token of the client, or for a commit. */
  get #defersVital(): RuntimeRequest['defersVital'] {
    if (this.#lease.isUnnamed) return this.#commits ? 'vital' : undefined;
    const holder = firstHolder(this.#host, this.#request);
    if (holder === 'queue') return this.#commits ? 'untold' : undefined;
    return holder === 'client' ? 'vital' : undefined;
  }

  async take(): Promise<SagaTurn> {
    for (let continued = 0; ; continued += 1) {
      const { program, saga, intent, caller } = this.#request;
      const ids = stepIdsOf(saga.state.generation);
      const runtime = this.#runtime(ids);
      const { inner, older } = ids.fromWire(answersOf(intent));
      this.#older = older;
      this.#answers = inner;
      const end = intent.kind === 'end' ? { error: intent.error } : undefined;
      const outcome = await advanceFrom(program, saga.state.program, inner, runtime, end);
      await this.#noteIgnored(outcome.ignored, ids);
      if (outcome.status !== 'continued') {
        const ended = await this.#concluded(outcome, runtime);
        const turn = this.#withUnknown(ended);
        // A rollback, or another process, can still continue it.
        if (isUntouchedMismatch(turn, program)) throw turn.error;
        return this.#reported(turn, caller);
      }
      try {
        if (continued >= maxContinuations) {
          throw new SagaLimitExceeded(
            `The saga started over more than ${maxContinuations} times in one turn.`,
          );
        }
        const next = await continuedSaga(this.#host, this.#request, outcome);
        this.#request = {
          ...this.#request,
          ...next,
          intent: intent.kind === 'end' ? intent : { ...intent, answers: new Map() },
          mayStay: false,
        };
      } catch (error) {
        const ended = { ...factsOf(this.#request.saga), compensated: [], uncompensated: [] };
        return this.#reported({ status: 'failed', error, ...ended });
      }
    }
  }

  /** Reports an error of the turn, and returns the error for the client. */
  failed(error: unknown): unknown {
    this.trace?.fail(error);
    const { observer } = this.#host;
    if (cannotContinue(error)) reportCannotContinue(observer, this.#request.saga, error);
    // The client gets the error of the host that aborted the turn, such as `guard_down`.
    const { cause } = error instanceof TurnAborted ? error : {};
    return cause instanceof SagaHostError ? cause : error;
  }

  #deadlineFrom(began: number): number {
    const { effects } = this.#request.dialect;
    return effects === 'never' ? Number.NEGATIVE_INFINITY : began + this.#host.limits.turnBudget;
  }

  #runtime(ids: StepIds): Runtime {
    const plain = turnRuntime(
      this.#host,
      {
        ...this.#request,
        services: this.#services,
        mayKeep: this.#lease.canCommit,
        defersVital: this.#defersVital,
      },
      this.#deadline,
      () => this.#request.saga,
    );
    const commit = (point: CommitPoint): Promise<CommittedTurn | undefined> =>
      this.#commit(point, ids);
    const { observer } = plain;
    const observe = (event: StepEvent): void => {
      // A read does no harm if another run has taken over the turn.
      if (event.type === 'started' && event.reads !== true) this.#lease.begins(nameOf(event, ids));
      observer.observe(event);
    };
    const noted = { ...plain, observer: { ...observer, observe } };
    const runtime = this.#commits ? { ...noted, turn: { commit, ...plain.turn } } : noted;
    const { onError } = this.#host.observer.hooks;
    return this.trace?.span === undefined
      ? runtime
      : tracedRuntime(runtime, this.trace, ids, onError);
  }

  /** Ends the turn with a state for repeated requests, and begins the next turn. */
  async #commit(point: CommitPoint, ids: StepIds): Promise<CommittedTurn | undefined> {
    const { program, caller, holder, before } = this.#request;
    if (point.reason === 'step' && holder.kind === 'store') return undefined;
    const { turn, saga } = await suspend(this.#host, this.#request, this.#lease.canCommit, point);
    await this.#noteIgnored(point.ignored, ids);
    const committed = this.#withUnknown(turn);
    this.#reported(committed, caller);
    this.trace?.end(committed);
    try {
      // The turns after that of an interrupted request belong to the request that repeats it, and
      // those of an abandoned saga to a further look at its end.
      if (before?.of === 'same request' || holder.kind === 'nobody')
        await this.#lease.handOver(committed);
      await this.#lease.next({ turn: committed, saga, program });
      await resumableOf(holder)?.report(committed);
    } catch (error) {
      throw error instanceof TurnAborted ? error : new TurnAborted(error);
    }
    const next = this.trace?.begin(saga) ?? saga;
    this.#request = {
      ...this.#request,
      saga: next,
      holder: holderAfterCommit(holder),
      mayStay: false,
    };
    this.#began = this.#host.timing.clock();
    // Compensation has its own time budget: the client may not return.
    if (point.reason === 'undo') this.#deadline = this.#deadlineFrom(this.#began);
    const { tokenBytes, claims } = saga;
    return { turn: claims.turn + 1, tokenBytes, deadline: this.#deadline };
  }

  async #concluded(
    outcome: Exclude<Outcome, { status: 'continued' }>,
    runtime: Runtime,
  ): Promise<SagaTurn> {
    const failed = (error: unknown, from?: Outcome): SagaTurn => {
      const { compensated, uncompensated } = from?.status === 'failed' ? from : nothing;
      const { dialect, saga } = this.#request;
      return {
        status: 'failed',
        error: explained(error, dialect),
        compensated,
        uncompensated,
        ...factsOf(saga),
      };
    };
    try {
      switch (outcome.status) {
        case 'suspended':
          return (await suspend(this.#host, this.#request, this.#lease.isGuarded, outcome)).turn;
        case 'completed':
          return {
            ...completedBy(this.#request.program, outcome.result),
            ...factsOf(this.#request.saga),
          };
        case 'failed':
          return failed(outcome.error, outcome);
      }
    } catch (error) {
      if (outcome.status !== 'suspended') return failed(error);
      // The state does not fit a token, so the saga ends and compensates within this turn.
      const { program } = this.#request;
      const turn = { ...runtime.turn, defersEffects: undefined, deadline: undefined };
      const { commit: _, ...unkept } = turn;
      const ended = await advanceFrom(
        program,
        outcome.state,
        new Map(),
        { ...runtime, turn },
        { error },
      );
      if (ended.status !== 'suspended') return failed(error, ended);
      // Waits between two attempts of an undo are held: no client could come back with the token.
      const held = { ...runtime, turn: unkept };
      return failed(error, await advanceFrom(program, ended.state, new Map(), held, { error }));
    }
  }

  /** `true` if no answer to a question of the turn was used. */
  #isUndecided(ignored: readonly IgnoredAnswer[]): boolean {
    const { asked } = decodeHead(this.#request.saga.state.program.head);
    const refused = new Set(ignored.map(({ stepId }) => stepId));
    const answered = [...this.#answers.keys()].filter((stepId) => Object.hasOwn(asked, stepId));
    return answered.every((stepId) => refused.has(stepId));
  }

  /** Reports answers that were not used, and notes it if they have decided nothing. */
  async #noteIgnored(ignored: readonly IgnoredAnswer[], ids: StepIds): Promise<void> {
    const { sagaId, claims } = this.#request.saga;
    if (ignored.length > 0 && this.#isUndecided(ignored)) await this.#lease.tookNothing();
    for (const answer of [...this.#older, ...ignored]) {
      this.#host.observer.hooks.onIgnoredAnswer({ ...answer, saga: claims.saga.name, sagaId });
    }
    const unasked = ignored.filter(({ why }) => why === 'unknown');
    const ofOlder = this.#older.map(({ stepId }) => stepId);
    this.#unknown.push(...ofOlder, ...unasked.map(({ stepId }) => ids.toWire(stepId)));
    this.#older = [];
  }

  /** Adds the unknown IDs to the same object: the notification of the queue is stored by object. */
  #withUnknown<T extends SagaTurn>(turn: T): T {
    // Bounds IDs that a client chose.
    const unknown = this.#unknown.slice(0, 5).map((id) => id.slice(0, 128));
    return unknown.length === 0 ? turn : Object.assign(turn, { unknown });
  }

  /** Reports a turn to the hooks. */
  #reported(turn: SagaTurn, caller: Caller = {}): SagaTurn {
    const { saga, sagaId, status } = turn;
    this.#host.observer.hooks.onTurn({
      saga,
      sagaId,
      turn: turn.turn,
      status,
      ...(status === 'failed' ? failureOf(turn, caller) : {}),
      tokenBytes: status === 'suspended' ? turn.token.length : 0,
      durationMs: this.#host.timing.clock() - this.#began,
    });
    return turn;
  }
}

const nothing = { compensated: [], uncompensated: [] };

async function continuedSaga(
  host: HostParts,
  { program: current, saga, caller, holder }: TurnRequest,
  { program: wanted, args, progress }: Extract<Outcome, { status: 'continued' }>,
): Promise<{ readonly program: Program; readonly saga: SealedSaga }> {
  const program = host.registry.version(wanted.name, wanted.version, host.timing.clock());
  if (program === undefined) {
    throw new SagaHostError(
      'unknown_saga',
      `continueAs: the host does not serve version '${wanted.version}' of '${wanted.name}'. Add the version to the sagas of the host.`,
      { public: false },
    );
  }
  // The client waits for a result of the same kind.
  if (servedAs(program) !== servedAs(current)) {
    throw new SagaHostError(
      'unknown_saga',
      `continueAs: '${program.name}' and '${saga.claims.saga.name}' must both be tools, prompts, or resources.`,
      { public: false },
    );
  }
  // An older token could start the other saga again.
  if (current.reuse === 'ok' && program.reuse !== 'ok') {
    throw optionError(
      `continueAs: '${current.name}' declares reuse: 'ok', but '${program.name}' does not, and an older token could ` +
        'start it again. Declare it for both, or for none.',
    );
  }
  // A queue acts for the client, which was allowed to start the saga.
  const isForClient = holder.kind === 'queue' || holder.kind === 'nobody';
  if (!isForClient && !(await host.gate.authorize(caller, program))) {
    throw new SagaHostError('forbidden', `Not allowed: ${program.name}`);
  }
  assertJson(args, { where: `arguments of continueAs('${wanted.name}')` });
  const state = await engineOf(program).begin(args, progress, 'server');
  const { claims } = saga;
  // Without a store, the secret may be derived from the key of the client (`requests/start.ts`).
  const isDerivable = !mayHaveUndos(host, current);
  const secret = isDerivable && mayHaveUndos(host, program) ? createSecret() : saga.state.secret;
  return {
    program,
    saga: {
      ...saga,
      // The entry stays: a client repeats the call of the start.
      claims: { ...claims, saga: { name: program.name, version: program.version } },
      state: { ...saga.state, secret, program: state, generation: saga.state.generation + 1 },
    },
  };
}

function factsOf({ claims, sagaId }: SealedSaga): Pick<SagaTurn, 'saga' | 'sagaId' | 'turn'> {
  return { saga: claims.saga.name, sagaId, turn: claims.turn + 1 };
}

/** Names a step for people: an undo has a path that ends with `~` and the ID of its step. */
function nameOf({ path }: StepEvent, { toWire }: Pick<StepIds, 'toWire'>): string {
  const [, before = '', undone] = /^(.*\/)?~([^/]*)$/.exec(withoutKeys(path)) ?? [];
  return undone === undefined
    ? `'${toWire(withoutKeys(path))}'`
    : `the undo of '${toWire(before + undone)}'`;
}
