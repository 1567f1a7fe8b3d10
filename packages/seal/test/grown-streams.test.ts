import zlib from 'node:zlib';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { claimsWith, expectations, pairs, sealerWith, sid, textOf } from './fixtures.ts';

afterEach(() => vi.restoreAllMocks());

const word = fc.constantFrom(
  '"s(",',
  '"charge",12345,',
  '{"i":1},',
  'é',
  '\u{1f600}',
  'x'.repeat(700),
);
/**
 * What happens to a stream between two tokens: most streams grow, and another saga replaces them.
 */
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(word, { maxLength: 40 }).map((words) => ({ add: words.join('') })),
  },
  { weight: 1, arbitrary: fc.nat({ max: 2000 }).map((length) => ({ cut: length })) },
);

describe.each(pairs)('growing streams, $from to $to', ({ from, to }) => {
  const sealer = sealerWith({ implementation: from });
  const opener = sealerWith({ implementation: to });

  it('[T10] are restored from every token, also after other changes than growth', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const grows = {};
        let text = '';
        for (const made of changes) {
          text = 'cut' in made ? text.slice(made.cut) : text + made.add;
          const token = await sealer.seal('token', sid, claimsWith(), [
            { bytes: text, compress: 1, grows },
            { bytes: 'other', compress: false },
          ]);
          const { streams } = await opener.open(token, expectations);
          expect(streams.map(textOf)).toStrictEqual([
            new TextDecoder().decode(new TextEncoder().encode(text)),
            'other',
          ]);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('a growing stream', () => {
  const sealer = sealerWith({ implementation: 'fast' });

  it('[T10] is at most 2 kB larger than one that is compressed as a whole', async () => {
    const grows = {};
    let bytes = '';
    for (let index = 0; index < 600; index += 1) {
      bytes += `"charge(",${index * 7919},`;
      const grown = await sealer.seal('token', sid, claimsWith(), [
        { bytes, compress: 256, grows },
      ]);
      const whole = await sealer.seal('token', sid, claimsWith(), [{ bytes, compress: 256 }]);
      expect(grown.length - whole.length).toBeLessThan(2048);
    }
  });

  it('[T10] may be in a buffer that the caller changes later', async () => {
    const grows = {};
    const bytes = new Uint8Array(4000);
    await sealer.seal('token', sid, claimsWith(), [{ bytes, compress: true, grows }]);
    bytes.fill(1);
    const token = await sealer.seal('token', sid, claimsWith(), [{ bytes, compress: true, grows }]);
    expect((await sealer.open(token, expectations)).streams).toStrictEqual([bytes]);
  });
});

it('[T10] compresses each byte of a growing stream once', async () => {
  const deflate = vi.spyOn(zlib, 'deflateRawSync');
  const sealer = sealerWith({ implementation: 'fast' });
  const grows = {};
  let bytes = 'x'.repeat(2048);
  for (let index = 0; index < 2000; index += 1) {
    bytes += `"s(",`;
    void sealer.seal('token', sid, claimsWith(), [{ bytes, compress: true, grows }]);
  }
  const compressed = deflate.mock.calls.reduce(
    (sum, [input]) => sum + (input as Uint8Array).length,
    0,
  );
  expect(compressed).toBeLessThanOrEqual(bytes.length);
});

it('[T10] compresses streams as a whole on a runtime that cannot continue a stream', async () => {
  const { deflateRawSync } = zlib;
  vi.spyOn(zlib, 'deflateRawSync').mockImplementation((bytes) => deflateRawSync(bytes));
  const sealer = sealerWith({ implementation: 'fast' });
  const grows = {};
  for (const bytes of ['a'.repeat(3000), 'a'.repeat(6000), 'a'.repeat(6001)]) {
    const token = await sealer.seal('token', sid, claimsWith(), [{ bytes, compress: true, grows }]);
    expect((await sealer.open(token, expectations)).streams.map(textOf)).toStrictEqual([bytes]);
  }
});
