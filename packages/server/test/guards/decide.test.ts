import { describe, expect, it } from 'vitest';
import {
  decide,
  finished,
  letGo,
  relate,
  type StoredToken,
  type UnfinishedToken,
} from '../../src/store/decide.ts';
import type { GuardClaim } from '../../src/model/guard.ts';

const now = 1_000_000;
const leaseMs = 60_000;

const claim: GuardClaim = {
  sagaId: 's',
  turn: 1,
  jti: 'token',
  action: 'resume',
  digest: 'yes',
  leaseMs,
  expiresAt: now + 2_000_000,
  respondsUntil: now + 1_000_000,
};

const claims = {
  'the same request': {},
  'other answers': { digest: 'no' },
  'other answers, follows': { digest: 'no', follows: true },
  'a repeated start': { follows: true, learnsEnd: true },
  'other answers, awaits': { digest: 'no', awaits: true },
  'a cancel': { action: 'cancel', digest: 'no' },
  'a cancel that ends': { action: 'cancel', digest: 'no', ends: true },
  'a cancel that awaits': { action: 'cancel', digest: 'no', awaits: true },
  'another token': { jti: 'another', follows: true, awaits: true },
  'another token that ends': { jti: 'another', ends: true },
} satisfies Readonly<Record<string, Partial<GuardClaim>>>;

type Claim = keyof typeof claims;
type Result =
  | 'run'
  | 'run first'
  | 'run its request'
  | 'response'
  | 'its response'
  | 'a later response'
  | 'a later response of it'
  | 'busy'
  | 'conflict';

/**
 * What the claims above may do, for each state of the token. A claim that is not listed is a
 * conflict. `run first`: the stored request runs as this request. `run its request`: it runs before
 * this request.
 */
const cases: readonly (readonly [
  state: string,
  stored: StoredToken | undefined,
  results: Readonly<Partial<Record<Claim, Result>>>,
])[] = [
  [
    'never used',
    undefined,
    Object.fromEntries(Object.keys(claims).map((name) => [name, 'run'])) as Record<Claim, 'run'>,
  ],
  [
    'leased, with its request',
    token({ status: 'leased' }, 'request'),
    {
      'the same request': 'busy',
      'other answers, follows': 'busy',
      'a repeated start': 'busy',
      'other answers, awaits': 'busy',
      'a cancel that ends': 'busy',
    },
  ],
  [
    'leased, without its request',
    token({ status: 'leased' }),
    { 'the same request': 'busy', 'other answers, follows': 'busy', 'a repeated start': 'busy' },
  ],
  ...(
    [
      ['its lease over', token({ status: 'leased' }, 'request', now - leaseMs)],
      ['released', token({ status: 'released' }, 'request')],
    ] as const
  ).map(
    ([how, stored]) =>
      [
        `${how}, with its request`,
        stored,
        {
          'the same request': 'run first',
          'other answers, follows': 'run first',
          'a repeated start': 'run first',
          'other answers, awaits': 'run its request',
          'a cancel that ends': 'run first',
        },
      ] as const,
  ),
  [
    'its lease over, without its request',
    token({ status: 'leased' }, undefined, now - leaseMs),
    { 'the same request': 'run', 'a repeated start': 'run' },
  ],
  [
    'released, without its request',
    token({ status: 'released' }),
    { 'the same request': 'run', 'a repeated start': 'run' },
  ],
  [
    'finished',
    ended('response'),
    {
      'the same request': 'response',
      'other answers, follows': 'response',
      'a repeated start': 'response',
      'a cancel that ends': 'its response',
    },
  ],
  [
    'finished, its response forgotten',
    ended(),
    {
      'the same request': 'a later response',
      'other answers, follows': 'a later response',
      'a repeated start': 'a later response',
      'a cancel that ends': 'a later response of it',
    },
  ],
  [
    'finished by a cancel',
    ended('response', { action: 'cancel' }),
    { 'a repeated start': 'response' },
  ],
  [
    'leased by a cancel',
    token({ status: 'leased', action: 'cancel' }, 'request'),
    { 'a repeated start': 'busy', 'a cancel that awaits': 'busy' },
  ],
  [
    'released by a cancel',
    token({ status: 'released', action: 'cancel' }, 'request'),
    { 'a cancel that awaits': 'run its request' },
  ],
];

describe('what a claim may do with a used token', () => {
  for (const [state, stored, results] of cases)
    for (const [name, change] of Object.entries(claims)) {
      const result = results[name as Claim] ?? 'conflict';
      it(`[T13] ${name} meets a token that is ${state}: ${result}`, () => {
        expect(resultOf(stored, { ...claim, ...change })).toBe(result);
      });
    }
});

