import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  type KeysOption,
  createKeyRing,
  createSealer,
  generateKey,
  publishedTestKeys,
  SealError,
  toBase64Url,
} from '../src/index.ts';
import { howToGiveKeys } from '../src/keys/key-input.ts';
import {
  audience,
  bytesOf,
  claimsWith,
  errorOf,
  implementations,
  outcomeOf,
  sealerWith,
  sid,
} from './fixtures.ts';

const bytes = (seed: number): Uint8Array =>
  new Uint8Array(createHash('sha256').update(Uint8Array.of(seed)).digest());
const inQuotes =
  'The keys are in quotes, which are no part of them. Remove the quotes: a shell does so, but `docker run --env-file` and some dashboards keep them.';
const oldKey = `old:${toBase64Url(bytes(1))}`;
const newKey = `new:${toBase64Url(bytes(2))}`;
const jwk = { kty: 'oct', kid: 'jwk', k: toBase64Url(bytes(3)) } as const;

const howToMakeOne = `To make one: node -p "'k1:' + require('node:crypto').randomBytes(32).toString('base64url')".`;

it('derives a key again after the keys of 1,000 other sagas, and keeps no more of them', () => {
  const sealer = sealerWith({ implementation: 'fast' });
  const createHmac = vi.spyOn(process.getBuiltinModule('node:crypto'), 'createHmac');
  /** Seals a token of a saga, and returns the number of keys that this derives. */
  const derivedBy = (saga: number): number => {
    createHmac.mockClear();
    const id = toBase64Url(new Uint8Array(Uint32Array.of(saga, 0, 0, 0).buffer));
    void sealer.seal('token', id, claimsWith(), []);
    return createHmac.mock.calls.length;
  };
  try {
    expect([derivedBy(0), derivedBy(0)]).toEqual([1, 0]);
    for (let saga = 1; saga <= 1_000; saga += 1) derivedBy(saga);
    expect(derivedBy(0)).toBe(1);
  } finally {
    createHmac.mockRestore();
  }
});

