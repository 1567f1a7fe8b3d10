import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claims, Purpose } from '../src/index.ts';
import { toBase64Url } from '../src/index.ts';
import {
  audience,
  bytesOf,
  claimsWith,
  expectations,
  implementations,
  now,
  pairs,
  sealerWith,
  sid,
} from './fixtures.ts';

const purposes: readonly Purpose[] = [
  'token',
  'response',
  'handle',
  'blob',
  'ticket',
  'answer',
  'wake',
  'start',
];

const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('\ud800'));
const anyTime = fc.integer({ min: 0, max: now });
const plain = { noNullPrototype: true };
const anyClaims: fc.Arbitrary<Claims> = fc.record(
  {
    method: anyText,
    entry: fc.record({ target: anyText, argsDigest: anyText }, plain),
    saga: fc.record({ name: anyText, version: anyText }, plain),
    principal: fc.option(anyText),
    engine: fc.nat(),
    turn: fc.nat(),
    jti: anyText,
    born: anyTime,
    iat: anyTime,
    exp: anyTime.map((time) => time + now),
  },
  plain,
);
const anyStream = fc.record({
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: 'grapheme' }),
    fc.nat(9000).map((length) => 'saga '.repeat(length / 5)),
    fc.uint8Array({ minLength: 2040, maxLength: 2056, size: 'max' }),
  ),
  compress: fc.boolean(),
});

/** Class and bytes as text: `expect` compares arrays of bytes a hundred times slower. */
const textOf = (bytes: Uint8Array): string => `${bytes.constructor.name} ${toBase64Url(bytes)}`;

describe.each(pairs)('a token, $from to $to', ({ from, to }) => {
  it('[T1] opens to its original content', async () => {
    const sealer = sealerWith({ implementation: from });
    const opener = sealerWith({ implementation: to });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...purposes),
        fc.uint8Array({ minLength: 16, maxLength: 16 }).map(toBase64Url),
        anyClaims,
        fc.array(anyStream, { maxLength: 4 }),
        async (purpose, saga, claims, streams) => {
          const token = await sealer.seal(purpose, saga, claims, streams);
          const { stored, ...opened } = await opener.open(token, { purpose, sid: saga });
          const expected = streams.map(({ bytes }) =>
            typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes,
          );
          expect(stored.map(({ inflated }) => inflated)).toStrictEqual(
            expected.map(({ length }) => length),
          );
          expect({ ...opened, streams: opened.streams.map(textOf) }).toStrictEqual({
            claims,
            purpose,
            audience,
            kid: 'k1',
            sid: saga,
            streams: expected.map(textOf),
          });
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe.each(implementations)('sealing, %s', (implementation) => {
  const sealer = sealerWith({ implementation });

  it('[T2] shows only format, key ID, and saga ID', async () => {
    const token = await sealer.seal('token', sid, claimsWith(), [
      { bytes: 'secret', compress: false },
    ]);
    const [header = '', ...rest] = token.split('.');
    expect(JSON.parse(new TextDecoder().decode(bytesOf(header)))).toStrictEqual({
      alg: 'dir',
      enc: 'A256GCM',
      typ: 'saga1+jwe',
      kid: 'k1',
      sid,
    });
    const readable = rest.map((part) => String.fromCharCode(...bytesOf(part))).join('');
    for (const word of ['deploy', 'user-1', 'tools', 'secret', audience])
      expect(readable).not.toContain(word);
  });

  it('[T1] seals the same content twice into different tokens with different nonces', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 50 }, async () => sealer.seal('token', sid, claimsWith(), [])),
    );
    expect(new Set(tokens.map((token) => token.split('.')[2])).size).toBe(50);
  });

  it('[T3] opens the tokens of many sagas and purposes, in any order', async () => {
    const ids = Array.from({ length: 150 }, () => sealer.newSagaId());
    const tokens = await Promise.all(
      ids.flatMap((id) =>
        (['token', 'handle'] as const).map(async (purpose) => ({
          id,
          purpose,
          token: await sealer.seal(purpose, id, claimsWith(), []),
        })),
      ),
    );
    for (const { id, purpose, token } of [...tokens.toReversed(), ...tokens]) {
      expect((await sealer.open(token, { purpose, sid: id })).sid).toBe(id);
    }
  });

  it('[T1] creates saga IDs of 16 random bytes', () => {
    const ids = Array.from({ length: 50 }, () => sealer.newSagaId());
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(bytesOf(id)).toHaveLength(16);
  });

  it.each([
    '',
    'short',
    'A'.repeat(21),
    'A'.repeat(23),
    `${'A'.repeat(21)}B`,
    `${'A'.repeat(21)}+`,
  ])('[T1] refuses the saga ID %j', async (id) => {
    await expect(async () => sealer.seal('token', id, claimsWith(), [])).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });

  it.each<[string, object]>([
    ['a time that is not finite', { exp: Number.NaN }],
    ['a time that is infinite', { exp: Number.POSITIVE_INFINITY }],
    ['a time with a fraction', { iat: 1.5 }],
    ['a time before the epoch', { born: -1 }],
    ['a time as text', { iat: '1' }],
    ['a turn past the safe integers', { turn: 2 ** 53 }],
    ['an absent principal', { principal: undefined }],
    ['a method that is a number', { method: 1 }],
    ['an engine that is null', { engine: null }],
  ])('[T6] refuses %s', async (_, change) => {
    const claims = { ...claimsWith(), ...change } as Claims;
    await expect(async () => sealer.seal('token', sid, claims, [])).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });

  it('[T3] refuses an unknown purpose', async () => {
    const purpose = 'session' as Purpose;
    await expect(async () => sealer.seal(purpose, sid, claimsWith(), [])).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });

  it('[T1] refuses a nonce of another length', async () => {
    const short = sealerWith({ implementation, random: (length) => new Uint8Array(length - 1) });
    await expect(async () => short.seal('token', sid, claimsWith(), [])).rejects.toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
    );
  });
});

it('[T1] is synchronous on the fast path, in values and in errors', () => {
  const sealer = sealerWith({ implementation: 'fast' });
  const token = sealer.seal('token', sid, claimsWith(), []);
  if (typeof token !== 'string') throw new Error('a promise');
  expect(sealer.open(token, expectations)).toMatchObject({ sid });
  expect(() => sealer.open('', expectations)).toThrow(expect.objectContaining({ code: 'refused' }));
});

it('[T1] is asynchronous on the portable path, in values and in errors', async () => {
  const sealer = sealerWith({ implementation: 'portable' });
  const token = sealer.seal('token', sid, claimsWith(), []);
  expect(token).toBeInstanceOf(Promise);
  const opened = sealer.open('', expectations);
  expect(opened).toBeInstanceOf(Promise);
  await expect(opened).rejects.toMatchObject({ code: 'refused' });
  await token;
});

it('[T1] keeps the streams of a token in plain Uint8Arrays on both paths', async () => {
  for (const { from, to } of pairs) {
    const token = await sealerWith({ implementation: from }).seal('token', sid, claimsWith(), [
      { bytes: 'x', compress: false },
      { bytes: 'x'.repeat(5000), compress: true },
    ]);
    const { streams } = await sealerWith({ implementation: to }).open(token, expectations);
    expect(streams.map(({ constructor }) => constructor)).toStrictEqual([Uint8Array, Uint8Array]);
  }
});