describe('the use of a later token', () => {
  const [yes, no, other] = ['questionyesyesye', 'questionnononono', 'another?yesyesye'];
  const none = 'no answers';
  it.each<[string, Partial<UnfinishedToken>, GuardClaim['decided'], string]>([
    ['of which nothing was decided', { decisions: [no] }, undefined, 'none'],
    ['without answers', { digest: none }, [yes], 'none'],
    ['with the same answer', { decisions: [yes] }, [yes], 'same'],
    ['with one of the same answers', { decisions: [yes] }, [other, yes], 'same'],
    ['with another answer to the question', { decisions: [no] }, [yes], 'conflict'],
    ['with the same answer, and another one', { decisions: [other, no] }, [other, yes], 'conflict'],
    ['with an answer to another question', { decisions: [other] }, [yes], 'none'],
    ['by a cancellation', { action: 'cancel' }, [yes], 'conflict'],
    ['without answers, for a cancellation', { digest: none }, 'cancel', 'none'],
    ['with an answer, for a cancellation', { decisions: [yes] }, 'cancel', 'conflict'],
    ['by the same cancellation', { action: 'cancel' }, 'cancel', 'same'],
  ])('[T13] %s relates to an older decision', (_, used, decided, relation) => {
    expect(relate(finished(unfinished(used)), { decided, digest: none })).toBe(relation);
  });
});

describe('the next state of a used token', () => {
  it('knows that a lease ended without a result, unless the next request only awaits it', () => {
    const stored = token({ status: 'released' }, 'request');
    const isAgain = (change: Partial<GuardClaim>): boolean | undefined => {
      const decision = decide(stored, { ...claim, ...change }, now);
      return decision.do === 'run' ? decision.used.isAgain : undefined;
    };
    expect(isAgain({})).toBe(true);
    expect(isAgain({ digest: 'no', follows: true })).toBe(true);
    expect(isAgain({ digest: 'no', awaits: true })).toBe(false);
  });

  it('makes a token good again only if none of its leases can have had effects', () => {
    const used = unfinished({ status: 'leased' });
    expect(letGo(used, true)).toBeUndefined();
    expect(letGo(used, false)).toMatchObject({ status: 'released' });
    expect(letGo({ ...used, isAgain: true }, true)).toMatchObject({ status: 'released' });
  });

  it('keeps a response until the latest time that any of its requests asked for', () => {
    for (const [first, second] of [
      [10, 20],
      [20, 10],
    ] as const) {
      const stored = token({ status: 'released', respondsUntilMs: now + first }, 'request');
      const decision = decide(stored, { ...claim, respondsUntil: now + second }, now);
      expect(decision).toMatchObject({ used: { respondsUntilMs: now + 20 } });
    }
  });

  it('keeps no response longer than the token', () => {
    const decision = decide(undefined, { ...claim, respondsUntil: now + 9_000_000 }, now);
    expect(decision).toMatchObject({ used: { respondsUntilMs: claim.expiresAt } });
  });
});

function resultOf(stored: StoredToken | undefined, asked: GuardClaim): Result {
  const decision = decide(stored, asked, now);
  if (decision.do === 'refuse') return decision.because;
  if (decision.do === 'respond') {
    if (decision.response === undefined)
      return decision.isOther ? 'a later response of it' : 'a later response';
    return decision.isOther ? 'its response' : 'response';
  }
  if (decision.interrupted === undefined) return 'run';
  return decision.isOther ? 'run its request' : 'run first';
}

/** An unfinished token. Default: it was written just now, by the request of `claim`. */
function token(
  change: Partial<UnfinishedToken>,
  body?: string,
  writtenAtMs = now - 1,
): StoredToken {
  return { used: unfinished(change), body, writtenAtMs };
}

/** A finished token. Its response may have expired. */
function ended(body?: string, change: Partial<UnfinishedToken> = {}): StoredToken {
  return { used: finished(unfinished(change)), body, writtenAtMs: now - 1 };
}

function unfinished(change: Partial<UnfinishedToken>): UnfinishedToken {
  return {
    jti: 'token',
    action: 'resume',
    digest: 'yes',
    status: 'leased',
    leaseMs,
    isAgain: false,
    respondsUntilMs: now + 1_000_000,
    expiresAtMs: now + 2_000_000,
    ...change,
  };
}