describe('reading keys', () => {
  it.each<[string, KeysOption, readonly string[]]>([
    ['a text', oldKey, ['old']],
    ['a text of two', `${newKey},${oldKey}`, ['new', 'old']],
    ['a text with blanks and a line break', ` ${newKey} , ${oldKey}\n`, ['new', 'old']],
    ['a list of texts', [newKey, oldKey], ['new', 'old']],
    ['bytes', [{ kid: 'raw', key: bytes(4) }], ['raw']],
    ['a JWK', [jwk], ['jwk']],
    ['a JWK with alg dir', [{ ...jwk, alg: 'dir' }], ['jwk']],
    ['a JWK with alg A256GCM', [{ ...jwk, alg: 'A256GCM' }], ['jwk']],
    ['the JSON of a JWK', JSON.stringify(jwk), ['jwk']],
    [
      'the JSON of a JWK set',
      JSON.stringify({ keys: [jwk, { ...jwk, kid: 'b', k: toBase64Url(bytes(5)) }] }),
      ['jwk', 'b'],
    ],
    ['the JSON of a list of JWKs', JSON.stringify([jwk]), ['jwk']],
    [
      'a list of all forms',
      [`${newKey},${oldKey}`, jwk, { kid: 'raw', key: bytes(4) }],
      ['new', 'old', 'jwk', 'raw'],
    ],
  ])('[T7] accepts %s', (_, keys, kids) => {
    expect(createKeyRing(keys).kids).toStrictEqual(kids);
  });

  it.each<[string, unknown, string]>([
    ['an empty text', '', `The list of keys is empty: ${howToGiveKeys}`],
    ['a blank text', ' \n', `The list of keys is empty: ${howToGiveKeys}`],
    ['an empty list', [], `The list of keys is empty: ${howToGiveKeys}`],
    ['an empty JWK set', '{"keys":[]}', `The list of keys is empty: ${howToGiveKeys}`],
    [
      'a comma too many',
      `${oldKey},`,
      `key 2 of 2 is not written as <id>:<32 bytes base64url>. ${howToMakeOne}`,
    ],
    [
      'no id',
      toBase64Url(bytes(1)),
      `key 1 of 1 is not written as <id>:<32 bytes base64url>. ${howToMakeOne}`,
    ],
    [
      'two colons',
      `a:b:${toBase64Url(bytes(1))}`,
      `key 1 of 1 is not written as <id>:<32 bytes base64url>. ${howToMakeOne}`,
    ],
    [
      'an empty id',
      `:${toBase64Url(bytes(1))}`,
      `key 1 of 1 has no id of 1 to 64 letters, digits and . _ ~ -. ${howToMakeOne}`,
    ],
    [
      'an id too long',
      `${'x'.repeat(65)}:${toBase64Url(bytes(1))}`,
      `key 1 of 1 has no id of 1 to 64 letters, digits and . _ ~ -. ${howToMakeOne}`,
    ],
    [
      'an id with a blank',
      `a b:${toBase64Url(bytes(1))}`,
      `key 1 of 1 has no id of 1 to 64 letters, digits and . _ ~ -. ${howToMakeOne}`,
    ],
    [
      'a short key',
      `${newKey},k:${toBase64Url(bytes(1).subarray(1))}`,
      `key 2 of 2 has 31 bytes instead of 32. ${howToMakeOne}`,
    ],
    [
      'a long key',
      `k:${toBase64Url(new Uint8Array(33).fill(7))}`,
      `key 1 of 1 has 33 bytes instead of 32. ${howToMakeOne}`,
    ],
    ['a padded key', `${oldKey}=`, `key 1 of 1 is not base64url without padding. ${howToMakeOne}`],
    [
      'a key in hex',
      `k:${'0f'.repeat(32)}`,
      `key 1 of 1 is written in hex instead of base64url. ${howToMakeOne}`,
    ],
    [
      'a passphrase',
      'k:correct horse battery staple',
      `key 1 of 1 is not base64url without padding. ${howToMakeOne}`,
    ],
    [
      'short bytes',
      [newKey, { kid: 'k', key: bytes(1).subarray(1) }],
      'key 2 of 2 has 31 bytes instead of 32',
    ],
    [
      'bytes without an id',
      [{ key: bytes(1) }],
      'key 1 of 1 has no id of 1 to 64 letters, digits and . _ ~ -',
    ],
    ['a JWK of another type', [{ ...jwk, kty: 'RSA' }], 'key 1 of 1 is not a JWK of type oct'],
    [
      'a JWK of another alg',
      [{ ...jwk, alg: 'HS256' }],
      'key 1 of 1 has an alg other than dir or A256GCM',
    ],
    [
      'a JWK without an id',
      [{ kty: 'oct', k: jwk.k }],
      'key 1 of 1 has no id of 1 to 64 letters, digits and . _ ~ -',
    ],
    [
      'a JWK without a key',
      [{ kty: 'oct', kid: 'a' }],
      'key 1 of 1 is not base64url without padding',
    ],
    ['a JWK with a short key', [{ ...jwk, k: 'AAAA' }], 'key 1 of 1 has 3 bytes instead of 32'],
    [
      'JSON that does not parse',
      `{"kty":"oct","k":"${jwk.k}"`,
      'The keys look like JSON but do not parse',
    ],
    ['keys in double quotes', `"${oldKey}"`, inQuotes],
    ['keys in single quotes', `'${newKey},${oldKey}' `, inQuotes],
    ['keys with a quote at the end', `${oldKey}"`, inQuotes],
    ['a number', [1], 'key 1 of 1 is neither a string nor an object'],
    ['a number by itself', 5, `The keys are neither a string nor a list: ${howToGiveKeys}`],
    ['a function', () => oldKey, `The keys are neither a string nor a list: ${howToGiveKeys}`],
    ['a key by itself', jwk, `The keys are neither a string nor a list: ${howToGiveKeys}`],
    ['null', [newKey, null], 'key 2 of 2 is neither a string nor an object'],
    [
      'an id twice',
      `${oldKey},old:${toBase64Url(bytes(9))}`,
      'key 2 of 2 has the ID of key 1: give each key a unique ID, as in k2:…',
    ],
    [
      'bytes twice',
      `${newKey},${oldKey},k:${toBase64Url(bytes(2))}`,
      'key 3 of 3 has the bytes of key 1',
    ],
  ])('[T7] refuses %s with the position of the key', async (_, keys, message) => {
    const error = await errorOf(() => createKeyRing(keys as KeysOption));
    expect(error).toBeInstanceOf(SealError);
    expect(error).toMatchObject({ code: 'keys', message });
  });

  it('[T7] shows no key in an error, whatever is wrong with it', () => {
    const secret = fc.uint8Array({ minLength: 6, maxLength: 40 }).map(toBase64Url);
    const wrap = fc.constantFrom<(text: string) => unknown>(
      (text) => text,
      (text) => `k1:${text}=`,
      (text) => `k1:${text},k1:${text}`,
      (text) => `{"k":"${text}"`,
      (text) => [{ kty: 'oct', kid: text, k: text }],
      (text) => [{ kty: text, kid: 'a', k: text, alg: text }],
      (text) => [{ kid: text.repeat(9), key: new TextEncoder().encode(text) }],
    );
    fc.assert(
      fc.property(secret, wrap, (text, toKeys) => {
        try {
          createKeyRing(toKeys(text) as KeysOption);
        } catch (error) {
          expect(inspect(error, { showHidden: true })).not.toContain(text);
        }
      }),
    );
  });

  it("[T7] refuses the published test keys unless the environment is 'test'", async () => {
    expect(publishedTestKeys).toHaveLength(5);
    for (const key of publishedTestKeys) {
      expect(bytesOf(key)).toHaveLength(32);
      for (const environment of [undefined, 'production', 'development', 'TEST', 'test ']) {
        const options = environment === undefined ? {} : { environment };
        const error = await errorOf(() => createKeyRing(`${newKey},k1:${key}`, options));
        expect(error).toMatchObject({
          code: 'keys',
          message: 'key 2 of 2 is a published test key',
        });
      }
      expect(createKeyRing(`k1:${key}`, { environment: 'test' }).kids).toStrictEqual(['k1']);
    }
  });

  it('[T7] keeps a copy of the given bytes', async () => {
    const key = bytes(6);
    const ring = createKeyRing([{ kid: 'raw', key }]);
    const sealer = createSealer({ ring, audience });
    key.fill(0);
    const again = sealerWith({ keys: [{ kid: 'raw', key: bytes(6) }] });
    const token = await again.seal('token', sid, claimsWith(), []);
    expect(
      await outcomeOf(() => sealer.open(token, { purpose: 'token', ignoreExpiry: true })),
    ).toBe('opened');
  });
});

