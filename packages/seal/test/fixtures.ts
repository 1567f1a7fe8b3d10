import { CompactEncrypt } from 'jose';
import {
  createKeyRing,
  createSealer,
  deriveTokenKey,
  fromBase64Url,
  TokenRefused,
  toBase64Url,
} from '../src/index.ts';
import type {
  MaybePromise,
  Binding,
  Claims,
  Expectations,
  KeysOption,
  Sealer,
  SealerOptions,
} from '../src/index.ts';
import { encodeClaims } from '../src/token/claims.ts';
import { pack } from '../src/token/layout.ts';

/** Both ways to seal and open; every test of behaviour runs over both. */
export const implementations = ['fast', 'portable'] as const;

/** Each sealing implementation with each opening one. */
export const pairs = implementations.flatMap((from) => implementations.map((to) => ({ from, to })));

/** The bytes 0 to 31: a published test key. */
export const testKey = Uint8Array.from({ length: 32 }, (_, index) => index);
export const testKeys = `k1:${toBase64Url(testKey)}`;
export const audience = 'deployer';
export const sid = toBase64Url(Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index));
export const now = 1_750_000_000_000;

export const binding: Binding = { purpose: 'token', audience, kid: 'k1', sid };

/** Claims sealed now, for an hour. */
export function claimsWith(changes: Partial<Claims> = {}): Claims {
  return {
    method: 'tools/callSaga',
    entry: { target: 'deploy', argsDigest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' },
    saga: { name: 'deploy', version: '1' },
    principal: 'user-1',
    engine: 1,
    turn: 3,
    jti: 'jti-3',
    born: now - 5000,
    iat: now,
    exp: now + 3_600_000,
    ...changes,
  };
}

/** What agrees with `claimsWith()`. */
export const expectations: Expectations = {
  purpose: 'token',
  methods: ['tools/callSaga'],
  entry: { target: 'deploy', argsDigest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' },
  principal: 'user-1',
  engines: { min: 1, max: 2 },
  sid,
};

export function sealerWith(
  options: Partial<Omit<SealerOptions, 'ring'>> & { readonly keys?: KeysOption } = {},
): Sealer {
  const { keys = testKeys, ...others } = options;
  return createSealer({
    ring: createKeyRing(keys, { environment: 'test' }),
    audience,
    clock: () => now,
    ...others,
  });
}

/**
 * Why opening was refused, or `opened`. Anything but the frozen answer fails the test that asks.
 */
export async function outcomeOf(open: () => MaybePromise<unknown>): Promise<string> {
  try {
    await open();
    return 'opened';
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    if (
      error.message !== 'Invalid or expired sagaToken' ||
      error.code !== 'refused' ||
      error.cause !== undefined
    ) {
      throw new Error('A refusal says more than the frozen answer', { cause: error });
    }
    return error.reason;
  }
}

/** Returns the error that a function throws or rejects with. */
export async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
}

/** Makes a token with jose alone, as any holder of the key can. */
export async function forge(changes: {
  readonly bound?: Partial<Binding>;
  readonly inside?: Partial<Binding>;
  readonly claims?: Partial<Claims>;
  readonly plaintext?: Uint8Array;
  readonly header?: object;
}): Promise<string> {
  const bound = { ...binding, ...changes.bound };
  const inside = { ...bound, ...changes.inside };
  const claims = encodeClaims(claimsWith(changes.claims), inside);
  const plaintext = changes.plaintext ?? pack({ claims, streams: [] });
  const { kid } = bound;
  const header = {
    alg: 'dir',
    enc: 'A256GCM',
    typ: 'saga1+jwe',
    kid,
    sid: bound.sid,
    ...changes.header,
  };
  const key = await deriveTokenKey(testKey, bound);
  return new CompactEncrypt(plaintext).setProtectedHeader(header).encrypt(key);
}

/** The bytes of base64url that a test knows to be good. */
export function bytesOf(text: string): Uint8Array {
  const bytes = fromBase64Url(text);
  if (bytes === undefined) throw new Error('Not base64url');
  return bytes;
}

export function textOf(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) throw new Error('No such stream');
  return new TextDecoder().decode(bytes);
}
