import { AnswerConflict, TurnAborted, type Awaitable, type Program } from '@mcp-saga/core';
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
import type { Fence, GuardClaim, GuardVerdict } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { sleep } from '../settings/clock.ts';
import type { GuardAccess, HostParts } from '../settings/host-parts.ts';
import { openRequest, sealResponse, type BegunRequest } from '../token/guard-records.ts';
import { roundOf } from '../token/sealed-saga.ts';
import { cannotContinue } from '../token/resolve-program.ts';
import { repeatTurn } from './repeat-turn.ts';
import { settleTurn } from './suspend.ts';

/** A request for the turn of a token. */
export interface LeaseRequest extends TurnClaim {
  /** `true` if the request waits for another one that was interrupted, to run it to its end first. */
  readonly awaits?: boolean;
  readonly signal: AbortSignal;
}

/** How often a request looks whether another one has ended that it awaits: for about 4 s. */
const mostAwaits = 10;

/** The right to run a turn. */
export interface Claimed {
  /** The request that began the turn and did not finish it. */
  readonly lost?: BegunRequest | undefined;
  /** `true` if `lost` is to be run with its own answers: this request brings others, and waits for it. */
  readonly isAwaited: boolean;
  /** `true` if an interrupted request was run to its end before this one, and changed nothing. */
  readonly isBehind: boolean;
}

/** A turn that counts. */
export interface GuardedTurn {
  readonly turn: SagaTurn;
  /** `true` if the turn was committed, and nobody continues it here: no client gets its token. */
  readonly isCommitted: boolean;
}

/** A turn that was committed: what the next turn starts from. */
export interface CommittedSaga {
  readonly turn: SuspendedTurn;
  readonly saga: SealedSaga;
  readonly program: Partial<Pick<Program, 'forks'>>;
}

/** The right to run the turns of a saga until the request ends: one request a token, and a repeated one gets its response. */
export class Lease {
  readonly #host: HostParts;
  /** Undefined: the saga accepts forks, and nothing is claimed or kept. */
  readonly #guard: GuardAccess | undefined;
  readonly #request: LeaseRequest | undefined;
  /** The saga as the token of the current turn holds it. */
  #saga: SealedSaga;
  #claim: GuardClaim | undefined;
  #giveUp = Number.POSITIVE_INFINITY;
  #waits = 0;
  #isAwaited = false;
  #isBehind = false;
  /** Undefined while the guard is down. */
  #fence: Fence | undefined;
  #response: string | undefined;
  #hasCommitted = false;
  /** A committed turn that this run cannot continue from: another run does. */
  #left: SuspendedTurn | undefined;

  /** @param request - undefined: the saga accepts forks, or has no token yet */
  constructor(host: HostParts, saga: SealedSaga, request?: LeaseRequest) {
    this.#host = host;
    this.#saga = saga;
    this.#request = request;
    this.#guard = request === undefined ? undefined : host.guard;
  }

  /** `true` if a guard keeps the turns. */
  get isGuarded(): boolean {
    return this.#guard !== undefined;
  }

