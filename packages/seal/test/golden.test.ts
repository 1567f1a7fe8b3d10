import { hkdfSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Claims, Purpose } from '../src/index.ts';
import { deriveTokenKey, toBase64Url } from '../src/index.ts';
import { encodeClaims } from '../src/token/claims.ts';
import {
  audience,
  binding,
  claimsWith,
  expectations,
  implementations,
  sealerWith,
  sid,
  testKey,
  textOf,
} from './fixtures.ts';

// Committed values. From the first release on, a change of any of them is a new format, and these
// tokens must open forever.
const tokenKeys: Record<Purpose, string> = {
  token: 'shpYr3t1-FueRgbeENbmft_Ji3t7mZ8LGLdD2_G7g3w',
  response: '2d_bnjZv_3EZ_RcYFv6RZLvQ9XTd79HewomnkrbqIfk',
  handle: 'IbMe77XMYdUpQF7R742Y1qOjNGSV1FhizWJLi3ZbqGo',
  blob: '4Ii5JhCpst4gGLh3ru4BQTxllCkNq4BcGkCLTDAZqEs',
  ticket: 'tqJvZuhNEfc0BcQfqMirQ-9u38-3dYFzcIck8JMMJ9Q',
  answer: 'M4RsOQCKQG7B1yAlL7MkJojNETKXbT-6otAMtNnU7ko',
  wake: '5OWxj0DJamPDJ4WzNIOe-lx0ETMw3XjfWGMCEPXNky4',
  start: 'o6qppgaLD5fJ5L8Ca2U6d5oqVZ-fsQuRh-kQVuxwb0Y',
};

const nonce = Uint8Array.from({ length: 12 }, (_, index) => 0x10 + index);
const goldenToken = [
  'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwidHlwIjoic2FnYTErandlIiwia2lkIjoiazEiLCJzaWQiOiJvS0dpbzZT',
  'bHBxZW9xYXFycksydXJ3In0..EBESExQVFhcYGRob.gNoLBFuwXp0zMH4ndPYvA_RGMv6YdkiTblhXJPUI0FpghY41j2DILY',
  'lw2-9R3RAXZCDOxrhzUKQq0BdubVlGLQ8-tSCMQZKZ-PtdRLFQmQOl63XZgwGD6q-cHx6F_nPuPoCkiXuiiHnAyqOIiTftkU',
  'eTntIwt58pn4c9nMOLgKET_hOwkkLJdASNQmINqkSsAODR8oCKqts.5wU1LNLGyGpD9w1qwDEntg',
].join('');
const goldenCompressed = [
  'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwidHlwIjoic2FnYTErandlIiwia2lkIjoiazEiLCJzaWQiOiJvS0dpbzZT',
  'bHBxZW9xYXFycksydXJ3In0..EBESExQVFhcYGRob.HM8q833TOL1Y91t_UGZPqXctmRnCRTLhk1gGU4bSqB_sgOmdk42uUc',
  'GGyve_Uj3U7z8A3L3IpfmXQgcPcGVDcTa6KLUDy9d7bbN1NjG564dSg5oxgQYsVeU-c53b_Mm_UQu_NlqgfKDWFFYAUEO6wa',
  'qJlIEkdzvDeCKJdyw3KXo5b74XeE5LS4eHoArIIcRQAu0qYmLj2p3A6KxfGfeMTJ9KgkTusNcJO51BrPJnnX6kGIBl1ex__v',
  '0iYhpeQOiIU-IXDOlD3xcrqI_KYIjukjmcckdTe6sv.6eM4QFgQjxLQCko2xfxVdg',
].join('');
/** Claims of a saga that has continued as another, without a principal. */
const continued: Partial<Claims> = {
  saga: { name: 'other', version: '2' },
  principal: null,
  jti: 'A'.repeat(22),
};
const question = 'Is it safe to deploy? '.repeat(100);

describe('the key schedule', () => {
  it.each(Object.entries(tokenKeys))(
    '[T3] derives the golden key for %s',
    async (purpose, expected) => {
      const key = await deriveTokenKey(testKey, { ...binding, purpose: purpose as Purpose });
      expect(toBase64Url(key)).toBe(expected);
    },
  );

  it('[T3] is HKDF-SHA256 over the length-prefixed binding', async () => {
    const bindings = [
      binding,
      { ...binding, audience: 'ünï' },
      { ...binding, kid: 'k', purpose: 'ticket' as const },
    ];
    for (const bound of bindings) {
      const info = Buffer.concat(
        ['mcp-saga/1', bound.purpose, bound.audience, bound.kid, bound.sid].map((part) => {
          const length = Buffer.alloc(4);
          length.writeUInt32BE(Buffer.byteLength(part));
          return Buffer.concat([length, Buffer.from(part)]);
        }),
      );
      const expected = Buffer.from(hkdfSync('sha256', testKey, 'mcp-saga/1', info, 32)).toString(
        'base64url',
      );
      expect(toBase64Url(await deriveTokenKey(testKey, bound))).toBe(expected);
    }
  });

  it('[T3] derives another key for every part that differs, and for parts with the same concatenation', async () => {
    const bindings = [
      binding,
      { ...binding, purpose: 'handle' as const },
      { ...binding, audience: `${audience}k` },
      { ...binding, kid: 'k2' },
      { ...binding, sid: 'AAAAAAAAAAAAAAAAAAAAAA' },
      { ...binding, audience: 'deploye', kid: 'rk1' },
    ];
    const keys = await Promise.all(
      bindings.map(async (bound) => toBase64Url(await deriveTokenKey(testKey, bound))),
    );
    expect(new Set(keys).size).toBe(bindings.length);
  });
});

