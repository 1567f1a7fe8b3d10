import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeClaims } from '../src/token/claims.ts';
import { pack, type StoredStream } from '../src/token/layout.ts';
import type { Sealer } from '../src/sealer/sealer.ts';
import {
  binding,
  claimsWith,
  expectations,
  forge,
  implementations,
  outcomeOf,
  pairs,
  sealerWith,
  sid,
  textOf,
} from './fixtures.ts';

const text = 'Is deploying to production safe right now? '.repeat(200);
const claims = encodeClaims(claimsWith(), binding);
const forgeStreams = (streams: readonly StoredStream[]): Promise<string> =>
  forge({ plaintext: pack({ claims, streams }) });

describe.each(pairs)('compression, $from to $to', ({ from, to }) => {
  const sealer = sealerWith({ implementation: from });
  const opener = sealerWith({ implementation: to });

  it('[T10] reduces a compressible stream, and restores it', async () => {
    const small = await sealer.seal('token', sid, claimsWith(), [{ bytes: text, compress: true }]);
    const large = await sealer.seal('token', sid, claimsWith(), [{ bytes: text, compress: false }]);
    expect(small.length).toBeLessThan(large.length / 8);
    for (const token of [small, large]) {
      const { streams } = await opener.open(token, expectations);
      expect(streams.map(textOf)).toStrictEqual([text]);
    }
  });

  const lengthOf = async (length: number, compress: boolean | number = true): Promise<number> => {
    const token = await sealer.seal('token', sid, claimsWith(), [
      { bytes: 'a'.repeat(length), compress },
    ]);
    return token.length;
  };

  it('[T10] does not compress a stream of 2,047 bytes, and compresses one of 2,048', async () => {
    expect(await lengthOf(2047)).toBeGreaterThan(2047);
    expect(await lengthOf(2048)).toBeLessThan(1000);
  });

  it('[T10] compresses a stream from the given minimum size', async () => {
    expect(await lengthOf(1023, 1024)).toBeGreaterThan(1023);
    expect(await lengthOf(1024, 1024)).toBeLessThan(1000);
    expect(await lengthOf(4096, 4097)).toBeGreaterThan(4096);
  });

  it('[T10] stores an incompressible stream unchanged', async () => {
    const bytes = new Uint8Array(randomBytes(3000));
    const may = await sealer.seal('token', sid, claimsWith(), [{ bytes, compress: true }]);
    const mayNot = await sealer.seal('token', sid, claimsWith(), [{ bytes, compress: false }]);
    expect(may).toHaveLength(mayNot.length);
    expect((await opener.open(may, expectations)).streams).toStrictEqual([bytes]);
  });
});

