import { describe, expect, it } from 'vitest';
import type { Claims, Expectations, Purpose } from '../src/index.ts';
import { TokenRefused } from '../src/index.ts';
import {
  claimsWith,
  errorOf,
  expectations,
  forge,
  implementations,
  now,
  outcomeOf,
  pairs,
  sealerWith,
  sid,
} from './fixtures.ts';

const skew = 30_000;
const purposes: readonly Purpose[] = [
  'token',
  'response',
  'handle',
  'blob',
  'ticket',
  'answer',
  'wake',
  'start',
];

describe.each(pairs)('checks of a token, $from to $to', ({ from, to }) => {
  const outcome = async (
    claims: Partial<Claims>,
    expected: Partial<Expectations>,
    at: number = now,
  ): Promise<string> => {
    const token = await sealerWith({ implementation: from }).seal(
      'token',
      sid,
      claimsWith(claims),
      [],
    );
    const opener = sealerWith({ implementation: to, clock: () => at });
    return outcomeOf(() => opener.open(token, { ...expectations, ...expected }));
  };

  it.each<[string, Partial<Expectations>]>([
    ['opened', {}],
    ['method', { methods: ['tools/call'] }],
    ['method', { methods: [] }],
    ['opened', { methods: ['tools/call', 'tools/callSaga'] }],
    ['target', { entry: { target: 'deploy2' } }],
    ['target', { entry: { target: 'Deploy' } }],
    ['target', { entry: { target: '' } }],
    ['arguments', { entry: { argsDigest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgh' } }],
    ['opened', { entry: { target: 'deploy' } }],
    ['opened', { entry: {} }],
    ['principal', { principal: 'user-2' }],
    ['principal', { principal: null }],
    ['principal', { principal: '' }],
    ['engine', { engines: { min: 2, max: 3 } }],
    ['engine', { engines: { min: 0, max: 0 } }],
    ['engine', { engines: { min: Number.NaN, max: 9 } }],
    ['opened', { engines: { min: 1, max: 1 } }],
    ['sid', { sid: 'AAAAAAAAAAAAAAAAAAAAAA' }],
  ])('[T6] return %s for %j', async (reason, expected) => {
    expect(await outcome({}, expected)).toBe(reason);
  });

  it('[T6] treat the absent principal as a value of its own', async () => {
    expect(await outcome({ principal: null }, { principal: null })).toBe('opened');
    for (const principal of ['', 'null', 'user-1']) {
      expect(await outcome({ principal: null }, { principal })).toBe('principal');
      expect(await outcome({ principal }, { principal: null })).toBe('principal');
    }
  });

  it('[T6] accept a token until the skew after its expiry, and not a millisecond longer', async () => {
    const exp = now + 1000;
    expect(await outcome({ exp }, {}, exp)).toBe('opened');
    expect(await outcome({ exp }, {}, exp + skew - 1)).toBe('opened');
    expect(await outcome({ exp }, {}, exp + skew)).toBe('expired');
    expect(await outcome({ exp }, {}, exp + skew + 1000)).toBe('expired');
  });

  it('[T6] accept a token from the skew before it was sealed, and not a millisecond earlier', async () => {
    expect(await outcome({}, {}, now - skew)).toBe('opened');
    expect(await outcome({}, {}, now - skew - 1)).toBe('not_yet_valid');
  });

  it('[T6] accept a token from the skew before its saga began, and not a millisecond earlier', async () => {
    expect(await outcome({ born: now + skew }, {})).toBe('opened');
    expect(await outcome({ born: now + skew + 1 }, {})).toBe('not_yet_valid');
  });

  it('[T6] refuse a token if the clock returns no number', async () => {
    expect(await outcome({}, {}, Number.NaN)).toBe('not_yet_valid');
  });

  it('[T6] refuse a token sealed before `rejectIssuedBefore`, and accept one sealed at that time', async () => {
    expect(await outcome({}, { rejectIssuedBefore: now })).toBe('opened');
    expect(await outcome({}, { rejectIssuedBefore: now + 1 })).toBe('revoked');
    expect(await outcome({}, { rejectIssuedBefore: Number.NaN })).toBe('revoked');
  });

  it('[T6] except the expiry apply to an inspection', async () => {
    const late = now + 1e10;
    expect(await outcome({}, { ignoreExpiry: true }, late)).toBe('opened');
    expect(await outcome({}, { ignoreExpiry: true, principal: 'user-2' }, late)).toBe('principal');
    expect(await outcome({}, { ignoreExpiry: true, rejectIssuedBefore: late }, late)).toBe(
      'revoked',
    );
    expect(await outcome({}, { ignoreExpiry: true }, now - skew - 1)).toBe('not_yet_valid');
  });

  it('[T3] refuse another purpose, also without later checks', async () => {
    for (const purpose of purposes) {
      const token = await sealerWith({ implementation: from }).seal(purpose, sid, claimsWith(), []);
      for (const expected of purposes) {
        const opener = sealerWith({ implementation: to });
        const reason = await outcomeOf(() =>
          opener.open(token, { purpose: expected, ignoreExpiry: true }),
        );
        expect(reason).toBe(purpose === expected ? 'opened' : 'undecryptable');
      }
    }
  });

  it.each(['deployer2', 'Deployer', 'deployer ', 'd'])(
    '[T3] refuse the audience %j',
    async (audience) => {
      const token = await sealerWith({ implementation: from }).seal('token', sid, claimsWith(), []);
      const opener = sealerWith({ implementation: to, audience });
      expect(
        await outcomeOf(() => opener.open(token, { purpose: 'token', ignoreExpiry: true })),
      ).toBe('undecryptable');
    },
  );

  it('[T3] refuse the same bytes under another key ID, and other bytes under the same ID', async () => {
    const token = await sealerWith({ implementation: from, keys: 'ephemeral' }).seal(
      'token',
      sid,
      claimsWith(),
      [],
    );
    const opener = sealerWith({ implementation: to });
    expect(await outcomeOf(() => opener.open(token, { purpose: 'token' }))).toBe('unknown_key');
    const zeros = `k1:${'A'.repeat(43)}`;
    const other = await sealerWith({ implementation: from, keys: zeros }).seal(
      'token',
      sid,
      claimsWith(),
      [],
    );
    expect(await outcomeOf(() => opener.open(other, { purpose: 'token' }))).toBe('undecryptable');
  });
});

describe.each(implementations)('sealed claims, %s', (implementation) => {
  const opener = sealerWith({ implementation });

  // The header has the key ID and the saga ID: the claims do not repeat them.
  it.each([
    ['opened', {}],
    ['purpose', { purpose: 'handle' }],
    ['audience', { audience: 'another' }],
  ] as const)('[T6] lead to %s for %j, even with a valid key', async (reason, inside) => {
    const token = await forge({ inside });
    expect(await outcomeOf(() => opener.open(token, { purpose: 'token' }))).toBe(reason);
  });

  it('[T6] are refused with an unknown purpose', async () => {
    const token = await forge({});
    expect(await outcomeOf(() => opener.open(token, { purpose: 'session' as Purpose }))).toBe(
      'purpose',
    );
  });
});

it('[T5] refuses with one frozen message, and keeps the reason separate', async () => {
  const error = await errorOf(() => sealerWith().open('a.b.c.d.e', expectations));
  if (!(error instanceof TokenRefused)) throw error;
  expect(Object.assign({}, error)).toStrictEqual({
    name: 'TokenRefused',
    code: 'refused',
    reason: 'malformed',
  });
  expect(String(error)).toBe('TokenRefused: Invalid or expired sagaToken');
});
