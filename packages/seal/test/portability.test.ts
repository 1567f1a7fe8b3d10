import { afterEach, describe, expect, it, vi } from 'vitest';
import * as seal from '../src/index.ts';
import {
  audience,
  binding,
  claimsWith,
  expectations,
  now,
  sealerWith,
  sid,
  testKey,
  testKeys,
} from './fixtures.ts';

/**
 * The package as it loads where the process has no built-in modules to give, or only stubs of them.
 */
async function loadWith(getBuiltinModule: unknown): Promise<typeof seal> {
  vi.resetModules();
  vi.stubGlobal('process', { ...process, getBuiltinModule });
  return import('../src/index.ts');
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const stub = (): unknown => ({
  Buffer: globalThis.Buffer,
  createHmac: () => {
    throw new Error('not implemented');
  },
});

describe.each<[string, unknown]>([
  ['without getBuiltinModule', undefined],
  ['with a getBuiltinModule that knows nothing', () => undefined],
  [
    'with a getBuiltinModule that throws',
    () => {
      throw new Error('denied');
    },
  ],
  ['with a node:crypto that is a stub', stub],
])('%s', (_, getBuiltinModule) => {
  it('[P1] opens what the fast path sealed, and the fast path opens its tokens', async () => {
    const portable = await loadWith(getBuiltinModule);
    const sealer = portable.createSealer({
      ring: portable.createKeyRing(testKeys, { environment: 'test' }),
      audience,
      clock: () => now,
    });
    const fast = sealerWith({ implementation: 'fast' });
    const sealed = sealer.seal('token', sid, claimsWith(), [
      { bytes: 'a'.repeat(3000), compress: true },
    ]);
    expect(sealed).toBeInstanceOf(Promise);
    expect((await fast.open(await sealed, expectations)).claims).toStrictEqual(claimsWith());
    const opened = await sealer.open(await fast.seal('token', sid, claimsWith(), []), expectations);
    expect(opened.claims).toStrictEqual(claimsWith());
  });

  it('[P1] derives, digests, and encodes the same', async () => {
    const portable = await loadWith(getBuiltinModule);
    expect(await portable.digestText('ü')).toBe(await seal.digestText('ü'));
    expect(await portable.digestArguments({ b: 1, a: 2 })).toBe(
      await seal.digestArguments({ a: 2, b: 1 }),
    );
    expect(await portable.deriveFromSecret(testKey, 'a', ['b'])).toStrictEqual(
      await seal.deriveFromSecret(testKey, 'a', ['b']),
    );
    expect(await portable.deriveTokenKey(testKey, binding)).toStrictEqual(
      await seal.deriveTokenKey(testKey, binding),
    );
    expect(portable.toBase64Url(testKey)).toBe(seal.toBase64Url(testKey));
    expect(portable.fromBase64Url(seal.toBase64Url(testKey))).toStrictEqual(testKey);
  });

  it("[P1] rejects the option 'fast' if the fast path is missing", async () => {
    const portable = await loadWith(getBuiltinModule);
    const ring = portable.createKeyRing('ephemeral');
    expect(() => portable.createSealer({ ring, audience, implementation: 'fast' })).toThrow(
      expect.objectContaining({ code: 'unsupported' }) as Error,
    );
  });
});

it('[P1] has no effects at import', async () => {
  const getBuiltinModule = vi.fn();
  const random = vi.spyOn(crypto, 'getRandomValues');
  const sign = vi.spyOn(crypto.subtle, 'sign');
  await loadWith(getBuiltinModule);
  expect(getBuiltinModule).not.toHaveBeenCalled();
  expect(random).not.toHaveBeenCalled();
  expect(sign).not.toHaveBeenCalled();
});

it('[P1] uses the fast path if node:crypto has no one-shot hash', async () => {
  const builtin = process.getBuiltinModule.bind(process);
  const older = await loadWith((id: string) =>
    id === 'node:crypto' ? { ...builtin('node:crypto'), hash: undefined } : builtin(id),
  );
  expect(older.digestText('ü')).toBe(await seal.digestText('ü'));
  const sealer = older.createSealer({
    ring: older.createKeyRing('ephemeral'),
    audience,
    implementation: 'fast',
  });
  expect(sealer.seal('token', sid, claimsWith(), [])).toEqual(expect.any(String));
});

it('[P1] uses the fast path by default if node:crypto works', () => {
  const sealer = seal.createSealer({ ring: seal.createKeyRing('ephemeral'), audience });
  expect(sealer.seal('token', sid, claimsWith(), [])).toEqual(expect.any(String));
});
