import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenRefused } from '../src/index.ts';
import { ByteReader, ByteWriter } from '../src/token/byte-layout.ts';
import { decodeClaims, encodeClaims } from '../src/token/claims.ts';
import { isPaddedLength, pack, unpack } from '../src/token/layout.ts';
import { resolveLimits } from '../src/token/token-limits.ts';
import {
  binding,
  claimsWith,
  expectations,
  forge,
  implementations,
  outcomeOf,
  sealerWith,
} from './fixtures.ts';

const claims = encodeClaims(claimsWith(), binding);
const streams = [
  { bytes: new Uint8Array([1, 2, 3]), inflated: 3 },
  { bytes: new Uint8Array(0), inflated: 0 },
];
const good = pack({ claims, streams });
/** Offset of the number of streams. */
const table = 2 + claims.length;

/** The good plaintext with some of its bytes changed. */
function edit(...changes: readonly (readonly [offset: number, value: number])[]): Uint8Array {
  const bytes = good.slice();
  for (const [offset, value] of changes) bytes[offset] = value;
  return bytes;
}

/** Content with zeros up to the padded length. */
function padded(content: Uint8Array): Uint8Array {
  let { length } = content;
  while (length % 64 !== 24) length += 1;
  const plaintext = new Uint8Array(length);
  plaintext.set(content);
  return plaintext;
}

/** A plaintext of claims alone. */
function ofClaims(write: (writer: ByteWriter) => ByteWriter): Uint8Array {
  return pack({ claims: write(new ByteWriter()).finish(), streams: [] });
}

/** Claims that are good up to the member that `change` replaces. */
function withMember(change: {
  readonly [member: string]: (writer: ByteWriter) => ByteWriter;
}): Uint8Array {
  const members: typeof change = {
    purpose: (writer) => writer.number(0),
    audience: (writer) => writer.text('deployer'),
    method: (writer) => writer.text('tools/callSaga'),
    target: (writer) => writer.text('deploy'),
    argsDigest: (writer) => writer.text(''),
    name: (writer) => writer.text(null),
    version: (writer) => writer.text('1'),
    principal: (writer) => writer.text('user-1'),
    engine: (writer) => writer.number(1),
    turn: (writer) => writer.number(3),
    jti: (writer) => writer.text('jti-3'),
    born: (writer) => writer.number(1_750_000_000_000),
    iat: (writer) => writer.number(1_750_000_000_000),
    exp: (writer) => writer.number(1_750_003_600_000),
    ...change,
  };
  return ofClaims((writer) => Object.values(members).reduce((all, write) => write(all), writer));
}

const raw =
  (...bytes: readonly number[]) =>
  (writer: ByteWriter): ByteWriter =>
    writer.bytes(Uint8Array.from(bytes));

const malformed: Record<string, Uint8Array> = {
  'version 0': edit([0, 0]),
  'version 2': edit([0, 2]),
  'a stream more than there is': edit([table, 3]),
  'a stream less than there is': edit([table, 1]),
  'claims one byte longer': edit([1, claims.length + 1]),
  'claims one byte shorter': edit([1, claims.length - 1]),
  'claims longer than the token': padded(
    new ByteWriter().number(1).number(9_000).bytes(claims).finish(),
  ),
  'claims of nearly 2 to the 53 bytes': padded(
    new ByteWriter()
      .number(1)
      .number(2 ** 53 - 1)
      .finish(),
  ),
  'a stream longer than the token': padded(
    new ByteWriter().number(1).number(claims.length).bytes(claims).number(1).number(2_000).finish(),
  ),
  'a compressed stream that is as long as its stored bytes': padded(
    new ByteWriter()
      .number(1)
      .number(claims.length)
      .bytes(claims)
      .number(1)
      .number(1)
      .number(0)
      .finish(),
  ),
  'a byte in the padding': edit([good.length - 1, 1]),
  'a block of padding too many': new Uint8Array([...good, ...new Uint8Array(64)]),
  'a block too few': good.slice(0, -64),
  'padding up to a multiple of 64': new Uint8Array([...good, ...new Uint8Array(40)]),
  'nothing but zeros': new Uint8Array(88),
  'no claims': ofClaims((writer) => writer),
  'a claim too few': pack({ claims: claims.subarray(0, -6), streams: [] }),
  'a claim too many': pack({ claims: new Uint8Array([...claims, 1]), streams: [] }),
  'a purpose that does not exist': withMember({ purpose: (writer) => writer.number(10) }),
  'a method that is null': withMember({ method: (writer) => writer.text(null) }),
  'an audience that is null': withMember({ audience: (writer) => writer.text(null) }),
  'a token ID that is null': withMember({ jti: (writer) => writer.text(null) }),
  'a text past the end': withMember({ exp: (writer) => writer.text('1') }),
  'an end past the safe integers': withMember({ exp: raw(255, 255, 255, 255, 255, 255, 255, 127) }),
  'an end of nine bytes': withMember({ exp: raw(128, 128, 128, 128, 128, 128, 128, 128, 1) }),
  'a number with a zero behind it': withMember({ turn: raw(131, 0) }),
  'a text that is not UTF-8': withMember({ principal: raw(2 * 4, 0xc3, 0x28) }),
  'a digest of 15 bytes': withMember({ argsDigest: raw(15 * 4 + 1, ...new Uint8Array(15)) }),
  'half a code unit': withMember({ principal: raw(3 * 4 + 2, 0xd8, 0, 0) }),
  'code units without a lone surrogate': withMember({ principal: raw(2 * 4 + 2, 0, 65) }),
  'a null with bytes': withMember({ principal: raw(4 + 3, 65) }),
};

