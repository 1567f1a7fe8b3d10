import { AnswerConflict, TurnAborted, type Awaitable, type Program } from '@mcp-saga/core';
import { present } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import {
  askGuard,
  busyWait,
  claimOf,
  digestOf,
  guardFull,
  tooLate,
  type TurnClaim,
} from '../guard/ask-guard.ts';
import type { Fence, GuardClaim, GuardVerdict, TurnResult } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { letProcessEnd, longestTimerMs, sleep } from '../settings/clock.ts';
import type { GuardAccess, HostParts } from '../settings/host-parts.ts';
import {
  openRequest,
  openStart,
  sealResponse,
  type RetryableRequest,
} from '../token/guard-records.ts';
import { isNamed, roundOf } from '../token/sealed-saga.ts';
import { cannotContinue } from '../token/resolve-program.ts';
import { repeatTurn } from './repeat-turn.ts';
import { SagaHostError } from '../wire/errors.ts';
import { settleTurn, startLater } from './settle.ts';

/** Request for the turn of a token. */
export interface LeaseRequest extends TurnClaim {
  /** `true` if the request first finishes an interrupted request. */
  readonly awaits?: boolean;
  /**
   * `true` for a start that cannot be repeated: nothing is claimed, and only the turns after a commit
   * are kept.
   */
  readonly isUnnamed?: boolean;
  readonly signal: AbortSignal;
}

/** Right to run a turn. */
export interface Claimed {
  /** Interrupted request. */
  readonly interrupted?: RetryableRequest | undefined;
  /** `true` if `lost` runs with its own answers, before this request with other answers. */
  readonly isAwaited: boolean;
  /** `true` if an interrupted request ran before this request, and changed nothing. */
  readonly isBehind: boolean;
}

/** Kept turn. */
export interface GuardedTurn {
  readonly turn: SagaTurn;
  /** `true` for a committed turn that this run does not continue. No client gets the token. */
  readonly isCommitted: boolean;
  /**
   * `true` if the turn was kept before, and its token was used. `false` for a kept turn with a good
   * token.
   */
  readonly wentOn?: boolean;
  /** `true` for a kept turn that ran while this request waited. */
  readonly hasWaited?: boolean;
  /** `true` if the request that was looked for has used a token before this turn. */
  readonly isKnown?: true;
}

/** Committed turn, and start of the next turn. */
export interface CommittedSaga {
  readonly turn: SuspendedTurn;
  readonly saga: SealedSaga;
  readonly program: Pick<Program, 'reuse'>;
}

/**
 * Right to run the turns of a saga until the request ends. A token runs once, and a repeated
 * request gets the same response.
 */
export class Lease {
  readonly #host: HostParts;
  /** Undefined: older tokens may be used again, and nothing is claimed or kept. */
  readonly #guard: GuardAccess | undefined;
  readonly #request: LeaseRequest | undefined;
  /** The saga as the token of the current turn holds it. */
  #saga: SealedSaga;
  #claim: GuardClaim | undefined;
  #giveUp = Number.POSITIVE_INFINITY;
  #waits = 0;
  #isAwaited = false;
  #isBehind = false;
  #fence: Fence | undefined;
  /** Renews the lease while the turn runs. */
  #renewals: ReturnType<typeof setInterval> | undefined;
  /** The last renewal, until it is stored. */
  #renewal: Promise<unknown> | undefined;
  #response: string | undefined;
  #hasCommitted = false;
  /** Effects that this run has begun since the last commit. */
  readonly #begun = new Set<string>();
  /** `true` until the first commit of a start that cannot be repeated. */
  #isUnnamed: boolean;
  #undecided: TurnResult['undecided'];
  #ownDigest: string | undefined;
  /** Committed turn that another run continues. */
  #left: SuspendedTurn | undefined;

  /** @param request - undefined: older tokens may be used again, or the saga has no token yet */
  constructor(host: HostParts, saga: SealedSaga, request?: LeaseRequest) {
    this.#host = host;
    this.#saga = saga;
    this.#request = request;
    this.#guard = request === undefined ? undefined : host.guard;
    this.#isUnnamed = request?.isUnnamed === true;
  }

  /**
   * The saga at the current turn. After the claim of a start that another request has begun, it is
   * the saga of that request.
   */
  get saga(): SealedSaga {
    return this.#saga;
  }

