import { describe, expect, it } from 'vitest';
import { TokenRefused } from '../src/index.ts';
import { decodeFirstClaims, unpackFirst } from '../src/token/first-layout.ts';
import { resolveLimits } from '../src/token/token-limits.ts';
import { encodeFirstClaims, packFirst } from './first-layout.ts';
import {
  binding,
  claimsWith,
  expectations,
  forge,
  implementations,
  outcomeOf,
  sealerWith,
} from './fixtures.ts';

const text = encodeFirstClaims(claimsWith(), binding);
const claims = new TextEncoder().encode(text);
const streams = [
  { bytes: new Uint8Array([1, 2, 3]), inflated: 3 },
  { bytes: new Uint8Array(0), inflated: 0 },
];
const good = packFirst(text, streams);

/** The good plaintext with some of its bytes changed. */
function edit(...changes: readonly (readonly [offset: number, value: number])[]): Uint8Array {
  const bytes = good.slice();
  for (const [offset, value] of changes) bytes[offset] = value;
  return bytes;
}

function claimsText(change: (members: unknown[]) => unknown): Uint8Array {
  const changed = change(JSON.parse(text) as unknown[]);
  return packFirst(JSON.stringify(changed));
}

const longest = good.length;
const malformed: Record<string, Uint8Array> = {
  'version 0': edit([0, 0]),
  'version 2': edit([0, 2]),
  'a stream more than there is': edit([1, 3]),
  'a stream less than there is': edit([1, 1]),
  'claims one byte longer': edit([5, (claims.length & 255) + 1]),
  'claims one byte shorter': edit([5, (claims.length & 255) - 1]),
  'claims longer than the token': edit([4, 255]),
  'claims of 2 to the 31 bytes': edit([2, 128]),
  'a stream longer than the token': edit([8, 1], [12, 1]),
  'a stream of 4 GiB': edit(
    [6, 255],
    [7, 255],
    [8, 255],
    [9, 255],
    [10, 255],
    [11, 255],
    [12, 255],
    [13, 255],
  ),
  'a stream stored in more bytes than it has': edit([13, 2]),
  'a byte in the padding': edit([longest - 1, 1]),
  'a block of padding too many': new Uint8Array([...good, ...new Uint8Array(64)]),
  'a block too few': good.slice(0, -64),
  'nothing but zeros': new Uint8Array(64),
  'claims that are no JSON': packFirst('['),
  'no claims': packFirst(''),
  'claims that are an object': claimsText((members) => Object.assign({}, members)),
  'claims that are null': claimsText(() => null),
  'a claim too few': claimsText((members) => members.slice(0, -1)),
  'a claim too many': claimsText((members) => [...members, 1]),
  'a purpose that does not exist': claimsText((members) => members.with(0, 'session')),
  'a principal that is a number': claimsText((members) => members.with(9, 1)),
  'a method that is null': claimsText((members) => members.with(4, null)),
  'a turn that is a text': claimsText((members) => members.with(11, '3')),
  'an end that is null, as NaN and infinities are written': claimsText((members) =>
    members.with(15, null),
  ),
  'an end past the safe integers': claimsText((members) => members.with(15, 2 ** 60)),
  'an end with a fraction': claimsText((members) => members.with(15, 1e12 + 0.5)),
  'an end before the epoch': claimsText((members) => members.with(15, -1)),
};

describe.each(implementations)('layout 1, %s', (implementation) => {
  const sealer = sealerWith({ implementation });

  it('[T1] opens the plaintext that the malformed ones are derived from', async () => {
    const token = await forge({ plaintext: good });
    const opened = await sealer.open(token, expectations);
    expect(opened.streams).toStrictEqual([new Uint8Array([1, 2, 3]), new Uint8Array(0)]);
  });

  it.each(Object.entries(malformed))(
    '[T1] refuses %s, even when it is authentic',
    async (_, plaintext) => {
      const token = await forge({ plaintext });
      const reason = await outcomeOf(() =>
        sealer.open(token, { purpose: 'token', ignoreExpiry: true }),
      );
      expect(['malformed', 'too_large']).toContain(reason);
    },
  );
});

it('[T1] refuses every truncation of a plaintext of layout 1, and every change of its table', () => {
  for (let length = 0; length < good.length; length += 1) {
    expect(() => unpackFirst(good.subarray(0, length), resolveLimits())).toThrow(TokenRefused);
  }
  for (let offset = 0; offset < 22; offset += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const changed = edit([offset, (good[offset] ?? 0) ^ (1 << bit)]);
      let contents: Uint8Array;
      try {
        const read = unpackFirst(changed, resolveLimits());
        // A stored length cannot move without leaving bytes over, but a declared one can grow: then
        // it must inflate.
        if (read.streams.some(({ bytes, inflated }) => bytes.length !== inflated)) continue;
        contents = read.claims;
      } catch (error) {
        expect(error).toBeInstanceOf(TokenRefused);
        continue;
      }
      expect(() => decodeFirstClaims(contents)).toThrow(TokenRefused);
    }
  }
});
