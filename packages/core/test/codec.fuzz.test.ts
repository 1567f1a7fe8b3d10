import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { CodecError, decode, encode } from '../src/values/codec.ts';

const own = fc.constantFrom('$', '__proto__', 'constructor', 'toJSON', 'then', 'length', 'a');
const letter = fc.constantFrom(
  '$',
  'u',
  'n',
  '+',
  '-',
  '0',
  'd',
  'b',
  'l',
  'y',
  's',
  'e',
  'm',
  '?',
  '',
);

/** JSON that reads like tags, or nearly. */
const nearly: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.oneof(letter, fc.string(), fc.integer(), fc.double(), fc.constantFrom(null, true, 1e300)),
    fc.constantFrom(
      '1'.repeat(4096),
      '1'.repeat(4097),
      '-0',
      '01',
      'https://a.example',
      '//',
      '====',
      '\u0100',
    ),
    fc
      .tuple(letter, fc.array(tie('value'), { maxLength: 4 }))
      .map(([name, rest]) => Object.fromEntries([['$', [name, ...rest]]])),
    letter.map((name) => ({ $: name })),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(own, tie('value')), { maxLength: 3, selector: ([name]) => name })
      .map(Object.fromEntries),
  ),
})).value;

/** Reads a text; undefined where it is refused as documented. */
function read(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: decode(text) };
  } catch (error) {
    if (error instanceof CodecError && error.code === 'undecodable') return undefined;
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

it('[T9] reads or rejects any JSON, changes no prototype, and writes every value that it read', () => {
  const before = Reflect.ownKeys(Object.prototype);
  let decoded = 0;
  let refused = 0;
  fc.assert(
    fc.property(nearly, (json) => {
      const result = read(JSON.stringify(json));
      if (result === undefined) {
        refused += 1;
        return;
      }
      decoded += 1;
      const text = encode(result.value);
      expect(encode(decode(text))).toBe(text);
    }),
    { numRuns: 3000 },
  );
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  expect(Reflect.get({}, 'a')).toBeUndefined();
  // The fuzz has been on both sides: otherwise it shows nothing.
  expect(decoded).toBeGreaterThan(100);
  expect(refused).toBeGreaterThan(100);
});

it('[T9] refuses any other text, whatever the change', () => {
  const written = encode({
    when: new Date(0),
    all: new Map([['a', new Set([1n, undefined])]]),
    $: -0,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc
          .tuple(fc.nat(written.length), fc.nat(5), fc.string({ maxLength: 5 }))
          .map(([at, cut, text]) => written.slice(0, at) + text + written.slice(at + cut)),
      ),
      (text) => {
        read(text);
      },
    ),
    { numRuns: 2000 },
  );
});

it.each(['[', '{"a":', '{"$":["s",', '{"$":["$",', '{"$":["m",', '{"$":["e","a","b",{"cause":'])(
  '[T9] [T11] refuses a thousand levels of %s without exhausting the stack',
  (open) => {
    const close = Array.from(open.replaceAll(/"[^"]*"/g, ''))
      .toReversed()
      .flatMap((char) => (char === '[' ? [']'] : char === '{' ? ['}'] : []))
      .join('');
    const text = `${open.repeat(1000)}1${close.repeat(1000)}`;
    expect(() => JSON.parse(text) as unknown).not.toThrow();
    expect(() => decode(text)).toThrow(CodecError);
  },
);
