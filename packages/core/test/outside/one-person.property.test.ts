import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  firstOfEach,
  isSameUser,
  mayBeOnePerson,
  type Answerer,
} from '../../src/author/outside/one-person.ts';

const user = fc.record(
  {
    subject: fc.constantFrom('ann', 'bob'),
    issuer: fc.constantFrom('https://one.example', 'https://two.example'),
  },
  { requiredKeys: ['subject'] },
);
const answerer: fc.Arbitrary<Answerer> = fc.record({
  by: fc.oneof(user, fc.constant('link' as const)),
  recipient: fc.nat(2),
});
const answerers = fc.array(answerer, { maxLength: 10 });

it('answerers who may be one person may be so in either order, and each is one with itself', () => {
  fc.assert(
    fc.property(answerer, answerer, (one, other) => {
      expect(mayBeOnePerson(one, one)).toBe(true);
      expect(mayBeOnePerson(one, other)).toBe(mayBeOnePerson(other, one));
    }),
  );
});

it('users with one subject are two people only if both name an issuer, and the issuers differ', () => {
  fc.assert(
    fc.property(user, user, (one, other) => {
      const issuers = new Set([one.issuer, other.issuer]);
      const differs = issuers.size === 2 && !issuers.has(undefined);
      expect(isSameUser(one, other)).toBe(one.subject === other.subject && !differs);
    }),
  );
});

it('answers that count are of different people, and each other answer is of one of them', () => {
  fc.assert(
    fc.property(answerers, (all) => {
      const first = firstOfEach(all);
      for (const [at, one] of first.entries())
        expect(first.slice(at + 1).some((other) => mayBeOnePerson(one, other))).toBe(false);
      for (const one of all) {
        const earlier = first.filter((kept) => all.indexOf(kept) <= all.indexOf(one));
        expect(earlier.some((kept) => mayBeOnePerson(kept, one))).toBe(true);
      }
    }),
  );
});

it('a later answer never changes which earlier answers count', () => {
  fc.assert(
    fc.property(answerers, answerer, (all, late) => {
      expect(firstOfEach([...all, late]).slice(0, firstOfEach(all).length)).toEqual(
        firstOfEach(all),
      );
    }),
  );
});
