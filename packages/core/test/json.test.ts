import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertJson, formatPlace, InvalidJson } from '../src/values/json.ts';

function refusal(value: unknown, maxDepth?: number): InvalidJson {
  try {
    assertJson(
      value,
      maxDepth === undefined ? { where: 'answers' } : { where: 'answers', maxDepth },
    );
  } catch (error) {
    if (error instanceof InvalidJson) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

describe('assertJson', () => {
  it('[T6] accepts every JSON value without own __proto__ keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        assertJson(JSON.parse(JSON.stringify(value)), { where: 'value' });
      }),
    );
  });

  it('[T9] refuses an own __proto__ key and names its path', () => {
    const error = refusal(JSON.parse('[{"result":{"content":{"__proto__":{"admin":true}}}}]'));
    expect(error).toMatchObject({ code: 'invalid_json' });
    expect(error.code).toBe('invalid_json');
    expect(error.path).toBe('answers[0].result.content.__proto__');
    expect(error.message).not.toContain('admin');
  });

  it('[T11] accepts nesting of 64 levels and refuses 65', () => {
    expect(() => assertJson(nested(64), { where: 'answers' })).not.toThrow();
    expect(refusal(nested(65)).message).toContain('deeper than 64 levels');
  });

  it('[T11] refuses a hundred thousand levels without exhausting the stack, whatever the limit', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    expect(refusal(deep).code).toBe('invalid_json');
    expect(refusal(deep, 99_999).code).toBe('invalid_json');
    expect(() => assertJson(deep, { where: 'answers', maxDepth: 100_000 })).not.toThrow();
  });

  it.each([
    ['a number that is not finite', { x: Number.NaN }, 'answers.x'],
    ['an infinity', [1, Number.NEGATIVE_INFINITY], 'answers[1]'],
    ['a lone high surrogate', { a: { b: 'x\uD800' } }, 'answers.a.b'],
    ['a lone low surrogate', ['\uDC00x'], 'answers[0]'],
    ['undefined', { a: [undefined] }, 'answers.a[0]'],
    ['a bigint', { a: 1n }, 'answers.a'],
    ['a function', { a: () => 1 }, 'answers.a'],
    ['a Date', { a: new Date(0) }, 'answers.a'],
    ['a Map', new Map(), 'answers'],
    [
      'a class instance',
      [
        new (class {
          readonly pin = 'secret';
        })(),
      ],
      'answers[0]',
    ],
  ])('[T6] refuses %s and names the path', (_what, value, path) => {
    expect(refusal(value).path).toBe(path);
  });

  it('[T6] refuses a lone surrogate in a key', () => {
    expect(refusal({ 'a\uDFFF': 1 }).message).toContain('lone surrogate in its key');
  });

  it('[T6] refuses a hole in an array', () => {
    const holed: unknown[] = [1];
    holed.length = 2;
    expect(refusal(holed).path).toBe('answers[1]');
  });

  it('[T6] accepts paired surrogates and objects without a prototype', () => {
    const bare: object = Object.assign(Object.create(null), { a: '😀' });
    expect(() => assertJson(bare, { where: 'answers' })).not.toThrow();
  });

  it('[T6] does not repeat the value in the message', () => {
    expect(refusal({ password: 'hunter2\uD800' }).message).not.toContain('hunter2');
  });
});

describe('formatPlace', () => {
  it('[T6] quotes keys that are not identifiers, and truncates long ones', () => {
    const key = formatPlace('a', {
      parent: { parent: undefined, key: 'b c' },
      key: 'x'.repeat(1000),
    });
    expect(key).toBe(`a["b c"]["${'x'.repeat(64)}…"]`);
    expect(formatPlace('', { parent: undefined, key: 'target' })).toBe('target');
  });
});
