import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reveal, withhold } from '../src/journal/withheld-entry.ts';

const anyKey = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const anyRepeat = fc.constantFrom('', '#2', '#10', '#999', '#1000');
const path = fc.oneof(
  fc.string(),
  fc.tuple(anyKey, anyRepeat).map(([text, count]) => `charge(${text})${count}`),
  fc
    .tuple(anyKey, anyRepeat, anyRepeat)
    .map(([text, one, two]) => `~a/charge(${text})${one}/refund${two}`),
  fc.tuple(anyKey, anyKey).map(([one, two]) => `~charge(${one})/refund(${two})#2`),
);
const fingerprint = fc.integer({ min: -(2 ** 31), max: 2 ** 33 });

describe('the part of an entry that server code made', () => {
  it('[T15] can be joined with the rest to the original', () => {
    fc.assert(
      fc.property(path, fingerprint, fc.boolean(), (text, print, hides) => {
        const parts = withhold({ path: text, fingerprint: print }, hides);
        expect(reveal(parts.open, parts.withheld)).toStrictEqual({
          path: text,
          fingerprint: print,
        });
        expect(parts.open).not.toMatch(/\(./);
      }),
      { numRuns: 1_000 },
    );
  });

  it('[T15] has a length that depends on the length of the key alone', () => {
    const digits = fc.stringMatching(/^\d{8}$/);
    const count = fc.integer({ min: 1, max: 999 }).map((times) => (times === 1 ? '' : `#${times}`));
    const parts = fc.record({ one: digits, two: digits, repeat: count, inner: count });
    const paths: readonly ((key: string, repeat: string, inner: string) => string)[] = [
      (key, repeat) => `charge(${key})${repeat}`,
      (key, repeat) => `~part/charge(${key})${repeat}`,
      (key, repeat, inner) => `~charge(${key})${repeat}/refund(${key})${inner}`,
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        parts,
        fingerprint,
        fc.boolean(),
        (of, given, print, hides) => {
          const { one, two, repeat: times, inner } = given;
          const plain = withhold({ path: of(one, '', ''), fingerprint: 0 }, hides);
          const again = withhold({ path: of(two, times, inner), fingerprint: print }, hides);
          expect(again.open).toBe(plain.open);
          expect(again.withheld).toHaveLength(plain.withheld.length);
        },
      ),
    );
  });
});
