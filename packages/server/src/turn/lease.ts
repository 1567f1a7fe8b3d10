import { TurnAborted, type Awaitable } from '@mcp-saga/core';
import { askGuard } from '../guard/ask-guard.ts';
import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import type { HostSettings } from '../settings/host-parts.ts';
import { sealResponse } from '../token/sealed-response.ts';
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

  readonly #settings: HostSettings;
  readonly #guard: SagaGuard;
  /** Undefined while the guard is down, or for a saga that accepts forks. */
  #fence: Fence | undefined;
  #response: string | undefined;

  constructor(settings: HostSettings, guard: SagaGuard, saga: SealedSaga, fence: Fence | undefined) {
    this.#settings = settings;
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
    const verdict = await begun(this.#settings, this.#guard, claim);
    if (verdict === 'down') return;
    if (typeof verdict === 'object' && 'run' in verdict) {
      if (verdict.begun === undefined) {
        this.#fence = verdict.run;
        return;
      }
      const { run } = verdict;
      await askGuard(this.#settings, () => this.#guard.release(run));
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
    if (response === undefined) await this.#keep((fence) => this.#guard.forget(fence));
    else await this.#keep((fence) => this.#guard.finish(fence, response));
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
    await askGuard(this.#settings, () =>
      isGood ? this.#guard.forget(fence) : this.#guard.release(fence),
    ).catch(() => undefined);
  }

  async #commit(turn: SuspendedTurn): Promise<void> {
    const response = await this.#seal(turn, true);
    await this.#keep((fence) => this.#guard.finish(fence, response));
    this.#fence = undefined;
    this.hasCommitted = true;
    await settleTurn(this.#settings, turn);
  }

  #leave(turn: SuspendedTurn): never {
    this.left = turn;
    throw new TurnAborted(new Error('Another run continues behind a commit.'));
  }

  async #seal(turn: SagaTurn, isCommitted: boolean): Promise<string> {
    return await sealResponse(this.#settings.responses, this.saga, turn, isCommitted);
  }

  /** Keeps a response. One that came too late is not the one that counts: the client asks again, and gets that one. */
  async #keep(keep: (fence: Fence) => Awaitable<boolean | undefined>): Promise<void> {
    const fence = this.#fence;
    if (fence === undefined) return;
    const asked = askGuard(this.#settings, () => keep(fence));
    // Where the guard may be down, a response that cannot be kept is still one.
    const isKept = this.#settings.whenGuardIsDown === 'closed' ? asked : asked.catch(() => true);
    if ((await isKept) === false) throw tooLate();
  }
}

/** Asks the guard for a turn. `down`: the guard cannot be asked, and the turn runs without it. */
export async function begun(
  settings: HostSettings,
  guard: SagaGuard,
  claim: GuardClaim,
): Promise<GuardVerdict | 'down'> {
  const asked = askGuard(settings, () => guard.begin({ ...claim, now: settings.clock() }));
  return await (settings.whenGuardIsDown === 'closed' ? asked : asked.catch(() => 'down' as const));
}

/** Returns `true` if a turn changed nothing: its token belongs to the turn of the request. */
export function isSameTurn(turn: SagaTurn, { claims }: SealedSaga): boolean {
  return turn.status === 'suspended' && turn.turn === claims.turn;
}

/** The error of a request whose turn another request runs. */
export function tooLate(): SagaHostError {
  return new SagaHostError('busy', 'The same request is being run. Send it again later.');
}
