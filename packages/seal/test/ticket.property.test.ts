import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toBase64Url } from '../src/index.ts';
import { claimsWith, implementations, sealerWith } from './fixtures.ts';

const sids = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => toBase64Url(bytes));

/** Few values, so that many tickets are equal, and neighbors differ in little. */
const tickets = fc.record({
  sid: fc.integer({ min: 0, max: 1 }),
  claims: fc.record({ exp: fc.integer({ min: 1, max: 3 }), jti: fc.constantFrom('', 'a', 'aa') }),
  streams: fc.array(
    fc.oneof(
      fc.constantFrom('', 'a', 'aa', '\u0000'),
      fc.string({ unit: 'binary', maxLength: 40 }),
    ),
    { maxLength: 3 },
  ),
});

it('[T3] a ticket nonce repeats for equal contents of one saga only, in both implementations', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(sids, { minLength: 2, maxLength: 2 }),
      fc.array(tickets, { maxLength: 12 }),
      async ([one = '', other = ''], made) => {
        const contents = new Map<string, string>();
        for (const { sid, claims, streams } of made) {
          const content = JSON.stringify([sid, claims, streams]);
          for (const implementation of implementations) {
            const text = await sealerWith({ implementation }).seal(
              'ticket',
              sid === 0 ? one : other,
              claimsWith(claims),
              streams.map((bytes) => ({ bytes, compress: false })),
            );
            const [, , nonce = ''] = text.split('.');
            expect(contents.get(nonce) ?? content).toBe(content);
            contents.set(nonce, content);
          }
        }
        // As many nonces as contents: equal tickets have one nonce.
        expect(contents.size).toBe(new Set(contents.values()).size);
      },
    ),
    { numRuns: 200 },
  );
});

it('[T3] a ticket nonce differs under another key, audience, or saga', async () => {
  const nonceOf = async (
    changes: Parameters<typeof sealerWith>[0],
    sid: string,
  ): Promise<string> => {
    const text = await sealerWith(changes).seal('ticket', sid, claimsWith(), [
      { bytes: 'question', compress: false },
    ]);
    return text.split('.')[2] ?? '';
  };
  const sid = toBase64Url(new Uint8Array(16));
  const nonces = await Promise.all([
    nonceOf({}, sid),
    nonceOf({}, toBase64Url(new Uint8Array(16).fill(1))),
    nonceOf({ audience: 'other' }, sid),
    nonceOf(
      { keys: `k2:${toBase64Url(Uint8Array.from({ length: 32 }, (_, index) => index))}` },
      sid,
    ),
    nonceOf(
      { keys: `k1:${toBase64Url(Uint8Array.from({ length: 32 }, (_, index) => index + 7))}` },
      sid,
    ),
  ]);
  expect(new Set(nonces).size).toBe(nonces.length);
});
