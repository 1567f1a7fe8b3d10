import { TurnAborted, type Awaitable } from '@mcp-saga/core';
import { askGuard } from '../guard/ask-guard.ts';
import type { Fence, GuardClaim, GuardVerdict } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { GuardAccess, HostParts } from '../settings/host-parts.ts';
import { sealResponse } from '../token/guard-records.ts';
import { SagaHostError } from '../wire/errors.ts';
import { settleTurn } from './settle-turn.ts';
import type { CommittedSaga } from './turn-request.ts';

/** The right to run the turns of a saga, one after the other, until one of them ends the request. (T13) */
export class Lease {
  /** The saga as the token of the current turn holds it. */
  saga: SealedSaga;
  /** A committed turn that this run cannot continue from: another run does. */
  left: SuspendedTurn | undefined;
  /** `true` if a turn was committed. */
  hasCommitted = false;

  readonly #host: HostParts;
  readonly #guard: GuardAccess;
  /** Undefined while the guard is down, or for a saga that accepts forks. */
  #fence: Fence | undefined;
  #response: string | undefined;

  constructor(host: HostParts, guard: GuardAccess, saga: SealedSaga, fence: Fence | undefined) {
    this.#host = host;
    this.#guard = guard;
    this.saga = saga;
    this.#fence = fence;
  }

  /**
   * Keeps a committed turn, and begins the next one.
   *
   * @param claim - of the next turn. Undefined: the guard is not asked about the next turn
   * @throws TurnAborted if another request has begun the next turn. It is `left` to that one
   * @throws SagaHostError `busy` if the lease was lost, `guard_down`
   */
  async next({ turn, saga }: CommittedSaga, claim: GuardClaim | undefined): Promise<void> {
    await this.#commit(turn);
    this.saga = saga;
    if (claim === undefined) return;
    const verdict = await begun(this.#host, this.#guard, claim);
    if (verdict === 'down') return;
    if (typeof verdict === 'object' && 'run' in verdict) {
      if (verdict.begun === undefined) {
        this.#fence = verdict.run;
        return;
      }
      const { run } = verdict;
      await askGuard(this.#host.observer, () => this.#guard.store.release(run));
    }
    this.#leave(turn);
  }

  /** Keeps a committed turn, and ends this run: the next turn is claimed by itself. */
  async handOver({ turn }: CommittedSaga): Promise<void> {
    await this.#commit(turn);
    this.#leave(turn);
  }

  /** Seals the response of the last turn of the request, before it is kept. */
  async seal(turn: SagaTurn): Promise<void> {
    if (this.#fence !== undefined && !isSameTurn(turn, this.saga))
      this.#response = await this.#seal(turn, false);
  }

  /**
   * Keeps the last turn of the request.
   *
   * @returns `false` if the turn changed nothing, so that its token is as good as before
   * @throws SagaHostError `busy` if the lease was lost
   */
  async finish(): Promise<boolean> {
    const response = this.#response;
    if (this.#fence === undefined) return true;
    // The guard refuses other answers until it has forgotten these.
    if (response === undefined) await this.#keep((fence) => this.#guard.store.forget(fence));
    else await this.#keep((fence) => this.#guard.store.finish(fence, response));
    return response !== undefined;
  }

  /**
   * Ends the lease of a turn that has thrown. If this fails as well, the lease runs out.
   *
   * @param ranNothing - `true` if the token is as good as before
   */
  async release(ranNothing: boolean): Promise<void> {
    const fence = this.#fence;
    if (fence === undefined) return;
    const isGood = ranNothing && !this.hasCommitted;
    await askGuard(this.#host.observer, () =>
      isGood ? this.#guard.store.forget(fence) : this.#guard.store.release(fence),
    ).catch(() => undefined);
  }

  async #commit(turn: SuspendedTurn): Promise<void> {
    const response = await this.#seal(turn, true);
    await this.#keep((fence) => this.#guard.store.finish(fence, response));
    this.#fence = undefined;
    this.hasCommitted = true;
    await settleTurn(this.#host.observer, turn);
  }

  #leave(turn: SuspendedTurn): never {
    this.left = turn;
    throw new TurnAborted(new Error('Another run continues behind a commit.'));
  }

  async #seal(turn: SagaTurn, isCommitted: boolean): Promise<string> {
    return await sealResponse(this.#host.keys.responses, this.saga, turn, isCommitted);
  }

  /** Keeps a response. One that came too late is not the one that counts: the client asks again, and gets that one. */
  async #keep(keep: (fence: Fence) => Awaitable<boolean | undefined>): Promise<void> {
    const fence = this.#fence;
    if (fence === undefined) return;
    const asked = askGuard(this.#host.observer, () => keep(fence));
    // Where the guard may be down, a response that cannot be kept is still one.
    const isKept = this.#guard.onDown === 'closed' ? asked : asked.catch(() => true);
    if ((await isKept) === false) throw tooLate();
  }
}

/** Asks the guard for a turn. `down`: the guard cannot be asked, and the turn runs without it. */
export async function begun(
  host: HostParts,
  guard: GuardAccess,
  claim: GuardClaim,
): Promise<GuardVerdict | 'down'> {
  const asked = askGuard(host.observer, () => guard.store.begin({ ...claim, now: host.timing.clock() }));
  return await (guard.onDown === 'closed' ? asked : asked.catch(() => 'down' as const));
}

/** Returns `true` if a turn changed nothing: its token belongs to the turn of the request. */
export function isSameTurn(turn: SagaTurn, { claims }: SealedSaga): boolean {
  return turn.status === 'suspended' && turn.turn === claims.turn;
}

/** The error of a request whose turn another request runs. */
export function tooLate(): SagaHostError {
  return new SagaHostError('busy', 'The same request is being run. Send it again later.');
}
