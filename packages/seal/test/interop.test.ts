import { compactDecrypt, CompactEncrypt, decodeProtectedHeader, errors } from 'jose';
import { describe, expect, it } from 'vitest';
import { deriveTokenKey } from '../src/index.ts';
import { unpack } from '../src/token/layout.ts';
import { resolveLimits } from '../src/token/token-limits.ts';
import {
  binding,
  claimsWith,
  expectations,
  forge,
  implementations,
  outcomeOf,
  sealerWith,
  sid,
  testKey,
  textOf,
} from './fixtures.ts';

const streams = [{ bytes: 'a stream', compress: false }];

describe.each(implementations)('any JWE library, beside %s', (implementation) => {
  const sealer = sealerWith({ implementation });

  it('[T1] opens a token with the derived key alone', async () => {
    const token = await sealer.seal('token', sid, claimsWith(), streams);
    const { plaintext, protectedHeader } = await compactDecrypt(
      token,
      await deriveTokenKey(testKey, binding),
    );
    expect(protectedHeader).toStrictEqual({
      alg: 'dir',
      enc: 'A256GCM',
      typ: 'saga1+jwe',
      kid: 'k1',
      sid,
    });
    const contents = unpack(plaintext, resolveLimits());
    expect(textOf(contents.claims)).toContain('deployer');
    expect(contents.streams.map(({ bytes }) => textOf(bytes))).toStrictEqual(['a stream']);
  });

  it('[T3] does not open a token with the key of the ring, nor with a key of another purpose', async () => {
    const token = await sealer.seal('token', sid, claimsWith(), streams);
    const other = await deriveTokenKey(testKey, { ...binding, purpose: 'handle' });
    await expect(compactDecrypt(token, testKey)).rejects.toThrow(errors.JWEDecryptionFailed);
    await expect(compactDecrypt(token, other)).rejects.toThrow(errors.JWEDecryptionFailed);
  });

  it('[T1] writes tokens that this package opens', async () => {
    const opened = await sealer.open(await forge({}), expectations);
    expect(opened.claims).toStrictEqual(claimsWith());
  });

  it.each([
    [
      'its members in another order',
      { typ: undefined, kid: undefined, sid: undefined, x: undefined },
    ],
    ['zip', { zip: 'DEF' }],
    ['another typ', { typ: 'JWE' }],
    ['a further member', { iat: 1 }],
    ['no typ', { typ: undefined }],
  ])('[T4] writes tokens that this package refuses: %s', async (name, change) => {
    const reordered = { sid, kid: 'k1', typ: 'saga1+jwe', enc: 'A256GCM', alg: 'dir' };
    const key = await deriveTokenKey(testKey, binding);
    const token = name.startsWith('its')
      ? await new CompactEncrypt(new Uint8Array(64)).setProtectedHeader(reordered).encrypt(key)
      : await forge({ header: change });
    expect(decodeProtectedHeader(token).alg).toBe('dir');
    expect(await outcomeOf(() => sealer.open(token, expectations))).toBe('malformed');
  });
});
