import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecret, deriveFromSecret, fromBase64Url, toBase64Url } from '../src/index.ts';
import { createNodeBase64Url, portableBase64Url } from '../src/platform/base64url.ts';
import { lengthPrefix } from '../src/digest/hash.ts';
import { loadNode } from '../src/platform/node.ts';
import { testKey } from './fixtures.ts';

describe('the secret of a saga', () => {
  it('[T8] has 256 random bits', () => {
    const secrets = Array.from({ length: 20 }, () => createSecret());
    for (const secret of secrets) expect(secret).toHaveLength(32);
    expect(new Set(secrets.map(toBase64Url)).size).toBe(20);
  });

  it('[T8] derives bytes by HMAC-SHA256 over the length-prefixed label and parts', async () => {
    const message = Buffer.from(
      '\0\0\0\u0004idem\0\0\0\u0001\u0030\0\0\0\u0007release\0\0\0\u0003\u00e2\u0082\u00ac',
      'latin1',
    );
    const expected = createHmac('sha256', testKey).update(message).digest('base64url');
    expect(toBase64Url(await deriveFromSecret(testKey, 'idem', ['0', 'release', '€']))).toBe(
      expected,
    );
    expect(expected).toBe('dZ8f4sJJAobilKsUoLj4PcWbudmd7CJjWDT2_-AGFho');
  });

  it('[T8] derives different bytes for different labels and parts with the same concatenation', async () => {
    const lists = fc.array(fc.string({ unit: 'grapheme', maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(lists, lists, async (one, two) => {
        const [first, second] = await Promise.all(
          [one, two].map(async ([label = '', ...parts]) => deriveFromSecret(testKey, label, parts)),
        );
        const same = JSON.stringify(one) === JSON.stringify(two);
        expect(toBase64Url(first ?? testKey) === toBase64Url(second ?? testKey)).toBe(same);
      }),
    );
    expect(lengthPrefix(['ab', 'c'])).not.toStrictEqual(lengthPrefix(['a', 'bc']));
  });

  it.each([0, 31, 33])('[T8] is refused with %i bytes', async (length) => {
    await expect(async () => deriveFromSecret(new Uint8Array(length), 'idem', [])).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });
});

const node = loadNode();
if (node === undefined) throw new Error('These tests need node:crypto');

describe.each([
  ['node', createNodeBase64Url(node)],
  ['portable', portableBase64Url],
  ['exported', { encode: toBase64Url, decode: fromBase64Url }],
])('base64url, %s', (_, codec) => {
  const encode = (bytes: Uint8Array): string => codec.encode(bytes);
  const decode = (text: string): Uint8Array | undefined => codec.decode(text);

  it('[T4] decodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(encode(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
        expect(Uint8Array.from(decode(encode(bytes)) ?? [0, 0])).toStrictEqual(bytes);
      }),
    );
    expect(decode(encode(new Uint8Array(200_000)))).toHaveLength(200_000);
  });

  it('[T4] accepts a text only if it encodes again to itself', () => {
    const characters = fc.constantFrom(...Array.from('AQgwBz09-_+/= \n.\u0141\u2028'));
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 9 }), (text) => {
        const bytes = decode(text);
        if (bytes === undefined)
          expect(Buffer.from(text, 'base64url').toString('base64url')).not.toBe(text);
        else expect(encode(bytes)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    'A',
    'AB',
    'AAB',
    'AA==',
    'AA=',
    '+A',
    '/A',
    ' AA',
    'AA\n',
    'A A',
    'AA.',
    '\u0141A',
    'AAAAA',
  ])('[T4] refuses %j', (text) => {
    expect(decode(text)).toBeUndefined();
  });
});
