import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode } from '../src/values/codec.ts';
import { agreementDigest, fingerprint, fingerprintOfPart } from '../src/values/fingerprint.ts';

const long = 'abcdefghijklmnopqrstuvwxyz'.repeat(8);

describe('fingerprint', () => {
  it('[R3] is a signed 32-bit integer', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(value) | 0).toBe(fingerprint(value));
      }),
    );
  });

  it('[R3] of a kind and one part is the same by its shorter way', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (message) => {
        for (const kind of ['elicit', 'step', 'call'] as const)
          expect(fingerprintOfPart(kind, message)).toBe(fingerprint(kind, message));
      }),
    );
  });

  const units = 'x'.repeat(1_000);
  const changed = `${units.slice(0, 500)}y${units.slice(501)}`;
  const bytes = new Uint8Array(1_000);
  it.each([
    ['a text', units, changed],
    ['a key', { [units]: 1 }, { [changed]: 1 }],
    ['a member', { list: [{ text: units }] }, { list: [{ text: changed }] }],
    ['bytes', bytes, bytes.with(500, 1)],
    ['a URL', new URL(`https://a.b/${units}`), new URL(`https://a.b/${changed}`)],
    ['an error', new Error(units), new Error(changed)],
    ['a map', new Map([[units, 1]]), new Map([[changed, 1]])],
    ['a set', new Set([units]), new Set([changed])],
  ])('[R3] differs by one unit in the middle of %s', (_, one, other) => {
    expect(fingerprint('step', one)).not.toBe(fingerprint('step', other));
  });

  it('[R3] ignores the order of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).toReversed());
        expect(fingerprint(turned)).toBe(fingerprint(value));
      }),
    );
  });

  it('[R3] is the same after the codec', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fingerprint(decode(encode(value)))).toBe(fingerprint(value));
      }),
    );
  });

  it('[R3] skips properties that are undefined, and treats -0 as 0', () => {
    expect(fingerprint({ a: 1, b: undefined })).toBe(fingerprint({ a: 1 }));
    expect(fingerprint(-0)).toBe(fingerprint(0));
  });

  it('[R3] distinguishes values of different shape', () => {
    const values: unknown[][] = [
      [],
      [undefined],
      [null],
      [false],
      [true],
      [0],
      [''],
      ['0'],
      [1],
      [1.5],
      [Number.NaN],
      [2 ** 32],
      [2 ** 33],
      [-(2 ** 32)],
      [1n],
      ['1'],
      [[]],
      [[undefined]],
      [[[]]],
      [{}],
      [{ a: 1 }],
      [{ a: '1' }],
      [{ b: 1 }],
      [{ a: { b: 1 } }],
      [{ a: 1, b: 2 }],
      [{ a: 2, b: 1 }],
      [[1, 2]],
      [[2, 1]],
      [1, 2],
      [2, 1],
      ['ab'],
      ['a', 'b'],
      ['a\0'],
      ['a'],
      [new Date(1)],
      [new Date(Number.NaN)],
      [new Map([['a', 1]])],
      [new Map([['a', 2]])],
      [new Set(['a'])],
      [new Set([1])],
      [Uint8Array.of(1)],
      [Uint8Array.of(1, 0)],
      [new URL('https://example.com')],
      ['https://example.com/'],
      [new Error('a')],
      [new TypeError('a')],
      [(): number => 1],
    ];
    expect(new Set(values.map((parts) => fingerprint(...parts))).size).toBe(values.length);
  });

  it('[R3] has no more collisions than chance over a hundred thousand similar questions', () => {
    const seen = new Set<number>();
    for (let index = 0; index < 100_000; index++)
      seen.add(fingerprint(`Release item ${index}?`, { index }));
    // 2^-32 a pair: 1.2 expected.
    expect(seen.size).toBeGreaterThan(100_000 - 10);
  });

  it('[R3] hashes every character of a long string', () => {
    const all = Array.from(long, (_, index) =>
      fingerprint(`${long.slice(0, index)}\u0000${long.slice(index + 1)}`),
    );
    expect(new Set([...all, fingerprint(long)]).size).toBe(long.length + 1);
  });

  it('[R3] ignores the order of Map and Set entries', () => {
    expect(
      fingerprint(
        new Map([
          ['a', 1],
          ['b', 2],
        ]),
      ),
    ).toBe(
      fingerprint(
        new Map([
          ['b', 2],
          ['a', 1],
        ]),
      ),
    );
    expect(fingerprint(new Set([1, 2]))).toBe(fingerprint(new Set([2, 1])));
  });

  // Running sagas hold these numbers in their tokens: a change here is a new format version.
  it.each<[number, readonly unknown[]]>([
    [-504277740, []],
    [1087645176, [undefined]],
    [1807501850, [null]],
    [-629881977, [true]],
    [614042459, [0]],
    [1159243677, [-7]],
    [1971401668, [1_700_000_000_000]],
    [-465285033, [-(2 ** 40)]],
    [1681742378, [0.1]],
    [-244863467, [1e300]],
    [-616552696, [5e-324]],
    [665206452, [2 ** 60]],
    [1225322853, [Number.NaN]],
    [-1895678978, ['']],
    [-643924999, ['Please provide the deployment target:']],
    [-331712656, ['größe 😀']],
    [1287530991, [long]],
    [257235932, [123n]],
    [-1838417254, [[1, 'a', null]]],
    [-1553155465, [{ b: 1, a: { c: [] } }]],
    [1677010749, [new Date(0)]],
    [-1123643257, [new Map([['a', 1]])]],
    [1634672226, [new Set(['a'])]],
    [-1163133606, [Uint8Array.of(1, 2, 3)]],
    [-1665365759, [new URL('https://example.com/')]],
    [1758950671, [new Error('x')]],
    [1114441988, [[{ role: 'user', content: { type: 'text', text: 'hi' } }], 100]],
  ])('[R4] equals golden vector %i', (expected, parts) => {
    expect(fingerprint(...parts)).toBe(expected);
  });
});

describe('agreementDigest', () => {
  it('[W4] hashes every character of a long string', () => {
    const middle = `${long.slice(0, 100)}!${long.slice(101)}`;
    expect(agreementDigest(middle)).not.toBe(agreementDigest(long));
    expect(agreementDigest({ a: [middle] })).not.toBe(agreementDigest({ a: [long] }));
  });

  it('[W4] ignores the order of keys', () => {
    const answer = { action: 'accept', content: { a: 1, b: 'x' } };
    expect(agreementDigest({ content: { b: 'x', a: 1 }, action: 'accept' })).toBe(
      agreementDigest(answer),
    );
  });

  it('[R4] equals golden vectors', () => {
    expect(agreementDigest({ action: 'accept', content: { target: 'production' } })).toBe(
      1542230002,
    );
    expect(agreementDigest(long)).toBe(1087110615);
  });
});
