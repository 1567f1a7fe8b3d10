import type { Fence, GuardVerdict } from '@mcp-saga/server';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { GuardUnderTest } from './guard-under-test.ts';

// Time passes in steps that are no part of any of these: a real clock goes on by itself a little.
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
  | { readonly do: 'finish' | 'release' | 'forget'; readonly lease: number }
  | { readonly do: 'claim'; readonly key: string }
  | { readonly do: 'pass' };

const mostly = <T>(usual: T, other: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(other) });

/** What is asked of a guard, in any order: by requests that repeat, fork, die, come late. */
export const guardCommands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('begin' as const),
        turn: fc.constantFrom(1, 2),
        jti: mostly('one', 'two'),
        action: mostly<'resume' | 'cancel'>('resume', 'cancel'),
        digest: mostly('yes', 'no'),
        follows: mostly(false, true),
        ends: mostly(false, true),
        awaits: fc.boolean(),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constantFrom('finish', 'release', 'forget'), lease: fc.nat({ max: 3 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('claim' as const), key: fc.constantFrom('s:a', 's:b') }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'pass' as const }) },
  ),
  { maxLength: 30 },
);

interface Turn {
  readonly request: string;
  /** What it brings, where it brings something that can be kept. */
  readonly brought: string | undefined;
  readonly digest: string;
  readonly begun: number;
  /** When it was leased last: from then on its response is kept. */
  leasedAt: number;
  leases: number[];
  /** `true` if it was leased before, but for a request that awaited it. */
  isAgain: boolean;
  leasedUntil: number;
  response?: string;
}

/** What a request brings, sealed. Some guards keep nothing of it. */
function broughtBy(digest: string): string | undefined {
  return digest === 'yes' ? 'sealed answers' : undefined;
}

/** What a guard is to say, said as plainly as it can be: leases are numbered over the whole run. */
class Model {
  #time = 0;
  #leases = 0;
  readonly #turns = new Map<number, Turn>();
  readonly #claims = new Map<string, number>();

  pass(): void {
    this.#time += step;
    for (const [id, { begun }] of this.#turns) if (this.#time - begun > lives) this.#turns.delete(id);
    for (const [key, begun] of this.#claims) if (this.#time - begun > lives) this.#claims.delete(key);
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
        brought,
        digest,
        begun: this.#time,
        leasedAt: this.#time,
        leases: [],
        isAgain: false,
        leasedUntil: 0,
      };
      this.#turns.set(id, made);
      return this.#leased(made);
    }
    const { brought } = turn;
    const isRequest = turn.request === request && (turn.digest === digest || follows);
    const isAwaited = awaits && turn.request === request && !isRequest;
    if (isAwaited && brought !== undefined && turn.response === undefined) {
      if (this.#time < turn.leasedUntil) return 'busy';
      const { isAgain } = turn;
      const leased = { ...this.#leased(turn), begun: brought, other: true };
      turn.isAgain = isAgain;
      return leased;
    }
    const isEnded = ends && turn.request === `${jti} resume`;
    if (isEnded && brought !== undefined && turn.response === undefined) {
      if (this.#time < turn.leasedUntil) return 'busy';
      return { ...this.#leased(turn), begun: brought };
    }
    const isFollowed = turn.request === request && turn.digest !== digest && follows;
    if (isFollowed && brought !== undefined && turn.response === undefined) {
      if (this.#time < turn.leasedUntil) return 'busy';
      return { ...this.#leased(turn), begun: brought };
    }
    const isDone = isEnded && turn.response !== undefined;
    if (turn.request !== request && !isDone) return 'conflict';
    if (turn.digest !== digest && !follows && !isDone) return 'conflict';
    if (turn.response !== undefined) {
      if (this.#time - turn.leasedAt > responds) return 'conflict';
      const isOther = turn.request !== request || (turn.digest !== digest && !follows);
      return {
        response: turn.response,
        wentOn: this.#turns.has(id + 1),
        ...(isOther ? { other: true } : {}),
      };
    }
    if (this.#time < turn.leasedUntil) return 'busy';
    if (turn.digest !== digest) return 'conflict';
    return { ...this.#leased(turn), ...(brought === undefined ? {} : { begun: brought }) };
  }

  finish(number: number, response: string): boolean {
    const [, turn] = this.#held(number);
    if (turn !== undefined) turn.response = response;
    return turn !== undefined;
  }

  release(number: number): void {
    const [, turn] = this.#held(number);
    if (turn !== undefined) turn.leasedUntil = 0;
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
      if (turn.leases.at(-1) === number && turn.response === undefined) return [id, turn];
    }
    return [0, undefined];
  }
}

/** Asks a guard and the model the same, and expects the same answers. */
export async function agrees(
  { guard, elsewhere, now, pass }: GuardUnderTest,
  commands: readonly Command[],
): Promise<void> {
  const model = new Model();
  const fences: Fence[] = [];
  const noted = (verdict: GuardVerdict): unknown => {
    if (typeof verdict !== 'object' || !('run' in verdict)) return verdict;
    fences.push(verdict.run);
    const { run: _, ...others } = verdict;
    return { leased: fences.length, ...others };
  };
  for (const [index, command] of commands.entries()) {
    const asked = index % 2 === 0 ? guard : elsewhere;
    const at = now();
    // The newest leases first: those before them are over, most of the time.
    const number = 'lease' in command ? fences.length - 1 - command.lease : 0;
    const fence = fences[number];
    /* oxlint-disable no-await-in-loop -- one after the other */
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
      expect(verdict).toEqual(model.begin(command));
    } else if (command.do === 'claim') {
      expect(await asked.claim(command.key, at + lives)).toBe(model.claim(command.key));
    } else if (command.do === 'pass') {
      model.pass();
      await pass(step);
    } else if (fence !== undefined && command.do === 'finish') {
      expect(await asked.finish(fence, `sealed ${index}`)).toBe(model.finish(number, `sealed ${index}`));
    } else if (fence !== undefined && command.do !== 'finish') {
      await asked[command.do](fence);
      model[command.do](number);
    }
    /* oxlint-enable no-await-in-loop */
  }
}