describe.each(implementations)('the layout, %s', (implementation) => {
  const sealer = sealerWith({ implementation });

  it('[T1] opens the plaintexts that the malformed ones are derived from', async () => {
    const opened = await sealer.open(await forge({ plaintext: good }), expectations);
    expect(opened.streams).toStrictEqual([new Uint8Array([1, 2, 3]), new Uint8Array(0)]);
    const { claims: read } = await sealer.open(await forge({ plaintext: withMember({}) }), {
      purpose: 'token',
    });
    expect(read).toMatchObject({
      saga: { name: 'deploy', version: '1' },
      principal: 'user-1',
      jti: 'jti-3',
    });
  });

  it.each(Object.entries(malformed))(
    '[T1] refuses %s, also in an authentic token',
    async (_, plaintext) => {
      const token = await forge({ plaintext });
      const reason = await outcomeOf(() =>
        sealer.open(token, { purpose: 'token', ignoreExpiry: true }),
      );
      expect(['malformed', 'too_large']).toContain(reason);
    },
  );
});

it('[T1] refuses every truncation of a plaintext, and reads no changed table as the same content', () => {
  for (let length = 0; length < good.length; length += 1) {
    expect(() => unpack(good.subarray(0, length), resolveLimits())).toThrow(TokenRefused);
  }
  const read = (plaintext: Uint8Array): string => {
    const contents = unpack(plaintext, resolveLimits());
    const { claims: opened } = decodeClaims(contents.claims, binding);
    return JSON.stringify([
      opened,
      contents.streams.map(({ bytes, inflated }) => [...bytes, inflated]),
    ]);
  };
  const same = read(good);
  for (const offset of [0, 1, table, table + 1, table + 2]) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = edit([offset, (good[offset] ?? 0) ^ (1 << bit)]);
      if (offset < table) expect(() => read(changed)).toThrow(TokenRefused);
      // More streams, or a longer one, take zeros of the padding.
      else expect(textOrRefusal(() => read(changed))).not.toBe(same);
    }
  }
});

function textOrRefusal(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof TokenRefused) return error.reason;
    throw error;
  }
}

it('[T10] pads to 24 bytes more than a multiple of 64, with fewer than 64 zeros', () => {
  for (let length = 0; length < 200; length += 1) {
    const plaintext = pack({ claims: new Uint8Array(length).fill(1), streams: [] });
    expect(plaintext.length % 64).toBe(24);
    expect(isPaddedLength(plaintext.length)).toBe(true);
    expect(plaintext.length - plaintext.lastIndexOf(1) - 2).toBeLessThan(64);
  }
});

it('[T6] decodes any bytes as claims, or refuses them', () => {
  const opens = (bytes: Uint8Array): boolean => {
    try {
      const { claims: read, ...bound } = decodeClaims(bytes, binding);
      // Decoded claims encode and decode to the same claims.
      expect(decodeClaims(encodeClaims(read, bound), binding)).toStrictEqual({
        ...bound,
        claims: read,
      });
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(TokenRefused);
      expect(error).toMatchObject({ code: 'refused', reason: 'malformed' });
      return false;
    }
  };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void opens(bytes)),
    { numRuns: 2_000 },
  );
  // Good claims with a few bytes changed reach every member.
  let opened = 0;
  const changes = fc.array(fc.tuple(fc.nat(claims.length - 1), fc.nat(255)), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(changes, (changed) => {
      const bytes = claims.slice();
      for (const [offset, value] of changed) bytes[offset] = value;
      opened += opens(bytes) ? 1 : 0;
    }),
    { numRuns: 5_000 },
  );
  expect(opened).toBeGreaterThan(500);
});

it('[T11] reads any plaintext, or refuses it', () => {
  const start = fc.constantFrom([], [1], [2], [2, 1, 0, 1], [2, 0, 16]);
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 150 }), (first, rest) => {
      const plaintext = padded(Uint8Array.from([...first, ...rest]));
      try {
        const contents = unpack(plaintext, resolveLimits());
        expect(pack(contents)).toStrictEqual(plaintext);
      } catch (error) {
        expect(error).toBeInstanceOf(TokenRefused);
      }
    }),
    { numRuns: 3_000 },
  );
});

it('[T6] returns numbers and texts in the order written', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      null,
      '',
      '\ufeff',
      '\ud800',
      'a\udfffb',
      'A'.repeat(22),
      'A'.repeat(43),
      'B'.repeat(22),
    ),
    fc
      .uint8Array({ minLength: 16, maxLength: 16 })
      .map((bytes) => Buffer.from(bytes).toString('base64url')),
  );
  const numbers = fc.oneof(
    fc.maxSafeNat(),
    fc.constantFrom(0, 127, 128, 2 ** 31, 2 ** 32, 2 ** 53 - 1),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(texts, numbers), { maxLength: 20 }), (values) => {
      const writer = new ByteWriter();
      for (const value of values)
        void (typeof value === 'number' ? writer.number(value) : writer.text(value));
      const reader = new ByteReader(writer.finish());
      const read = values.map((value) =>
        typeof value === 'number' ? reader.number() : reader.textOrNull(),
      );
      expect(read).toStrictEqual(values);
      expect(reader.isAtEnd).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
