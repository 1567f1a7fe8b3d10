import type { Fence, GuardVerdict } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { seeded } from '../values/seeded-random.ts';
import { messageOfError, show } from '../values/show.ts';
import { same } from './conformance-case.ts';
import type { GuardUnderTest } from './guard-requests.ts';

// Time passes in steps that divide none of these: a real clock advances a little in between.
const step = 45_000;
const lease = 60_000;
const responds = 110_000;
const lives = 200_000;

type Command =
  | {
      readonly do: 'begin';
      readonly turn: number;
      readonly jti: string;
      readonly action: 'resume' | 'cancel';
      readonly digest: string;
      readonly follows: boolean;
      readonly ends: boolean;
      readonly awaits: boolean;
    }
  | { readonly do: 'renew' | 'finish' | 'release' | 'forget'; readonly lease: number }
  | { readonly do: 'claim'; readonly key: string }
  | { readonly do: 'pass' };

/** Draws calls of repeated, forked, dying, and late requests. */
function drawCommands(random: () => number): readonly Command[] {
  const below = (limit: number): number => Math.floor(random() * limit);
  const one = <T>(...of: readonly T[]): T => of[below(of.length)] as T;
  const mostly = <T>(usual: T, other: T): T => (random() < 0.8 ? usual : other);
  return Array.from({ length: below(31) }, (): Command => {
    const kind = below(14);
    if (kind < 3) return { do: 'pass' };
    if (kind < 4) return { do: 'claim', key: one('s:a', 's:b') };
    if (kind < 8) return { do: one('renew', 'finish', 'release', 'forget'), lease: below(4) };
    return {
      do: 'begin',
      turn: one(1, 2, 3),
      jti: mostly('one', 'two'),
      action: mostly('resume', 'cancel'),
      digest: mostly('yes', 'no'),
      follows: mostly(false, true),
      ends: mostly(false, true),
      awaits: one(false, true),
    };
  });
}

interface Turn {
  readonly request: string;
  /** Sealed request, if storable. A holder of the lease writes it again. */
  readonly sealed: string | undefined;
  /** The same, unless it was forgotten. */
  brought: string | undefined;
  readonly digest: string;
  readonly begun: number;
  /** Time of the last lease, when the storage period of the response begins. */
  leasedAt: number;
  leases: number[];
  /** `true` after a first lease, except for a request that awaited the lease. */
  isAgain: boolean;
  leasedUntil: number;
  hasEnded: boolean;
  /** Undefined before the end, and when the response was forgotten. */
  response: string | undefined;
}

/** Sealed request. Some guards store none. */
function broughtBy(digest: string): string | undefined {
  return digest === 'yes' ? 'sealed answers' : undefined;
}

/** Expected responses of a guard. Leases are numbered over the whole run. */
class Model {
  #time = 0;
  #leases = 0;
  readonly #turns = new Map<number, Turn>();
  readonly #claims = new Map<string, number>();

