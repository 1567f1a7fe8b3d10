import { saga, step } from '@mcp-saga/server';
import { engineOf, type SagaEngine } from '@mcp-saga/server/internal';
import { expect, it } from 'vitest';
import { wrapProgram } from '../src/values/wrap-program.ts';

const old = saga({ name: 'pay', version: '1' }, function* () {
  return yield* step('pay', () => 'paid');
});
const pay = saga({ name: 'pay', version: '2', previous: [{ saga: old }] }, function* () {
  return yield* step('charge', () => 'charged');
});

it('wraps the engine of a program and of its older versions, and keeps its other methods', async () => {
  const begun: SagaEngine[] = [];
  const wrapped = wrapProgram(pay, (engine) => ({
    begin: async (...start) => {
      begun.push(engine);
      return await engine.begin(...start);
    },
  }));
  // A program may be wrapped again, by a recorder around a simulation.
  const twice = engineOf(wrapProgram(wrapped, () => ({})));
  const state = await twice.begin({});
  await engineOf(wrapped.previous[0]!.saga).begin({});
  expect(begun).toHaveLength(2);
  expect(twice.asked(state)).toEqual([]);
  const own = engineOf(pay);
  expect(twice.timeline(state)).toEqual(own.timeline(state));
  const history = twice.history?.(state);
  expect(history).toEqual(own.history?.(state));
  expect(twice.restore?.(history!)).toEqual(own.restore?.(history!));
  expect(history).toBeDefined();
});

it('keeps no history of a program whose engine has none', () => {
  const { history: _, restore: __, ...engine } = engineOf(pay);
  const wrapped = engineOf(wrapProgram({ ...pay, engine }, () => ({})));
  expect([wrapped.history, wrapped.restore]).toEqual([undefined, undefined]);
});
