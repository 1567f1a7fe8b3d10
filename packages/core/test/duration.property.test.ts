import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { duration, saga, sleep, step, type Duration, type Program } from '../src/index.ts';
import { durationOption, millisecondsOf } from '../src/shared.ts';
import { isAuthoringError } from '../src/values/errors.ts';
import { start, suspended, turn } from './support/drive.ts';
import { World } from './support/world.ts';

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const unit = fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[]));

describe('a duration', () => {
  it('is milliseconds, or an amount of a unit', () => {
    fc.assert(
      fc.property(fc.nat(), unit, (amount, of) => {
        expect(millisecondsOf(amount)).toBe(amount);
        expect(millisecondsOf(`${amount}${of}`)).toBe(amount * units[of]);
        expect(duration(`${amount}${of}`)).toBe(amount * units[of]);
      }),
    );
  });

  it.each([
    ['1.5h', 5_400_000],
    ['0.5s', 500],
    ['2d', 172_800_000],
    ['0s', 0],
  ])('of %s has the milliseconds %i', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it('is neither a string without a unit, nor another value', () => {
    const texts = ['', '5', 's', '5 s', ' 5s', '-5s', '+5s', '1e3s', '5sec', '5S', '.5s', '5.s'];
    for (const text of [...texts, '5s ', '5s5m', '٥s', 'Infinitys', '0x5s'])
      expect(() => duration(text)).toThrow(RangeError);
    for (const other of [null, undefined, {}, [], true, 5n, new Date(5)])
      expect(millisecondsOf(other)).toBeNaN();
    for (const other of [5, undefined, null])
      expect(() => duration(other as never)).toThrow(RangeError);
  });

  it('is no string of another form', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d+(\.\d+)?(ms|[smhd])$/.test(text));
        expect(millisecondsOf(text)).toBeNaN();
      }),
    );
  });

  it('of a host option is more than 0', () => {
    expect(durationOption('lease', '1m')).toBe(60_000);
    expect(durationOption('lease', Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
    for (const wrong of [0, -1, Number.NaN, '0s', '1 min', null])
      expect(() => durationOption('lease', wrong as Duration)).toThrow(
        /^lease must be more than 0/,
      );
  });

  it('of an effect is never shown in an error if it is a string, which could hold an answer', () => {
    const error = thrown(() => step('pay', () => 1, { timeout: 'my secret' as never }));
    expect(isAuthoringError(error)).toBe(true);
    expect(String(error)).not.toContain('secret');
  });
});

test('a saga goes on with a duration that was written in another way', async () => {
  const waiting = (until: Duration): Program =>
    saga({ name: 'waiting', version: '1' }, function* () {
      yield* sleep(until);
      return 'done';
    });
  const world = new World();
  const { state } = suspended(
    await start(waiting(90_000), {}, world, { budget: 1_000, maxHold: 500 }),
  );
  world.time += 90_000;
  expect(await turn(waiting('1.5m'), state, {}, world)).toMatchObject({ status: 'completed' });
});

function thrown(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    return error;
  }
  return undefined;
}