describe.each(implementations)('token lengths, %s', (implementation) => {
  const sealer = sealerWith({ implementation });

  it('[T10] are equal for results that differ only in a secret, whether an argument equals it or not', async () => {
    const guess = 'hunter2-hunter2-hunter2-hunter2';
    const args = JSON.stringify({ guess: guess.repeat(100) });
    const lengths = new Set<number>();
    for (const secret of [
      guess,
      'x9$kQ!mV2p@Zr7w&Lc4t*Yb6n^Hd1jF',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    ]) {
      expect(secret).toHaveLength(guess.length);
      const result = JSON.stringify({ echo: guess.repeat(100), secret: secret.repeat(100) });
      const token = await sealer.seal('token', sid, claimsWith(), [
        { bytes: args, compress: true },
        { bytes: result, compress: false },
      ]);
      lengths.add(token.length);
    }
    expect(lengths.size).toBe(1);
  });

  it('[T10] are equal within 64 bytes of content', async () => {
    const lengths = new Set<number>();
    for (let length = 0; length < 640; length += 1) {
      lengths.add(
        (
          await sealer.seal('token', sid, claimsWith(), [
            { bytes: 'x'.repeat(length), compress: false },
          ])
        ).length,
      );
    }
    expect(lengths.size).toBeLessThanOrEqual(11);
  });

  it('[T11] are limited: a stream of a megabyte of zeros is refused by its header before it is inflated', async () => {
    const bomb = deflateRawSync(new Uint8Array(8_000_000), { level: 9 });
    const token = await forgeStreams([{ bytes: bomb, inflated: 8_000_000 }]);
    expect(token.length).toBeLessThan(16_000);
    expect(await outcomeOf(() => sealer.open(token, expectations))).toBe('too_large');
  });

  it('[T11] are limited for many streams that inflate', async () => {
    const bomb = { bytes: deflateRawSync(new Uint8Array(131_073)), inflated: 131_073 };
    const token = await forgeStreams(Array.from({ length: 8 }, () => bomb));
    expect(await outcomeOf(() => sealer.open(token, expectations))).toBe('too_large');
  });

  it.each<[string, StoredStream]>([
    [
      'a bomb that declares little',
      { bytes: deflateRawSync(new Uint8Array(8_000_000)), inflated: 100_000 },
    ],
    [
      'a stream that inflates to one byte more than it declares',
      { bytes: deflateRawSync(Buffer.alloc(5001)), inflated: 5000 },
    ],
    [
      'a stream that inflates to one byte less',
      { bytes: deflateRawSync(Buffer.alloc(4999)), inflated: 5000 },
    ],
    [
      'a stream that ends early',
      { bytes: deflateRawSync(randomBytes(3000)).subarray(0, 2000), inflated: 5000 },
    ],
    ['an empty stream that declares bytes', { bytes: new Uint8Array(0), inflated: 5000 }],
    ['a stream that is no DEFLATE', { bytes: new Uint8Array(100).fill(255), inflated: 5000 }],
    [
      'a stream with a zlib header',
      { bytes: Buffer.from('eJxLTBwFIwcAAJ8JQRs', 'base64url'), inflated: 5000 },
    ],
  ])('[T10] refuses %s', async (_, stream) => {
    expect(
      await outcomeOf(async () => sealer.open(await forgeStreams([stream]), expectations)),
    ).toBe('malformed');
  });

  it('[T10] inflates nothing before the claims are checked', async () => {
    const token = await forgeStreams([{ bytes: new Uint8Array(9).fill(255), inflated: 5000 }]);
    expect(
      await outcomeOf(() => sealer.open(token, { ...expectations, principal: 'user-2' })),
    ).toBe('principal');
  });
});

it('[T10] refuses bytes after the end of a compressed stream if node:zlib detects them', async () => {
  const bytes = Buffer.concat([deflateRawSync(Buffer.alloc(5000)), Buffer.from('trailing')]);
  const token = await forgeStreams([{ bytes, inflated: 5000 }]);
  const sealer = sealerWith({ implementation: 'fast' });
  expect(await outcomeOf(() => sealer.open(token, expectations))).toBe('malformed');
});

describe('compression on a runtime without raw DEFLATE', () => {
  // As in Node 20 before 20.12, which has no process.getBuiltinModule either.
  beforeEach(() => {
    for (const name of ['CompressionStream', 'DecompressionStream']) {
      const constructor = vi.fn(function refuse(format: string) {
        throw new TypeError(`Received ${format}`);
      });
      vi.stubGlobal(name, constructor);
    }
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  const streams = [{ bytes: text, compress: true }];
  const [portable, fast] = (['portable', 'fast'] as const).map((implementation) =>
    sealerWith({ implementation }),
  ) as [Sealer, Sealer];

  it('[P1] [T10] reduces streams anyway, and restores them', async () => {
    const token = await portable.seal('token', sid, claimsWith(), streams);
    expect(token.length).toBeLessThan(text.length / 8);
    for (const opener of [portable, fast]) {
      expect((await opener.open(token, expectations)).streams.map(textOf)).toStrictEqual([text]);
    }
    expect(CompressionStream).toHaveBeenCalledTimes(1);
  });

  it('[P1] [T10] opens tokens that other runtimes sealed', async () => {
    const token = await fast.seal('token', sid, claimsWith(), streams);
    expect((await portable.open(token, expectations)).streams.map(textOf)).toStrictEqual([text]);
    expect(DecompressionStream).toHaveBeenCalledTimes(1);
  });

  it.each([4999, 5001])('[T10] refuses a stream of %i bytes that declares 5000', async (length) => {
    const token = await forgeStreams([
      { bytes: deflateRawSync(Buffer.alloc(length)), inflated: 5000 },
    ]);
    expect(await outcomeOf(() => portable.open(token, expectations))).toBe('malformed');
  });
});
