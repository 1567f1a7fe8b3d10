import { storeGuard } from '@mcp-saga/server/internal';
import type { ConformanceCase } from './conformance-case.ts';
import { entryCases } from './entry-cases.ts';
import { guardMemory } from './guard-memory-cases.ts';
import { agrees } from './guard-model.ts';
import type { GuardUnderTest } from './guard-requests.ts';
import { guardTurns } from './guard-turn-cases.ts';
import { listCases } from './list-cases.ts';
import type { StoreUnderTest } from './store-under-test.ts';

/** Options of `storeConformance`. */
export interface StoreConformanceOptions {
  /**
   * `false` for a store in the process of its hosts: no reply of it is lost, and its clock is
   * theirs.
   * @default true
   */
  readonly isRemote?: boolean;
  /**
   * Number of random sequences of requests for turns, each compared with a model. @default 100
   */
  readonly runs?: number;
  /** Seed of the sequences. @default 1 */
  readonly seed?: number;
}

/**
 * Returns what every store promises, as tests for any test runner: its entries, its lists, and the
 * turns of sagas that a host keeps in it.
 * @param make - makes an empty store, for each test and each random sequence
 * @example
 * ```ts
 * import type { SagaStore } from '@mcp-saga/server/stores';
 * import { it } from 'vitest';
 *
 * declare const open: (clock: () => number) => SagaStore; // your store, with a clock of the test
 *
 * const make = async () => {
 *   let time = Date.now();
 *   const store = open(() => time);
 *   return { store, elsewhere: store, now: () => time, pass: async (ms: number) => void (time += ms) };
 * };
 * for (const { title, run } of storeConformance(make)) it(title, run);
 * ```
 */
export function storeConformance(
  make: () => Promise<StoreUnderTest>,
  { isRemote = true, runs = 100, seed = 1 }: StoreConformanceOptions = {},
): readonly ConformanceCase[] {
  const makeGuard = async (): Promise<GuardUnderTest> => {
    const { store, elsewhere, ...time } = await make();
    return { guard: storeGuard(store), elsewhere: storeGuard(elsewhere), ...time };
  };
  return [...entryCases(make, isRemote), ...listCases(make), ...guardCases(makeGuard, runs, seed)];
}

/** What the guard of a host promises on a store. */
export function guardCases(
  make: () => Promise<GuardUnderTest>,
  runs: number,
  seed: number,
): readonly ConformanceCase[] {
  return [
    ...guardTurns(make),
    ...guardMemory(make),
    {
      title: 'agrees with a model of a guard, for any requests in any order',
      run: () => agrees(make, runs, seed),
    },
  ];
}
