import { elicit, saga, step } from '@mcp-saga/server';
import { crashEverywhere, failEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });
const cars = new Provider<string>();

const rent = saga(
  { name: 'rent', version: '1', input: z.object({ days: z.array(z.string()) }) },
  function* ({ days }) {
    yield* elicit('sure', { message: `Rent a car for ${days.length} days?`, schema: Sure });
    for (const day of days) {
      yield* step('reserve', ({ idempotencyKey }) => cars.do(idempotencyKey, day), {
        key: day,
        compensate: ({ stepKey }) => cars.undo(stepKey),
        unknown: 'compensate',
      });
    }
    return `Rented for ${days.join(' and ')}.`;
  },
);

const script = testSaga(rent, { input: { days: ['Monday', 'Tuesday'] }, providers: [cars] });
const rented = script.on.elicit('sure', { sure: true });

it('reserves each day, and has no lost effect after any crash or failure', async () => {
  expect((await rented.run()).result).toBe('Rented for Monday and Tuesday.');
  await crashEverywhere(rented);
  await failEverywhere(rented);
});