  /** `true` if a guard keeps the turn. */
  get isGuarded(): boolean {
    return this.#guard !== undefined && !this.#isUnnamed;
  }

  /** `true` for a start that cannot be repeated, until its first commit. */
  get isUnnamed(): boolean {
    return this.#isUnnamed;
  }

  /** `true` if a guard keeps the turns after a commit. */
  get canCommit(): boolean {
    return this.#guard !== undefined;
  }

  /**
   * Claims the turn of the token, or returns the turn that the guard kept. Waits while another
   * process runs the same request.
   * @throws TokenRefused `used`
   * @throws SagaHostError `busy`, `guard_full`, `guard_down`
   */
  async claim(): Promise<Claimed | GuardedTurn> {
    const isBehind = this.#isBehind;
    this.#hold(undefined);
    this.#undecided = undefined;
    this.#isAwaited = false;
    const request = this.#request;
    const guard = this.#guard;
    if (request === undefined || guard === undefined) return { isAwaited: false, isBehind };
    if (this.#isUnnamed) return { isAwaited: false, isBehind };
    // Before the claim: if they cannot be made, nothing has run.
    await this.#host.services();
    const { observer, timing, limits } = this.#host;
    if (this.#claim === undefined) {
      this.#claim = await claimOf(this.#host, this.#saga, request);
      this.#giveUp = timing.clock() + timing.leaseMs;
    }
    for (; ; this.#waits += 1) {
      const { awaits = false } = request;
      const verdict = await this.#begin(guard, { ...this.#claim, ...(awaits ? { awaits } : {}) });
      if (verdict === 'conflict') throw new TokenRefused('used');
      if (verdict === 'full') throw guardFull(observer);
      if (verdict === 'busy') {
        if (request.signal.aborted || timing.clock() >= this.#giveUp) throw tooLate();
        await sleep(busyWait(this.#waits), request.signal);
        continue;
      }
      if ('response' in verdict) {
        const { sagaId = this.#saga.sagaId } = verdict;
        this.#saga = { ...this.#saga, sagaId };
        const repeated = await repeatTurn(this.#host, this.#saga, verdict, request);
        return { ...repeated, hasWaited: this.#waits > 0 };
      }
      const { run: fence, interrupted: sealed, other: isAwaited = false } = verdict;
      if (sealed === undefined && (request.keptBytes ?? 0) >= limits.maxKeptBytesPerSaga) {
        await askGuard(observer, () => guard.turns.forget(fence));
        throw guardFull(observer);
      }
      this.#hold(fence);
      this.#isAwaited = isAwaited;
      const interrupted = sealed === undefined ? undefined : await this.#open(sealed);
      return { interrupted, isAwaited, isBehind };
    }
  }

  /**
   * Notes an effect that this run has begun.
   * @param name - name of the step for people
   */
  begins(name: string): void {
    this.#begun.add(name);
  }

  /**
   * Notes that the turn has refused all answers of its request. They have decided nothing: a late
   * copy of a wrong answer may let time pass, and its client then answers with the same token.
   */
  async tookNothing(): Promise<void> {
    if (this.#fence !== undefined) this.#undecided = await this.#digestWithoutAnswers();
  }

  /** Ends the lease of a turn that has run nothing in this process. */
  async giveBack(): Promise<void> {
    await this.#release(!this.#isAwaited);
  }

  /** Ends the run of an awaited request. Throws TokenRefused `used` if the run changed the saga. */
  runsBehind(turn: SagaTurn): void {
    if (this.#isBehind || !isSameTurn(turn, this.#saga)) throw new TokenRefused('used');
    this.#isBehind = true;
    this.#waits += 1;
  }

  /**
   * Keeps a committed turn, and begins the next one. Throws TurnAborted if another run continues,
   * `busy`, or `guard_down`.
   */
  async next({ turn, saga, program }: CommittedSaga): Promise<void> {
    const guard = this.#guard;
    const request = this.#request;
    // Of a saga with `reuse: 'ok'`, only the start is guarded: it keeps its lease until the end.
    if (guard === undefined || request === undefined || program.reuse === 'ok') return;
    const isUnnamed = this.#isUnnamed;
    if (!isUnnamed) await this.#commit(turn);
    this.#isUnnamed = false;
    this.#saga = saga;
    const { brought, keptBytes } = request;
    const verdict = await this.#begin(
      guard,
      await claimOf(this.#host, saga, {
        action: 'resume',
        digest: await this.#digestWithoutAnswers(),
        brought: { ...brought, answers: new Map(), at: this.#host.timing.clock() },
        round: roundOf(saga, { kind: 'request' }),
        // A commit goes on beyond a limit, but a start does not begin there.
        ...(isUnnamed ? present({ keptBytes }) : {}),
      }),
    );
    if (isUnnamed && verdict === 'full') throw guardFull(this.#host.observer);
    if (typeof verdict === 'object' && 'run' in verdict) {
      const { run, interrupted } = verdict;
      this.#hold(interrupted === undefined ? run : undefined);
      if (interrupted === undefined) return isUnnamed ? await this.#announce(turn) : undefined;
      await askGuard(this.#host.observer, () => guard.turns.release(run));
    }
    this.#leave(turn);
  }

  /** Keeps a committed turn, and ends this run. Another run claims the next turn. */
  async handOver(turn: SuspendedTurn): Promise<never> {
    await this.#commit(turn);
    return this.#leave(turn);
  }

  /** Seals the response of the last turn of the request, before it is kept. */
  async seal(turn: SagaTurn): Promise<void> {
    if (this.#fence !== undefined && !isSameTurn(turn, this.#saga))
      this.#response = await this.#seal(turn, false);
  }

  /**
   * Keeps the last turn of the request, and notifies the operator's queue. Throws `busy` if the
   * lease was lost.
   */
  async finish(turn: SagaTurn): Promise<void> {
    const response = this.#response;
    // Without a response, other answers may follow.
    if (response === undefined) await this.#keep((fence, { turns }) => turns.forget(fence));
    else
      await this.#keep((fence, { turns }) => turns.finish(fence, response, this.#resultOf(turn)));
    await settleTurn(this.#host, turn, { isGuarded: this.isGuarded });
  }

  /**
   * Ends the lease of a failed turn. Throws the error, or returns the committed turn that another
   * run continues.
   */
  async fail(error: unknown): Promise<GuardedTurn> {
    if (this.#left !== undefined) return { turn: this.#left, isCommitted: true };
    // Conflicts and incompatible code are found before any effect. After another error, only the
    // same request may return. The effects of an awaited request are still unknown.
    const isLater = cannotContinue(error);
    await this.#release(!this.#isAwaited && (error instanceof AnswerConflict || isLater));
    if (this.#isAwaited && isLater) throw new TokenRefused('used');
    throw error;
  }

  async #open(sealed: string): Promise<RetryableRequest> {
    try {
      if (this.#saga.claims.turn > 0) return await openRequest(this.#host, this.#saga, sealed);
      const { saga, request } = await openStart(this.#host, this.#saga, sealed);
      this.#saga = saga;
      return request;
    } catch (error) {
      await this.#release(false);
      // Another process may be able to finish a start.
      if (this.#saga.claims.turn > 0 || !(error instanceof TokenRefused)) throw error;
      this.#host.observer.reject(error.reason);
      throw tooLate();
    }
  }

  async #begin({ turns }: GuardAccess, claim: GuardClaim): Promise<GuardVerdict> {
    const { observer, timing } = this.#host;
    return await askGuard(observer, () => turns.begin({ now: timing.clock(), ...claim }));
  }

  /** Holds a lease, and renews it until it is let go. */
  #hold(fence: Fence | undefined): void {
    clearInterval(this.#renewals);
    this.#fence = fence;
    const turns = this.#guard?.turns;
    const { timing, observer, limits } = this.#host;
    if (fence === undefined || turns === undefined || timing.isSimulated) return;
    // A step that never settles blocks its saga for the lifetime of a token. The expiry of the token
    // is no bound: a message of a queue continues a saga later.
    const until = timing.clock() + limits.tokenTtl;
    const timer = setInterval(
      () => {
        if (timing.clock() >= until) return clearInterval(timer);
        this.#renewal = askGuard(observer, () => turns.renew(fence, timing.clock())).then(
          (isHeld) => (isHeld ? undefined : clearInterval(timer)),
          // Reported. The next renewal may succeed before the lease is over.
          () => undefined,
        );
      },
      Math.min(timing.leaseMs / 3, longestTimerMs),
    );
    letProcessEnd(timer);
    this.#renewals = timer;
  }

  /** Resolves when no renewal is under way, which would meet the end of the lease. */
  async #stopRenewing(): Promise<void> {
    clearInterval(this.#renewals);
    await this.#renewal;
    this.#renewal = undefined;
  }

  /** @param ranNothing - `true` if the token stays valid */
  async #release(ranNothing: boolean): Promise<void> {
    const isGood = ranNothing && !this.#hasCommitted;
    const fence = this.#fence;
    const turns = this.#guard?.turns;
    await this.#stopRenewing();
    if (fence === undefined || turns === undefined) return;
    const { observer } = this.#host;
    await askGuard(observer, () => (isGood ? turns.forget(fence) : turns.release(fence))).catch(
      () => undefined,
    );
  }

  async #commit(turn: SuspendedTurn): Promise<void> {
    const response = await this.#seal(turn, true);
    await this.#keep((fence, { turns }) => turns.finish(fence, response, this.#resultOf(turn)));
    this.#begun.clear();
    this.#undecided = undefined;
    this.#hold(undefined);
    await this.#tell(turn);
  }

  /**
   * Tells the queue of a start that cannot be repeated, before anything has run that would have to be
   * undone. If the queue fails, or the client has gone, the saga has not begun.
   */
  async #announce(turn: SuspendedTurn): Promise<void> {
    const { signal } = this.#request ?? {};
    if (signal?.aborted !== true && (await this.#tell(turn))) return;
    this.#hasCommitted = false;
    await this.#release(true);
    this.#hold(undefined);
    throw signal?.aborted === true ? new TurnAborted(signal.reason) : startLater();
  }

  /** Tells the queue of a committed turn. Resolves to `false` if the queue has failed. */
  async #tell(turn: SuspendedTurn): Promise<boolean> {
    // A message of the first commit leads to the commits after it.
    const isContinued = this.#hasCommitted;
    this.#hasCommitted = true;
    return await settleTurn(this.#host, turn, { isContinued, isGuarded: true });
  }

  #resultOf(turn: SagaTurn): TurnResult {
    // A start may be repeated as long as the token in its response is good.
    const isLong = turn.status === 'suspended' && isNamed(this.#saga);
    return { respondsUntil: isLong ? turn.expiresAt : undefined, undecided: this.#undecided };
  }

  /** Digest of a request without answers, which only lets time pass. */
  async #digestWithoutAnswers(): Promise<string> {
    return (this.#ownDigest ??= await digestOf('resume', new Map()));
  }

  #leave(turn: SuspendedTurn): never {
    this.#left = turn;
    throw new TurnAborted(new Error('Another run continues behind a commit.'));
  }

  async #seal(turn: SagaTurn, isCommitted: boolean): Promise<string> {
    return await sealResponse(this.#host, this.#saga, turn, isCommitted);
  }

  /**
   * Keeps a response. Throws `busy` for a late response: the next request of the client gets the
   * kept one.
   */
  async #keep(
    keep: (fence: Fence, guard: GuardAccess) => Awaitable<boolean | undefined>,
  ): Promise<void> {
    const fence = this.#fence;
    const guard = this.#guard;
    await this.#stopRenewing();
    if (fence === undefined || guard === undefined) return;
    const isKept = await askGuard(this.#host.observer, () => keep(fence, guard));
    if (isKept === false) throw this.#overtaken();
  }

  /**
   * Makes the error of a run whose lease was taken over. Nobody can say whether its last step acted
   * before or after the other run undid it, and the kept result knows nothing of this run: so its
   * steps are named here, for the client and for the operator.
   */
  #overtaken(): SagaHostError {
    if (this.#begun.size === 0) return tooLate();
    const steps = [...this.#begun].join(', ');
    const error = new SagaHostError(
      'busy',
      `Another process has taken over this request while it ran, and steps may have acted twice, or after their undo: ${steps}. Send the request again to get its result.`,
    );
    this.#host.observer.hooks.onError(error);
    return error;
  }
}

/** Returns `true` if a turn changed nothing: its token belongs to the turn of the request. */
function isSameTurn(turn: SagaTurn, { claims }: SealedSaga): boolean {
  return turn.status === 'suspended' && turn.turn === claims.turn;
}
