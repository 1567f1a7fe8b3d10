import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createKeyRing, generateKey, toBase64Url } from '../src/index.ts';
import { errorOf } from './fixtures.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const writtenAs = (key: Uint8Array): string => `k1:${toBase64Url(key)}`;

const weak: readonly (readonly [string, Uint8Array])[] = [
  ['one byte repeated', new Uint8Array(32).fill(0x5a)],
  [
    'two bytes in turns',
    Uint8Array.from({ length: 32 }, (_, index) => (index % 2 === 0 ? 0xde : 0xad)),
  ],
  ['a pattern of eight bytes', Uint8Array.from({ length: 32 }, (_, index) => 0xf0 + (index % 8))],
  ['bytes that count down', Uint8Array.from({ length: 32 }, (_, index) => 200 - index)],
  ['bytes that count in threes', Uint8Array.from({ length: 32 }, (_, index) => index * 3 + 180)],
  [
    'half a key twice',
    Uint8Array.from({ length: 32 }, (_, index) => ((index % 16) ** 3 + 7) % 251),
  ],
  ['a phrase', bytesOf('correct horse battery staple now')],
  ['a name with a number', bytesOf('my-super-secret-saga-key-2024-01')],
  ['half a key in hex', bytesOf('0f1e2d3c4b5a69788796a5b4c3d2e1f0')],
];

describe('weak keys', () => {
  it.each(weak)('[T7] refuses %s without showing it', async (_, key) => {
    expect(key).toHaveLength(32);
    for (const environment of [undefined, 'production', 'staging', 'Development']) {
      const options = environment === undefined ? {} : { environment };
      const error = await errorOf(() =>
        createKeyRing([generateKey(), { kid: 'weak', key }], options),
      );
      expect(error).toMatchObject({ code: 'keys', message: expect.stringMatching(/^key 2 of 2 /) });
      const shown = inspect(error, { showHidden: true });
      expect(shown).not.toContain(toBase64Url(key));
      expect(shown).not.toContain(new TextDecoder().decode(key));
    }
  });

  it.each(weak)('[T7] are accepted in development and in tests: %s', (_, key) => {
    for (const environment of ['development', 'test'])
      expect(createKeyRing(writtenAs(key), { environment }).kids).toStrictEqual(['k1']);
  });

  it('[T7] include no random key', () => {
    const keys = Array.from({ length: 5_000 }, (_, index) => generateKey(`k${index}`));
    for (const key of keys)
      expect(createKeyRing(key, { environment: 'production' }).kids).toHaveLength(1);
  });

  it('[T7] include neither 32 random characters nor a key of nine distinct bytes', () => {
    const text = bytesOf('x3Tq9ZbLr0WvKf7aYd2MsHn8JgUe5RcP');
    const nine = Uint8Array.from({ length: 32 }, (_, index) => 0xf0 + (index % 9));
    for (const key of [text, nine])
      expect(createKeyRing(writtenAs(key), { environment: 'production' }).kids).toStrictEqual([
        'k1',
      ]);
  });
});