describe('generated keys', () => {
  it('[T7] are accepted unchanged, and differ from each other', () => {
    const keys = Array.from({ length: 20 }, (_, index) => generateKey(`k${index}`));
    expect(createKeyRing(keys.join(',')).kids).toHaveLength(20);
    expect(generateKey()).toMatch(/^k1:[\w-]{43}$/);
  });

  it('[T7] require a valid ID', () => {
    expect(() => generateKey('a:b')).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });
});

describe('ephemeral keys', () => {
  it.each([{}, { environment: 'development' }, { environment: 'test' }])(
    '[T7] are used if requested, without a warning, for %j',
    (options) => {
      const warn = vi.fn();
      expect(createKeyRing('ephemeral', { ...options, warn }).kids).toHaveLength(1);
      expect(warn).not.toHaveBeenCalled();
    },
  );

  it('[T7] are used in production if requested, with a warning', () => {
    const warn = vi.fn();
    expect(createKeyRing('ephemeral', { environment: 'production', warn }).kids).toHaveLength(1);
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each([
    { stdio: true },
    { environment: 'development' },
    { environment: 'test' },
    { stdio: true, environment: 'production' },
  ])('[T7] are used for %j, with a warning', (options) => {
    const warn = vi.fn();
    expect(createKeyRing(undefined, { ...options, warn }).kids).toHaveLength(1);
    expect(warn).toHaveBeenCalledOnce();
  });

  it.each([
    {},
    { stdio: false },
    { environment: 'production' },
    { environment: '' },
    { environment: 'Development' },
    { environment: 'testing' },
  ])('[T7] are rejected for %j, and the error suggests a fix', async (options) => {
    const error = await errorOf(() => createKeyRing(undefined, options));
    expect(error).toMatchObject({ code: 'keys' });
    expect(String(error)).toMatch(/SAGA_KEYS.*randomBytes\(32\)/);
  });

  it('[T7] differ from ring to ring, in ID and in bytes', async () => {
    const [one, two] = [sealerWith({ keys: 'ephemeral' }), sealerWith({ keys: 'ephemeral' })];
    const token = await one.seal('token', sid, claimsWith(), []);
    expect(await outcomeOf(() => one.open(token, { purpose: 'token' }))).toBe('opened');
    expect(await outcomeOf(() => two.open(token, { purpose: 'token' }))).toBe('unknown_key');
  });
});

describe.each(implementations)('rotation, %s', (implementation) => {
  it('[T7] runs in phases: old,new then new,old then new, with two adjacent phases at once', async () => {
    const states = [oldKey, `${oldKey},${newKey}`, `${newKey},${oldKey}`, newKey];
    const sealers = states.map((keys) => sealerWith({ keys, implementation }));
    const opens = async (from: number, to: number): Promise<string> => {
      const token = await sealers[from]?.seal('token', sid, claimsWith(), []);
      return outcomeOf(() => sealers[to]?.open(token ?? '', { purpose: 'token' }));
    };
    for (const [from, to] of [
      [0, 1],
      [1, 0],
      [1, 2],
      [2, 1],
      [2, 3],
      [3, 2],
    ] as const) {
      expect(await opens(from, to)).toBe('opened');
    }
    expect(await opens(1, 3)).toBe('unknown_key');
    expect(await opens(2, 0)).toBe('unknown_key');
  });

  it('[T7] seals with the first key', async () => {
    const sealer = sealerWith({ keys: `${newKey},${oldKey}`, implementation });
    const { kid } = await sealer.open(await sealer.seal('token', sid, claimsWith(), []), {
      purpose: 'token',
    });
    expect(kid).toBe('new');
  });
});

describe('printing', () => {
  it('[T7] shows IDs and no key', () => {
    const ring = createKeyRing(`${newKey},${oldKey}`);
    const sealer = createSealer({ ring, audience });
    const shown = 'KeyRing(new, old; keys redacted)';
    expect(String(ring)).toBe(shown);
    expect(JSON.stringify({ ring })).toBe(`{"ring":"${shown}"}`);
    expect(inspect(ring)).toBe(shown);
    const all = [ring, sealer]
      .map((value) => inspect(value, { showHidden: true, depth: 9, customInspect: false }))
      .join();
    for (const key of [bytes(1), bytes(2)]) {
      expect(all).not.toContain(toBase64Url(key));
      expect(all).not.toContain([...key.subarray(0, 4)].join(', '));
    }
  });

  it('[T7] does not expose the keys by a property', () => {
    const ring = createKeyRing(newKey);
    expect(Reflect.ownKeys(ring)).toStrictEqual(['kids']);
    expect(new Set(Reflect.ownKeys(ring.constructor))).toStrictEqual(
      new Set(['length', 'name', 'prototype']),
    );
    expect(() => createSealer({ ring: { kids: ['new'], toJSON: () => '' }, audience })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });
});
