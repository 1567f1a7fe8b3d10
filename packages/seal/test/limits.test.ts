import { describe, expect, it } from 'vitest';
import type { Limits, Stream } from '../src/index.ts';
import { defaultLimits, TokenRefused, TokenTooLarge } from '../src/index.ts';
import {
  claimsWith,
  errorOf,
  expectations,
  implementations,
  outcomeOf,
  pairs,
  sealerWith,
  sid,
} from './fixtures.ts';

const stream = (length: number, compress: boolean = false): Stream => ({
  bytes: new Uint8Array(length),
  compress,
});
const many = (count: number): readonly Stream[] => Array.from({ length: count }, () => stream(1));

describe.each(pairs)('limits, $from to $to', ({ from, to }) => {
  const seal = (limits: Partial<Limits>, streams: readonly Stream[]): Promise<string> =>
    (async () =>
      sealerWith({ implementation: from, limits }).seal('token', sid, claimsWith(), streams))();
  const open = (limits: Partial<Limits>, token: string): Promise<string> =>
    outcomeOf(() => sealerWith({ implementation: to, limits }).open(token, expectations));

  it('[T11] a token of exactly the limit is sealed and opened, and one character more is refused', async () => {
    const streams = [stream(1000)];
    const { length } = await seal({}, streams);
    expect(
      await open({ maxTokenBytes: length }, await seal({ maxTokenBytes: length }, streams)),
    ).toBe('opened');
    expect(await open({ maxTokenBytes: length - 1 }, await seal({}, streams))).toBe('too_large');
    const error = await errorOf(() => seal({ maxTokenBytes: length - 1 }, streams));
    expect(error).toBeInstanceOf(TokenTooLarge);
    expect(error).toMatchObject({
      code: 'too_large',
      part: 'token',
      bytes: length,
      limit: length - 1,
    });
  });

  it.each([false, true])(
    '[T11] streams inflate to exactly the limit, and not to a byte more (compressed: %s)',
    async (compress) => {
      const limits = { maxInflatedBytes: 20_000 };
      const most = [stream(12_000, compress), stream(8000)];
      expect(await open(limits, await seal(limits, most))).toBe('opened');
      const more = [stream(12_000, compress), stream(8001)];
      expect(await open(limits, await seal({}, more))).toBe('too_large');
      const error = await errorOf(() => seal(limits, more));
      expect(error).toMatchObject({
        code: 'too_large',
        part: 'inflated',
        bytes: 20_001,
        limit: 20_000,
      });
    },
  );

  it('[T11] as many streams as the limit are sealed and opened, and one more is refused', async () => {
    const limits = { maxStreams: 3 };
    expect(await open(limits, await seal(limits, many(3)))).toBe('opened');
    expect(await open(limits, await seal({}, many(4)))).toBe('too_large');
    const error = await errorOf(() => seal(limits, many(4)));
    expect(error).toMatchObject({ code: 'too_large', part: 'streams', bytes: 4, limit: 3 });
    const most = { maxStreams: 255 };
    expect(await open(most, await seal(most, many(255)))).toBe('opened');
  });

  it('[T11] the default limit of a token is 64 KiB', async () => {
    expect(defaultLimits.maxTokenBytes).toBe(65_536);
    const fits = await seal({}, [stream(48_000)]);
    expect(fits.length).toBeLessThanOrEqual(65_536);
    expect(await open({}, fits)).toBe('opened');
    await expect(seal({}, [stream(49_100)])).rejects.toThrow(TokenTooLarge);
  });
});

describe.each(implementations)('limits, %s', (implementation) => {
  it('[T11] a text longer than the limit is refused whatever its content', async () => {
    const sealer = sealerWith({ implementation, limits: { maxTokenBytes: 1000 } });
    for (const filler of ['A', '.', ' ', '\u{1F600}']) {
      expect(await outcomeOf(() => sealer.open(filler.repeat(1001), expectations))).toBe(
        'too_large',
      );
    }
  });

  it.each([
    { maxTokenBytes: 0 },
    { maxTokenBytes: Number.NaN },
    { maxTokenBytes: Number.POSITIVE_INFINITY },
    { maxInflatedBytes: -1 },
    { maxInflatedBytes: 1.5 },
    { maxStreams: 256 },
    { maxStreams: 0 },
  ])('[T11] %j is refused as a limit', (limits) => {
    expect(() => sealerWith({ implementation, limits })).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
    );
  });

  it.each(['', '\ud800'])('[T6] %j is refused as an audience', (audience) => {
    expect(() => sealerWith({ implementation, audience })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });

  it('[T11] an error contains the size, and nothing of the content', async () => {
    const sealer = sealerWith({ implementation, limits: { maxTokenBytes: 100 } });
    const error = await errorOf(() =>
      sealer.seal('token', sid, claimsWith(), [{ bytes: 'hunter2', compress: false }]),
    );
    expect(error).not.toBeInstanceOf(TokenRefused);
    expect(String(error)).toMatch(
      /^TokenTooLarge: The state of the saga is too large for a token: token \d+, limit 100$/,
    );
  });
});