describe.each(implementations)('golden tokens, %s', (implementation) => {
  const sealer = sealerWith({ implementation, random: (length) => nonce.slice(0, length) });

  it('[T1] seals the golden token', async () => {
    const streams = [
      { bytes: '{"target":"prod"}', compress: false },
      { bytes: new Uint8Array([0, 255, 1]), compress: true },
      { bytes: 'grüße', compress: false },
    ];
    expect(await sealer.seal('token', sid, claimsWith(), streams)).toBe(goldenToken);
  });

  it('[T1] opens the golden token', async () => {
    const { streams, stored, ...opened } = await sealer.open(goldenToken, expectations);
    expect(opened).toStrictEqual({
      claims: claimsWith(),
      purpose: 'token',
      audience,
      kid: 'k1',
      sid,
    });
    expect(streams.map(toBase64Url)).toStrictEqual([
      'eyJ0YXJnZXQiOiJwcm9kIn0',
      'AP8B',
      'Z3LDvMOfZQ',
    ]);
    expect(stored.map(({ bytes }) => toBase64Url(bytes))).toStrictEqual(streams.map(toBase64Url));
  });

  it('[T10] opens the golden token with a compressed stream', async () => {
    const opened = await sealer.open(goldenCompressed, { purpose: 'response', sid });
    const [first, second] = opened.stored;
    expect(first?.inflated).toBe(opened.streams[0]?.length);
    expect(first?.bytes.length).toBeLessThan(first?.inflated ?? 0);
    expect(second).toStrictEqual({ bytes: opened.streams[1], inflated: 2 });
    expect(opened.streams.map(textOf)).toStrictEqual([question, 'no']);
    expect(opened.claims).toStrictEqual(claimsWith(continued));
  });
});

describe('the claims', () => {
  const bytesOfClaims = (changes: Partial<Claims>, purpose: Purpose = 'token'): string =>
    Buffer.from(encodeClaims(claimsWith(changes), { ...binding, purpose })).toString('hex');

  it('[T6] have the committed bytes, with and without a principal and a second name', () => {
    expect(bytesOfClaims({})).toBe(
      [
        '00206465706c6f79657238746f6f6c732f63616c6c53616761186465706c6f7981019f86d081884c7d659a2feaa0c55a',
        'd015a3bf4f1b2b0b822cd15d6c15b0f00a0803043118757365722d310103146a74692d33f89083a1f73280b883a1f732',
        '8095dfa2f732',
      ].join(''),
    );
    expect(bytesOfClaims(continued, 'wake')).toBe(
      [
        '06206465706c6f79657238746f6f6c732f63616c6c53616761186465706c6f7981019f86d081884c7d659a2feaa0c55a',
        'd015a3bf4f1b2b0b822cd15d6c15b0f00a08146f7468657204320301034100000000000000000000000000000000f890',
        '83a1f73280b883a1f7328095dfa2f732',
      ].join(''),
    );
    expect(bytesOfClaims({ principal: 'gr\u00fc\u00df \ud800', jti: 'zwölf' }, 'ticket')).toBe(
      [
        '04206465706c6f79657238746f6f6c732f63616c6c53616761186465706c6f7981019f86d081884c7d659a2feaa0c55a',
        'd015a3bf4f1b2b0b822cd15d6c15b0f00a08030431320067007200fc00df0020d8000103187a77c3b66c66f89083a1f7',
        '3280b883a1f7328095dfa2f732',
      ].join(''),
    );
  });
});

describe('a derived secret', () => {
  it.each(implementations)('is the golden one of its name, key, and audience (%s)', async (by) => {
    const sealer = sealerWith({ implementation: by });
    expect(toBase64Url(await sealer.deriveSecret('call-1'))).toBe(
      'N7v-jrJxwZR9cRos9Gnl5IoISTB1Y01wIuccvk8284w',
    );
    expect(await sealer.deriveSecret('call-2')).not.toEqual(await sealer.deriveSecret('call-1'));
  });
});