  /**
   * Claims the turn of the token, or returns the turn that the guard kept. Waits while another process runs the same request.
   *
   * @throws TokenRefused `used`
   * @throws SagaHostError `busy`, `guard_full`, `guard_down`
   */
  async claim(): Promise<Claimed | GuardedTurn> {
    const isBehind = this.#isBehind;
    this.#fence = undefined;
    this.#isAwaited = false;
    const request = this.#request;
    const guard = this.#guard;
    if (request === undefined || guard === undefined) return { isAwaited: false, isBehind };
    const { observer, timing, limits } = this.#host;
    if (this.#claim === undefined) {
      this.#claim = await claimOf(this.#host, this.#saga, request);
      this.#giveUp = timing.clock() + timing.leaseMs;
    }
    for (; ; this.#waits += 1) {
      const awaits = request.awaits === true && this.#waits < mostAwaits ? { awaits: true } : {};
      // oxlint-disable-next-line no-await-in-loop -- waits for its turn
      const verdict = await this.#begin(guard, { ...this.#claim, ...awaits });
      if (verdict === 'down') return { isAwaited: false, isBehind };
      if (verdict === 'conflict') throw new TokenRefused('used');
      if (verdict === 'full') throw guardFull(observer);
      if (verdict === 'busy') {
        if (request.signal.aborted || timing.clock() >= this.#giveUp) throw tooLate();
        // oxlint-disable-next-line no-await-in-loop -- waits for its turn
        await sleep(busyWait(this.#waits), request.signal);
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      if ('response' in verdict) return await repeatTurn(this.#host, this.#saga, verdict);
      const { run: fence, begun, other: isAwaited = false } = verdict;
      if (begun === undefined && (request.keptBytes ?? 0) >= limits.maxKeptBytesPerSaga) {
        // oxlint-disable-next-line no-await-in-loop -- the last time round
        await askGuard(observer, () => guard.store.forget(fence));
        throw guardFull(observer);
      }
      this.#fence = fence;
      this.#isAwaited = isAwaited;
      // oxlint-disable-next-line no-await-in-loop -- the last time round
      const lost = begun === undefined ? undefined : await this.#lost(begun);
      return { lost, isAwaited, isBehind };
    }
  }

  /** Ends the run of an awaited request; this request claims the next turn. Throws TokenRefused `used` if that one changed the saga. */
  runsBehind(turn: SagaTurn): void {
    if (this.#isBehind || !isSameTurn(turn, this.#saga)) throw new TokenRefused('used');
    this.#isBehind = true;
    this.#waits += 1;
  }

  /** Keeps a committed turn, and begins the next one. Throws TurnAborted if another run continues, `busy`, or `guard_down`. */
  async next({ turn, saga, program }: CommittedSaga): Promise<void> {
    const guard = this.#guard;
    const request = this.#request;
    if (guard === undefined || request === undefined) return;
    await this.#commit(turn);
    this.#saga = saga;
    if (program.forks === 'accept') return;
    const { brought } = request;
    const verdict = await this.#begin(
      guard,
      await claimOf(this.#host, saga, {
        action: 'resume',
        digest: await digestOf('resume', new Map()),
        brought: { ...brought, answers: new Map(), at: this.#host.timing.clock() },
        round: roundOf(saga, false),
      }),
    );
    if (verdict === 'down') return;
    if (typeof verdict === 'object' && 'run' in verdict) {
      const { run, begun } = verdict;
      this.#fence = begun === undefined ? run : undefined;
      if (begun === undefined) return;
      await askGuard(this.#host.observer, () => guard.store.release(run));
    }
    this.#leave(turn);
  }

  /** Keeps a committed turn, and ends this run: the next turn is claimed by itself. */
  async handOver(turn: SuspendedTurn): Promise<never> {
    await this.#commit(turn);
    return this.#leave(turn);
  }

  /** Seals the response of the last turn of the request, before it is kept. */
  async seal(turn: SagaTurn): Promise<void> {
    if (this.#fence !== undefined && !isSameTurn(turn, this.#saga))
      this.#response = await this.#seal(turn, false);
  }

  /** Keeps the last turn of the request, and notifies the operator's queue. Throws `busy` if the lease was lost. */
  async finish(turn: SagaTurn): Promise<void> {
    const response = this.#response;
    const isKept = this.#fence === undefined || response !== undefined;
    // The guard refuses other answers until it has forgotten these.
    if (response === undefined) await this.#keep((fence, { store }) => store.forget(fence));
    else await this.#keep((fence, { store }) => store.finish(fence, response));
    // A turn that changed nothing leaves its token as good as before.
    if (isKept) await settleTurn(this.#host.observer, turn);
  }

  /** Ends the lease of a turn that threw: throws its error, or returns the committed turn that another run continues. */
  async fail(error: unknown): Promise<GuardedTurn> {
    if (this.#left !== undefined) return { turn: this.#left, isCommitted: true };
    // A conflict is found before anything runs, and so is code that cannot continue the saga. Another error may follow an
    // effect: then only the same request may come again.
    // What an awaited request ran before it was interrupted is still unknown.
    const isLater = cannotContinue(error);
    await this.#release(!this.#isAwaited && (error instanceof AnswerConflict || isLater));
    if (this.#isAwaited && isLater) throw new TokenRefused('used');
    throw error;
  }

  async #lost(begun: string): Promise<BegunRequest> {
    try {
      return await openRequest(this.#host.keys.responses, this.#saga, begun);
    } catch (error) {
      await this.#release(false);
      throw error;
    }
  }

  /** Asks the guard for a turn. `down`: the guard cannot be asked, and the turn runs without it. */
  async #begin({ store, onDown }: GuardAccess, claim: GuardClaim): Promise<GuardVerdict | 'down'> {
    const { observer, timing } = this.#host;
    const asked = askGuard(observer, () => store.begin({ ...claim, now: timing.clock() }));
    return await (onDown === 'closed' ? asked : asked.catch(() => 'down' as const));
  }

  /** @param ranNothing - `true` if the token is as good as before */
  async #release(ranNothing: boolean): Promise<void> {
    const isGood = ranNothing && !this.#hasCommitted;
    const fence = this.#fence;
    const store = this.#guard?.store;
    if (fence === undefined || store === undefined) return;
    const { observer } = this.#host;
    await askGuard(observer, () => (isGood ? store.forget(fence) : store.release(fence))).catch(
      () => undefined,
    );
  }

  async #commit(turn: SuspendedTurn): Promise<void> {
    const response = await this.#seal(turn, true);
    await this.#keep((fence, { store }) => store.finish(fence, response));
    this.#fence = undefined;
    this.#hasCommitted = true;
    await settleTurn(this.#host.observer, turn);
  }

  #leave(turn: SuspendedTurn): never {
    this.#left = turn;
    throw new TurnAborted(new Error('Another run continues behind a commit.'));
  }

  async #seal(turn: SagaTurn, isCommitted: boolean): Promise<string> {
    return await sealResponse(this.#host.keys.responses, this.#saga, turn, isCommitted);
  }

  /** Keeps a response. One that came too late is not the one that counts: the client asks again, and gets that one. */
  async #keep(keep: (fence: Fence, guard: GuardAccess) => Awaitable<boolean | undefined>): Promise<void> {
    const fence = this.#fence;
    const guard = this.#guard;
    if (fence === undefined || guard === undefined) return;
    const asked = askGuard(this.#host.observer, () => keep(fence, guard));
    // Where the guard may be down, a response that cannot be kept is still one.
    const isKept = guard.onDown === 'closed' ? asked : asked.catch(() => true);
    if ((await isKept) === false) throw tooLate();
  }
}

/** Returns `true` if a turn changed nothing: its token belongs to the turn of the request. */
function isSameTurn(turn: SagaTurn, { claims }: SealedSaga): boolean {
  return turn.status === 'suspended' && turn.turn === claims.turn;
}
