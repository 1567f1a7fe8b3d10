import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalize, digestArguments, digestText, SealError } from '../src/index.ts';

const anyJson = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'));
const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

class Point {
  readonly x = 1;
}

describe('canonical JSON', () => {
  it('[T6] equals the sample of RFC 8785, section 3.2.2', () => {
    const sample = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalize(JSON.parse(sample))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it('[T6] writes every UTF-16 unit except surrogates as JSON.stringify does', () => {
    for (let unit = 0; unit <= 0xffff; unit += 1) {
      if (unit === 0xd800) unit = 0xe000;
      const text = String.fromCharCode(0x61, unit, 0x62);
      if (canonicalize(text) !== JSON.stringify(text)) expect.fail(`U+${unit.toString(16)}`);
    }
    expect(canonicalize('a\u{1f600}b')).toBe('"a\u{1f600}b"');
  });

  it('[T6] sorts as RFC 8785, section 3.2.3, by UTF-16 code units', () => {
    const sample = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(JSON.parse(canonicalize(sample))).toStrictEqual(sample);
    const order = [...canonicalize(sample).matchAll(/:"([^"]*)"/g)].map(([, value]) => value);
    expect(order).toStrictEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it.each<[string, string]>([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['41b3de4355555555', '333333333.3333333'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
  ])('[T6] writes the number %s of RFC 8785, appendix B, as %s', (hex, text) => {
    expect(
      canonicalize(new DataView(Uint8Array.from(Buffer.from(hex, 'hex')).buffer).getFloat64(0)),
    ).toBe(text);
  });

  it('[T6] is the same for the same value in any order of members', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(canonicalize(reverse(value))).toBe(canonicalize(value));
        expect(canonicalize(JSON.parse(canonicalize(value)))).toBe(canonicalize(value));
        expect(JSON.parse(canonicalize(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('[T6] differs for different values', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (one, two) => {
        const same = canonicalize(one) === canonicalize(two);
        const [first, second] = [one, two].map(
          (value) => JSON.parse(JSON.stringify(value)) as unknown,
        );
        if (same) expect(first).toEqual(second);
        else expect(first).not.toEqual(second);
      }),
    );
  });

  it('[T6] omits a member that is undefined, as JSON does', () => {
    expect(canonicalize({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('[T6] accepts objects of another realm and without a prototype', () => {
    expect(canonicalize(runInNewContext('({ b: [1], a: {} })'))).toBe('{"a":{},"b":[1]}');
    expect(canonicalize(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  it.each<[string, unknown]>([
    ['a lone high surrogate', '\ud800'],
    ['a lone low surrogate', 'a\udc00b'],
    ['surrogates the wrong way round', '\ude00\ud83d'],
    ['a lone surrogate in a name', { ['\ud800']: 1 }],
    ['NaN', [Number.NaN]],
    ['an infinity', { a: Number.NEGATIVE_INFINITY }],
    ['undefined', undefined],
    ['undefined in an array', [undefined]],
    ['a hole', Array(1)],
    ['a bigint', 1n],
    ['a symbol', { a: Symbol('a') }],
    ['a function', { a: () => 1 }],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(1)],
    ['an instance of a class', new Point()],
    ['a boxed text', Object('a')],
    ['an own __proto__', JSON.parse('{"__proto__":{"a":1}}')],
    ['a deep own __proto__', JSON.parse('[{"a":{"__proto__":null}}]')],
    ['nesting 65 deep', nest(65)],
    ['nesting 65 deep in objects', JSON.parse(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)],
    ['a cycle', cycle()],
  ])('[T6] refuses %s', (_, value) => {
    expect(() => canonicalize(value)).toThrow(SealError);
    expect(() => canonicalize(value)).toThrow(
      expect.objectContaining({ code: 'arguments' }) as Error,
    );
  });

  it('[T6] accepts nesting of 64 levels, or of the given limit', () => {
    expect(canonicalize(nest(64))).toBe('['.repeat(64) + ']'.repeat(64));
    expect(canonicalize(nest(2), { maxDepth: 2 })).toBe('[[]]');
    expect(() => canonicalize(nest(3), { maxDepth: 2 })).toThrow(SealError);
  });

  it('[T6] contains nothing of the value in an error', () => {
    expect(() => canonicalize({ password: 'hunter2\ud800' })).toThrow(
      /^The arguments hold a lone surrogate$/,
    );
  });
});

describe('the digest of arguments', () => {
  it('[T6] is SHA-256 of the canonical text', async () => {
    expect(await digestArguments({ b: 1, a: '€' })).toBe(await digestText('{"a":"€","b":1}'));
    expect(await digestText('{}')).toBe('RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o');
  });

  it('[T6] is that of {} without arguments', async () => {
    expect(await digestArguments(undefined)).toBe(await digestArguments({}));
  });

  it('[T6] omits resumeToken and answers, at the top level and unread', async () => {
    const plain = await digestArguments({ service: 'web' });
    expect(await digestArguments({ service: 'web', resumeToken: 'a', answers: [Number.NaN] })).toBe(
      plain,
    );
    expect(await digestArguments({ service: 'web', nested: { answers: 1 } })).not.toBe(
      await digestArguments({ service: 'web', nested: {} }),
    );
  });

  it('[T6] accepts arguments 64 levels deep and refuses deeper ones', async () => {
    expect(await digestArguments({ a: nest(63) })).toMatch(/^[\w-]{43}$/);
    await expect(async () => digestArguments({ a: nest(64) })).rejects.toThrow(SealError);
  });

  it.each([null, [], 'a', 1, new Map()])(
    '[T6] refuses arguments that are not an object: %j',
    async (args) => {
      await expect(async () => digestArguments(args)).rejects.toThrow(SealError);
    },
  );
});

function reverse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverse);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reverse(member)]),
  );
}

function cycle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
