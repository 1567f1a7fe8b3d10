import { describe, expect, it, vi } from 'vitest';
import { createRefusedCorpus } from './refused-corpus.ts';
import {
  claimsWith,
  expectations,
  implementations,
  outcomeOf,
  pairs,
  sealerWith,
  sid,
  testKeys,
} from './fixtures.ts';

// A kid of one character more or less moves the spare bits: with k1 the header ends on a whole
// byte.
const good = await sealerWith().seal('token', sid, claimsWith(), []);
const corpus = createRefusedCorpus(good);

describe.each(implementations)('the envelope, %s', (implementation) => {
  const sealer = sealerWith({ implementation });

  it('[T4] opens the token that the corpus is derived from', async () => {
    expect(await outcomeOf(() => sealer.open(good, expectations))).toBe('opened');
  });

  it('[T4] has a corpus of at least 40 distinct variants', () => {
    const tokens = corpus.map(({ token }) => token);
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(tokens).not.toContain(good);
    expect(tokens.length).toBeGreaterThan(80);
  });

  it.each(corpus)('[T4] refuses $name', async ({ token }) => {
    const reason = await outcomeOf(() => sealer.open(token as string, expectations));
    expect(['malformed', 'too_large', 'unknown_key']).toContain(reason);
  });

  it('[T4] refuses the whole corpus without deriving a key', async () => {
    const fresh = sealerWith({ implementation });
    const createHmac = vi.spyOn(process.getBuiltinModule('node:crypto'), 'createHmac');
    const sign = vi.spyOn(crypto.subtle, 'sign');
    try {
      for (const { token } of corpus)
        await outcomeOf(() => fresh.open(token as string, expectations));
      expect(createHmac).not.toHaveBeenCalled();
      expect(sign).not.toHaveBeenCalled();
      await fresh.open(good, expectations);
      expect(createHmac.mock.calls.length + sign.mock.calls.length).toBe(1);
    } finally {
      createHmac.mockRestore();
      sign.mockRestore();
    }
  });

  it('[T4] distinguishes a token of another key from a malformed one, for hooks', async () => {
    const other = sealerWith({ keys: testKeys.replace('k1', 'another-key') });
    const foreign = await other.seal('token', sid, claimsWith(), []);
    expect(await outcomeOf(() => sealer.open(foreign, expectations))).toBe('unknown_key');
  });

  it.each(['a', 'kk', 'kid', 'kid4', 'K~.-_', 'x'.repeat(64)])(
    '[T4] refuses spare bits in the header of key %s',
    async (kid) => {
      const keys = testKeys.replace('k1', kid);
      const sealed = await sealerWith({ keys }).seal('token', sid, claimsWith(), []);
      const opener = sealerWith({ keys, implementation });
      expect(await outcomeOf(() => opener.open(sealed, expectations))).toBe('opened');
      const variants = createRefusedCorpus(sealed).filter(({ name }) =>
        /spare bits|padding/.test(name),
      );
      expect(variants.length).toBeGreaterThan(8);
      for (const { token } of variants) {
        expect(await outcomeOf(() => opener.open(token as string, expectations))).toBe('malformed');
      }
    },
  );
});

describe.each(pairs)('tampering, $from to $to', ({ from, to }) => {
  it('[T1] is detected for every other character at every place', async () => {
    const token = await sealerWith({ implementation: from }).seal('token', sid, claimsWith(), []);
    const opener = sealerWith({ implementation: to });
    for (let index = 0; index < token.length; index += 1) {
      for (const other of ['A', 'Q', '-', '.']) {
        if (token[index] === other) continue;
        const changed = `${token.slice(0, index)}${other}${token.slice(index + 1)}`;
        expect(await outcomeOf(() => opener.open(changed, expectations))).not.toBe('opened');
      }
    }
  });

  it('[T1] is detected for every truncation, at either end', async () => {
    const token = await sealerWith({ implementation: from }).seal('token', sid, claimsWith(), []);
    const opener = sealerWith({ implementation: to });
    for (let length = 0; length < token.length; length += 1) {
      expect(await outcomeOf(() => opener.open(token.slice(0, length), expectations))).not.toBe(
        'opened',
      );
      if (length === 0) continue;
      expect(await outcomeOf(() => opener.open(token.slice(length), expectations))).not.toBe(
        'opened',
      );
    }
  });

  it('[T1] is detected for combined parts of two tokens of one saga', async () => {
    const sealer = sealerWith({ implementation: from });
    const opener = sealerWith({ implementation: to });
    const one = (await sealer.seal('token', sid, claimsWith(), [])).split('.');
    const two = (await sealer.seal('token', sid, claimsWith({ turn: 4 }), [])).split('.');
    for (const part of [2, 3, 4]) {
      const mixed = one.with(part, two[part] ?? '').join('.');
      expect(await outcomeOf(() => opener.open(mixed, expectations))).toBe('undecryptable');
    }
  });
});