  pass(): void {
    this.#time += step;
    for (const [id, { begun }] of this.#turns)
      if (this.#time - begun > lives) this.#turns.delete(id);
    for (const [key, begun] of this.#claims)
      if (this.#time - begun > lives) this.#claims.delete(key);
  }

  begin({
    turn: id,
    jti,
    action,
    digest,
    follows,
    ends,
    awaits,
  }: Extract<Command, { do: 'begin' }>): unknown {
    const request = `${jti} ${action}`;
    const turn = this.#turns.get(id);
    if (turn === undefined) {
      const brought = broughtBy(digest);
      const made = {
        request,
        sealed: brought,
        brought,
        digest,
        begun: this.#time,
        leasedAt: this.#time,
        leases: [],
        isAgain: false,
        leasedUntil: 0,
        hasEnded: false,
        response: undefined,
      };
      this.#turns.set(id, made);
      return this.#leased(made);
    }
    const { brought } = turn;
    const isRequest = turn.request === request && (turn.digest === digest || follows);
    const isAwaited = awaits && turn.request === request && !isRequest;
    const isEnded = ends && turn.request === `${jti} resume`;
    const isFollowed = turn.request === request && turn.digest !== digest && follows;
    const takesOver = isAwaited || isEnded || isFollowed;
    if (takesOver && brought !== undefined && !turn.hasEnded) {
      if (this.#time < turn.leasedUntil) return 'busy';
      const { isAgain } = turn;
      const leased = { ...this.#leased(turn), interrupted: brought };
      if (!isAwaited) return leased;
      turn.isAgain = isAgain;
      return { ...leased, other: true };
    }
    const isDone = isEnded && turn.hasEnded;
    if (turn.request !== request && !isDone) return 'conflict';
    if (turn.digest !== digest && !follows && !isDone) return 'conflict';
    if (turn.hasEnded) {
      const isOther = turn.request !== request || (turn.digest !== digest && !follows);
      return this.#responds(id, isOther ? { other: true } : {});
    }
    if (this.#time < turn.leasedUntil) return 'busy';
    if (turn.digest !== digest) return 'conflict';
    return { ...this.#leased(turn), ...(brought === undefined ? {} : { interrupted: brought }) };
  }

  renew(number: number): boolean {
    const [, turn] = this.#held(number);
    if (turn === undefined) return false;
    turn.leasedUntil = this.#time + lease;
    turn.brought = turn.sealed;
    return true;
  }

  finish(number: number, response: string): boolean {
    const [id, turn] = this.#held(number);
    if (turn === undefined) return false;
    turn.hasEnded = true;
    turn.response = response;
    const outdated = this.#turns.get(id - 2);
    if (outdated !== undefined) {
      outdated.response = undefined;
      outdated.brought = undefined;
    }
    return true;
  }

  release(number: number): void {
    const [, turn] = this.#held(number);
    if (turn === undefined) return;
    turn.leasedUntil = 0;
    turn.brought = turn.sealed;
  }

  forget(number: number): void {
    const [id, turn] = this.#held(number);
    if (turn?.isAgain === false) this.#turns.delete(id);
    else this.release(number);
  }

  claim(key: string): boolean {
    if (this.#claims.has(key)) return false;
    this.#claims.set(key, this.#time);
    return true;
  }

  /** Response of a finished turn; if it is gone, that of the newest turn behind it. */
  #responds(id: number, isOther: { readonly other?: true }): unknown {
    const responseAt = (at: number): string | undefined => {
      const { response, leasedAt = 0 } = this.#turns.get(at) ?? {};
      return this.#time - leasedAt > responds ? undefined : response;
    };
    const hasEnded = (at: number): boolean => this.#turns.get(at)?.hasEnded === true;
    const own = responseAt(id);
    if (own !== undefined) return { response: own, wentOn: this.#turns.has(id + 1), ...isOther };
    let at = id;
    let newest: { readonly response: string; readonly turn: number } | undefined;
    for (;;) {
      const isGone = responseAt(at) === undefined;
      if (hasEnded(at + 1)) at += 1;
      else if (isGone && hasEnded(at + 2)) at += 2;
      else break;
      const response = responseAt(at);
      if (response !== undefined) newest = { response, turn: at };
    }
    const isRunning = this.#turns.has(at + 1);
    if (newest === undefined) return isRunning ? 'busy' : 'conflict';
    return { ...newest, ...isOther, wentOn: isRunning || newest.turn !== at };
  }

  #leased(turn: Turn): object {
    turn.isAgain = turn.leases.length > 0;
    turn.leases.push(this.#leases);
    turn.leasedAt = this.#time;
    turn.leasedUntil = this.#time + lease;
    this.#leases += 1;
    return { leased: this.#leases };
  }

  #held(number: number): [number, Turn | undefined] {
    for (const [id, turn] of this.#turns) {
      if (turn.leases.at(-1) === number && !turn.hasEnded) return [id, turn];
    }
    return [0, undefined];
  }
}

/** Compares a guard with the model in random sequences of calls. Throws `violated`. */
export async function agrees(
  make: () => Promise<GuardUnderTest>,
  runs: number,
  seed: number,
): Promise<void> {
  const random = seeded(seed);
  for (let count = 0; count < runs; count += 1) {
    let commands = drawCommands(random);
    let difference = await differenceIn(make, commands);
    if (difference === undefined) continue;
    for (let at = 0; at < commands.length;) {
      const fewer = commands.toSpliced(at, 1);
      const found = await differenceIn(make, fewer);
      if (found === undefined) at += 1;
      else [commands, difference] = [fewer, found];
    }
    const list = commands.map((command) => `    ${show(command)}`).join('\n');
    throw new SagaTestError('violated', `${difference}\n\nAfter:\n\n${list}`);
  }
}

async function differenceIn(
  make: () => Promise<GuardUnderTest>,
  commands: readonly Command[],
): Promise<string | undefined> {
  try {
    await agreesIn(await make(), commands);
    return undefined;
  } catch (error) {
    return messageOfError(error);
  }
}

async function agreesIn(
  { guard, elsewhere, now, pass }: GuardUnderTest,
  commands: readonly Command[],
): Promise<void> {
  const model = new Model();
  const fences: Fence[] = [];
  /** Leases that ended without a response: a host does nothing with them anymore. */
  const ended = new Set<number>();
  const noted = (verdict: GuardVerdict): unknown => {
    if (typeof verdict !== 'object' || !('run' in verdict)) return verdict;
    fences.push(verdict.run);
    const { run: _, ...others } = verdict;
    return { leased: fences.length, ...others };
  };
  for (const [index, command] of commands.entries()) {
    const asked = index % 2 === 0 ? guard : elsewhere;
    const at = now();
    // Newest leases first: older leases are over, most of the time.
    const number = 'lease' in command ? fences.length - 1 - command.lease : 0;
    const fence = ended.has(number) ? undefined : fences[number];
    if (command.do === 'begin') {
      const times = { leaseMs: lease, respondsUntil: at + responds, expiresAt: at + lives };
      const { do: _, ...request } = command;
      const brought = broughtBy(command.digest);
      const claim = {
        sagaId: 's',
        ...request,
        ...times,
        ...(brought === undefined ? {} : { request: brought }),
      };
      const verdict = noted(await asked.begin(claim));
      same(verdict, model.begin(command));
    } else if (command.do === 'claim') {
      same(await asked.claim(command.key, at + lives), model.claim(command.key));
    } else if (command.do === 'pass') {
      model.pass();
      await pass(step);
    } else if (fence !== undefined && command.do === 'finish') {
      same(await asked.finish(fence, `sealed ${index}`), model.finish(number, `sealed ${index}`));
    } else if (fence !== undefined && command.do === 'renew') {
      same(await asked.renew(fence), model.renew(number));
    } else if (fence !== undefined && command.do !== 'finish') {
      ended.add(number);
      await asked[command.do](fence);
      model[command.do](number);
    }
  }
}
