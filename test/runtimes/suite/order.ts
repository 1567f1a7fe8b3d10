import { expect } from 'vitest';
import type { Effect } from '../server/effects.ts';
import { accepted, sampled } from './answers.ts';

/** What a client answers to the saga `order`, by method. */
export const answers = {
  'elicitation/create': accepted({ address: 'Main Street 1' }),
  'sampling/createMessage': sampled,
} as const;

/** What it ends with then. */
export const orderText = 'To Main Street 1: Yes. 1970-01-01T00:00:00.000Z 2 ribbon';

/** What it does on its way. */
export const orderSteps: readonly string[] = ['label', 'reserve', 'ship', 'wrap'];

/** Each of its steps ran once, with a key of its own. */
export function expectOnce(effects: readonly Effect[]): void {
  expect(effects.map(({ what }) => what).toSorted()).toEqual(orderSteps);
  expect(new Set(effects.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(orderSteps.length);
}
