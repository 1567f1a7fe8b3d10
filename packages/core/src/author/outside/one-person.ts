import type { OutsideAnswer, OutsideUser } from '../../model/outside.ts';

// One rule says which answers may come from one person. The host applies it to the caller of a saga,
// the decision to the answers that it counts, and the page to the receipt that it shows. If each had
// a rule of its own, a person could be refused by one, and counted twice by another.

/** Answerer of a question, as far as the rule needs it. */
export type Answerer = Pick<OutsideAnswer, 'by' | 'recipient'>;

/**
 * `true` if two users may be one person. A missing issuer fits every issuer: a browser session may
 * name the subject alone, and an access token of the same person also the issuer.
 *
 * The relation is not transitive. Users of two issuers are two people, and a user without an issuer
 * may be either of them.
 */
export function isSameUser(one: OutsideUser, other: OutsideUser): boolean {
  if (one.subject !== other.subject) return false;
  return one.issuer === undefined || other.issuer === undefined || one.issuer === other.issuer;
}

/**
 * `true` if two answers may come from one person. An answer for which the link was enough may come
 * from anyone who answered by a link of the same recipient.
 */
export function mayBeOnePerson(one: Answerer, other: Answerer): boolean {
  if (one.by === 'link' || other.by === 'link') return one.recipient === other.recipient;
  return isSameUser(one.by, other.by);
}

/** Answers that count: the first one of each person. */
export function firstOfEach<A extends Answerer>(answers: readonly A[]): readonly A[] {
  const first: A[] = [];
  for (const answer of answers)
    if (!first.some((earlier) => mayBeOnePerson(earlier, answer))) first.push(answer);
  return first;
}
