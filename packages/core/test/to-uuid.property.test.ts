import { createHash } from 'node:crypto';
import { toUuid } from '@mcp-saga/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Any string that UTF-8 can hold, and strings about as long as a block of SHA-256. */
const keys = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ minLength: 50, maxLength: 140 }),
);

const keyOfHost = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));

/** Section B.2 of RFC 9562, without a namespace. */
function byNode(key: string): string {
  const octets = createHash('sha256').update(key, 'utf8').digest().subarray(0, 16);
  octets[6] = ((octets[6] as number) & 0x0f) | 0x80;
  octets[8] = ((octets[8] as number) & 0x3f) | 0x80;
  return octets.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

describe('toUuid', () => {
  it('[E1] a key has one UUID in every release, because providers keep the UUID', () => {
    expect(toUuid('do:charge')).toBe('15636546-8e87-8667-8355-519f833c7ff8');
    expect(toUuid('GvnzDGBK4xVXRAaaVk6NUoVYzi5rVGZYkV2jmoXJ3rU')).toBe(
      '55d029ba-7e91-85b0-94f5-1c13f1a626a6',
    );
  });

  it('a UUID has version 8 and the variant of RFC 9562', () => {
    fc.assert(
      fc.property(fc.oneof(keys, keyOfHost), (key) => {
        expect(toUuid(key)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  it('a UUID has the first bits of the SHA-256 of any key, so other languages can make it', () => {
    fc.assert(fc.property(fc.oneof(keys, keyOfHost), (key) => toUuid(key) === byNode(key)));
    for (let length = 1; length < 200; length += 1)
      expect(toUuid('k'.repeat(length))).toBe(byNode('k'.repeat(length)));
  });

  it('[E1] keys that differ only at their end have different UUIDs', () => {
    fc.assert(
      fc.property(keyOfHost, keys, keys, (start, one, other) => {
        fc.pre(one !== other);
        expect(toUuid(start + one)).not.toBe(toUuid(start + other));
      }),
    );
  });

  it('a missing key and a string that UTF-8 cannot hold have no UUID', () => {
    for (const none of ['', undefined, null, 7, '\ud800', 'key \udc00'])
      expect(() => toUuid(none as string)).toThrow(
        expect.objectContaining({
          code: 'authoring_error',
          message: expect.stringContaining('toUuid needs a key'),
        }),
      );
    expect(toUuid('👍')).toBe(byNode('👍'));
  });
});
