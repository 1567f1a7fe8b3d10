import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CodecError, decode, encode, revive } from '../src/values/codec.ts';
import { SagaError } from '../src/values/errors.ts';
import { mayHoldTag } from '../src/journal/entry-types.ts';

/** Deep equality that tells -0, NaN, holes, own `__proto__` keys, URLs and dates apart. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof URL && b instanceof URL) return a.href === b.href;
  if (a instanceof Map && b instanceof Map) return same([...a], [...b]);
  if (a instanceof Set && b instanceof Set) return same([...a], [...b]);
  const keys = Object.keys(a);
  return (
    same0(keys, Object.keys(b)) &&
    keys.every((key) => {
      const [left, right] = [
        Object.getOwnPropertyDescriptor(a, key),
        Object.getOwnPropertyDescriptor(b, key),
      ];
      return left !== undefined && right !== undefined && same(left.value, right.value);
    })
  );
}

function same0(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, index) => key === b[index]);
}

function refusal(value: unknown): CodecError {
  try {
    encode(value, { where: 'result' });
  } catch (error) {
    if (error instanceof CodecError) return error;
    throw error;
  }
  throw new Error('expected a refusal');
}

const key = fc.oneof(
  fc.constantFrom('$', '__proto__', 'toJSON', 'then', 'constructor', 'a'),
  fc.string({ unit: 'binary' }),
);

function objectOf(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  // fromEntries defines own keys, `__proto__` among them.
  return fc
    .uniqueArray(fc.tuple(key, value), { maxLength: 4, selector: ([name]) => name })
    .map(Object.fromEntries);
}

const tagLike = fc.constantFrom<unknown>(
  { $: 'u' },
  { $: ['d', 0] },
  { $: ['$', 'u'] },
  { $: { $: 'u' } },
  { $: ['?'] },
  { $: null },
);

const json: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
    ),
    fc.constant(null),
    tagLike,
    fc.array(tie('value'), { maxLength: 4 }),
    objectOf(tie('value')),
  ),
})).value;

const rich: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(
      fc.string(),
      fc.double(),
      fc.bigInt(),
      fc.date({ noInvalidDate: false }),
      fc.uint8Array(),
    ),
    fc.constantFrom(null, undefined, -0, true),
    fc.webUrl().map((href) => new URL(href)),
    tagLike,
    fc.array(tie('value'), { maxLength: 4 }),
    objectOf(tie('value')),
    fc
      .array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 })
      .map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
  ),
})).value;

describe('round trip', () => {
  it('[T9] keeps every JSON value, own __proto__ keys and imitated tags included', () => {
    fc.assert(
      fc.property(json, (value) => same(decode(encode(value)), value)),
      { numRuns: 500 },
    );
  });

  it('[T9] keeps every value of the closed set, however nested', () => {
    fc.assert(
      fc.property(rich, (value) => same(decode(encode(value)), value)),
      { numRuns: 500 },
    );
  });

  it('[T9] needs no revival if the text contains no tag', () => {
    fc.assert(
      fc.property(fc.oneof(json, rich), (value) => {
        const text = encode(value);
        return mayHoldTag(text) || same(JSON.parse(text), value);
      }),
      { numRuns: 500 },
    );
  });

  it('[T9] writes a decoded value as the same text', () => {
    fc.assert(
      fc.property(fc.oneof(json, rich), (value) => {
        const text = encode(value);
        expect(encode(decode(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('[T9] writes JSON without tags exactly as JSON.stringify does', () => {
    const value = { a: [1, 'x', null, true], $: 1, b: { c: { $: 2, d: 3 } } };
    expect(encode(value)).toBe(JSON.stringify(value));
  });

  it('[T9] escapes client JSON that imitates a tag', () => {
    const forged: unknown = JSON.parse('{"content":{"$":["d",0]}}');
    expect(encode(forged)).toBe('{"content":{"$":["$",["d",0]]}}');
    expect(decode(encode(forged))).toEqual({ content: { $: ['d', 0] } });
  });

  it('[T9] defines an own __proto__ key without a change of the prototype', () => {
    const forged: unknown = JSON.parse('{"__proto__":{"when":1},"x":{"__proto__":{"admin":true}}}');
    const value = { forged, when: new Date(0) };
    const back = decode(encode(value));
    expect(same(back, value)).toBe(true);
    const inPlace = decode('{"__proto__":{"$":["d",0]}}');
    expect(Object.getPrototypeOf(inPlace)).toBe(Object.prototype);
    expect(Object.keys(Object(inPlace))).toEqual(['__proto__']);
  });

  it('[T9] turns the holes of an array into undefined', () => {
    const holed: unknown[] = [1];
    holed[2] = 3;
    expect(same(decode(encode(holed)), [1, undefined, 3])).toBe(true);
  });

  it('[T9] returns a Buffer as a plain Uint8Array', () => {
    const back = decode(encode(Buffer.from([1, 2, 255])));
    expect(same(back, Uint8Array.of(1, 2, 255))).toBe(true);
  });

  it('[T9] keeps bytes of more than one piece', () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
    expect(same(decode(encode(bytes)), bytes)).toBe(true);
  });

  it('[T9] keeps plain values of another realm', () => {
    const foreign: unknown = runInNewContext('({ a: [1, { b: undefined }] })');
    expect(decode(encode(foreign))).toEqual({ a: [1, { b: undefined }] });
    expect(decode(encode(runInNewContext('new RangeError("far")')))).toMatchObject({
      name: 'RangeError',
    });
  });
});

describe('errors as values', () => {
  it('[R2] keeps name, message, code, data and cause, and never the stack', () => {
    const cause = new Error('inner');
    const error = Object.assign(new RangeError('outer', { cause }), {
      code: 'E_X',
      data: { at: new Date(0) },
      extra: 1,
    });
    const text = encode(error);
    expect(text).toBe(
      '{"$":["e","RangeError","outer",{"code":"E_X","data":{"at":{"$":["d",0]}},"cause":{"$":["e","Error","inner"]}}]}',
    );
    expect(text).not.toContain('codec.test');
    const back = decode(text);
    if (!(back instanceof Error)) throw new Error('not an error');
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
    expect(back.stack).toBe('RangeError: outer');
    expect(back).toMatchObject({ name: 'RangeError', code: 'E_X', data: { at: new Date(0) } });
    expect(back.cause).toMatchObject({ message: 'inner' });
    expect(encode(back)).toBe(text);
  });

  it('[T9] refuses an error that causes itself', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(refusal(error).message).toMatch('result contains itself');
  });
});

describe('refusals', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = [cyclic];

  it.each([
    ['a function', { a: [() => 1] }, 'result.a[0]'],
    ['a symbol', { a: Symbol('secret') }, 'result.a'],
    ['a symbol as a key', { a: { [Symbol('secret')]: 1 } }, 'result.a'],
    [
      'a class instance',
      {
        a: new (class {
          readonly pin = 'secret';
        })(),
      },
      'result.a',
    ],
    ['a subclass of Map', [new (class Sub extends Map {})()], 'result[0]'],
    ['a subclass of Array', { a: new (class Sub extends Array {})() }, 'result.a'],
    ['a subclass of Date with toJSON', new (class Sub extends Date {})(0), 'result'],
    ['a boxed string', { a: Object('secret') }, 'result.a'],
    ['another typed array', { a: new Float64Array(1) }, 'result.a'],
    ['a WeakMap', { a: new WeakMap() }, 'result.a'],
    ['a value inside a Map', new Map([['k', { f: () => 1 }]]), 'result[0].f'],
    [
      'an accessor',
      Object.defineProperty({}, 'a', { get: () => 'secret', enumerable: true }),
      'result.a',
    ],
    ['an own toJSON', { a: { toJSON: () => 'secret' } }, 'result.a'],
    ['a BigInt of 4,097 digits', { a: 10n ** 4096n }, 'result.a'],
    ['a huge BigInt', { a: -(1n << 1_000_000n) }, 'result.a'],
  ])('[T9] refuses %s with the path and without the value', (_what, value, path) => {
    const error = refusal(value);
    expect(error).toBeInstanceOf(SagaError);
    expect(error.code).toBe('unencodable');
    expect(error.path).toBe(path);
    expect(error.message).toContain(path);
    expect(error.message).not.toContain('secret');
  });

  it('[T9] suggests a fix', () => {
    expect(refusal({ a: () => 1 }).message).toContain('return plain data');
    expect(refusal({ a: Promise.resolve() }).message).toContain('await it first');
  });

  class Order {
    readonly id = 1;
  }
  const odd = {
    'a b': class {
      readonly id = 1;
    },
  };
  const hidden = Object.defineProperty({ own: 1 }, 'constructor', { get: () => Order }) as object;

  it.each<[string, unknown, string]>([
    ['its name', new Order(), 'result is an instance of Order: return plain data'],
    ['a Float64Array', new Float64Array(1), 'result is an instance of Float64Array: '],
    ['a name that is not an identifier', new odd['a b'](), 'result is an instance of a class: '],
    ['a prototype alone', Object.create({ own: 1 }), 'result is an instance of a class: '],
    ['a class behind an accessor', Object.create(hidden), 'result is an instance of a class: '],
    [
      'not what the value claims',
      Object.assign(new Order(), { constructor: { name: 'secret' } }),
      'result is an instance of Order: ',
    ],
  ])('[T9] names the class of a refused value as its code does: %s', (_, value, says) => {
    expect(refusal(value).message).toContain(says);
  });

  it('[T9] calls no accessor', () => {
    let calls = 0;
    const value = Object.defineProperty({}, 'a', { get: () => ++calls, enumerable: true });
    expect(refusal(value).path).toBe('result.a');
    expect(calls).toBe(0);
  });

  it('[T9] refuses a cycle', () => {
    expect(refusal(cyclic).message).toContain('contains itself');
  });

  it('[T9] keeps a BigInt of 4,096 digits of either sign', () => {
    const longest = 10n ** 4096n - 1n;
    expect(decode(encode([longest, -longest]))).toEqual([longest, -longest]);
  });

  it.each([
    ['arrays', (inner: unknown): unknown => [inner]],
    ['objects that imitate tags', (inner: unknown): unknown => ({ $: inner })],
    ['Maps', (inner: unknown): unknown => new Map([[inner, 1]])],
    ['errors', (inner: unknown): unknown => new Error('x', { cause: inner })],
  ])('[T11] keeps %s nested 64 levels and refuses 65', (_what, wrap) => {
    let value: unknown = 1;
    for (let level = 0; level < 64; level++) value = wrap(value);
    expect(encode(decode(encode(value)))).toBe(encode(value));
    expect(refusal(wrap(value)).message).toContain('deeper than 64 levels');
  });

  it.each([
    ['an object', 'result', (cycle: unknown) => cycle],
    ['a part of it', 'result.order', (cycle: unknown) => ({ id: 1, order: cycle })],
    ['an item', 'result.orders[1]', (cycle: unknown) => ({ orders: [1, cycle] })],
    ['a part of a Map', 'result[0]', (cycle: unknown) => new Map([['a', cycle]])],
  ])('reports the path at which a cycle begins: %s', (_, path, wrap) => {
    const customer: Record<string, unknown> = { name: 'Ada' };
    customer['orders'] = [{ customer }];
    expect(refusal(wrap(customer)).message).toMatch(`${path} contains itself`);
    expect(refusal(wrap(customer)).path).toBe(path);
  });

  it.each([
    '{"$":"x"}',
    '{"$":1}',
    '{"$":null}',
    '{"$":{}}',
    '{"$":[]}',
    '{"$":["?",1]}',
    '{"$":["b","1e9"]}',
    '{"$":["b","-0"]}',
    `{"$":["b","${'9'.repeat(4097)}"]}`,
    '{"$":["d","now"]}',
    '{"$":["l","no url"]}',
    '{"$":["y","*"]}',
    '{"$":["e",1,2]}',
    `${'['.repeat(1000)}${']'.repeat(1000)}`,
  ])('[T9] refuses text that it never writes: %s', (text) => {
    expect(() => decode(text)).toThrow(expect.objectContaining({ code: 'undecodable' }));
  });
});

describe('revive', () => {
  it('[T9] revives in place and returns the same objects', () => {
    const inner = { b: 1 };
    const parsed = { inner, list: [{ $: ['d', 5] }] };
    const back = revive(parsed);
    expect(back).toBe(parsed);
    expect(parsed.inner).toBe(inner);
    expect(parsed.list).toEqual([new Date(5)]);
  });

  it('[T9] returns primitives as they are', () => {
    expect([revive('$'), revive(1), revive(null), revive(true)]).toEqual(['$', 1, null, true]);
  });
});

describe('format', () => {
  // Tokens in the hands of clients hold these texts: a change here is a new format version.
  it.each([
    [undefined, '{"$":"u"}'],
    [Number.NaN, '{"$":"n"}'],
    [Number.POSITIVE_INFINITY, '{"$":"+"}'],
    [Number.NEGATIVE_INFINITY, '{"$":"-"}'],
    [-0, '{"$":"0"}'],
    [-12n, '{"$":["b","-12"]}'],
    [new Date(1_700_000_000_000), '{"$":["d",1700000000000]}'],
    [new Date(Number.NaN), '{"$":["d",null]}'],
    [
      new Map<unknown, unknown>([
        ['a', 1],
        [{ b: 2 }, undefined],
      ]),
      '{"$":["m","a",1,{"b":2},{"$":"u"}]}',
    ],
    [new Set([1, -0, 'x']), '{"$":["s",1,0,"x"]}'],
    [new URL('https://example.com/a?b=c'), '{"$":["l","https://example.com/a?b=c"]}'],
    [Uint8Array.of(0, 255, 16), '{"$":["y","AP8Q"]}'],
    [new TypeError('no'), '{"$":["e","TypeError","no"]}'],
    [{ $: 'u' }, '{"$":["$","u"]}'],
    [{ $: 1, a: 2 }, '{"$":1,"a":2}'],
  ])('[R4] writes golden vector %# and reads it back', (value, text) => {
    expect(encode(value)).toBe(text);
    expect(encode(decode(text))).toBe(text);
  });
});
