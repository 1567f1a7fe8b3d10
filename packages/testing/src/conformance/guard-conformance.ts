import type { ConformanceCase } from './conformance-case.ts';
import { guardMemory } from './guard-memory-cases.ts';
import { agrees } from './guard-model.ts';
import { guardTurns } from './guard-turn-cases.ts';
import type { GuardUnderTest } from './guard-requests.ts';

/** Options of `guardConformance`. */
export interface GuardConformanceOptions {
  /** Number of random sequences of calls, each compared with a model. @default 100 */
  readonly runs?: number;
  /** Seed of the sequences. Default 1. */
  readonly seed?: number;
}

/**
 * Returns the guarantees of every guard, as tests for any test runner.
 * @param make - makes an empty guard, for each test and each random sequence
 * @example
 * ```ts
 * import { memoryGuard } from '@mcp-saga/server';
 * import { it } from 'vitest';
 *
 * const make = async () => {
 *   let time = 0;
 *   const guard = memoryGuard({ clock: () => time });
 *   return { guard, elsewhere: guard, now: () => time, pass: async (ms: number) => void (time += ms) };
 * };
 * for (const { title, run } of guardConformance(make)) it(title, run);
 * ```
 */
export function guardConformance(
  make: () => Promise<GuardUnderTest>,
  { runs = 100, seed = 1 }: GuardConformanceOptions = {},
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
