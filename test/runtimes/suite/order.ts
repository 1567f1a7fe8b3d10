import { expect } from 'vitest';
import type { Effect } from '../server/effects.ts';
import { accepted, sampled } from './answers.ts';

/** A client's answers to the saga `order`, by method. */
export const answers = {
  'elicitation/create': accepted({ address: 'Main Street 1' }),
  'sampling/createMessage': sampled,
} as const;

/** Result of the saga. */
export const orderText = 'To Main Street 1: Yes. 1970-01-01T00:00:00.000Z 2 ribbon';

/** Steps of the saga. */
export const orderSteps: readonly string[] = ['label', 'reserve', 'ship', 'wrap'];

/** Expects that each step of the saga ran once, with a unique key. */
export function expectOnce(effects: readonly Effect[]): void {
  expect(effects.map(({ what }) => what).toSorted()).toEqual(orderSteps);
  expect(new Set(effects.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(orderSteps.length);
}
