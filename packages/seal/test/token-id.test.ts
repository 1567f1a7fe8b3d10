import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTokenId } from '../src/index.ts';
import { bytesOf, claimsWith, implementations, sealerWith, sid } from './fixtures.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const nonceOf = (token: string): string => token.split('.')[2] ?? '';

describe.each(implementations)('the ID of a token, %s', (implementation) => {
  const sealer = sealerWith({ implementation });
  const seal = async (jti: string, method = 'tools/call'): Promise<string> =>
    nonceOf(await sealer.seal('token', sid, claimsWith({ jti, method }), []));

  it('[T6] has 16 random bytes', () => {
    const ids = Array.from({ length: 50 }, () => createTokenId());
    expect(new Set(ids).size).toBe(50);
    for (const id of ids) expect(bytesOf(id)).toHaveLength(16);
  });

  it('[T3] needs one draw of randomness together with the nonce of its token', async () => {
    const draws = vi.spyOn(crypto, 'getRandomValues');
    const jti = createTokenId();
    const nonce = await seal(jti);
    expect(draws).toHaveBeenCalledTimes(1);
    expect(jti).not.toContain(nonce.slice(0, 8));
  });

  it('[T3] leads to a nonce once: the same ID for another method has another nonce', async () => {
    const jti = createTokenId();
    const nonces = [await seal(jti), await seal(jti, 'tools/callSaga'), await seal(jti)];
    expect(new Set(nonces).size).toBe(3);
  });

  it('[T3] leads to a nonce for the token with the latest ID only', async () => {
    const [older, newer] = [createTokenId(), createTokenId()];
    const draws = vi.spyOn(crypto, 'getRandomValues');
    const nonces = [await seal(older), await seal('another'), await seal(newer)];
    expect(new Set(nonces).size).toBe(3);
    expect(draws).toHaveBeenCalledTimes(2);
  });

  it('[T3] does not change the nonce of a ticket', async () => {
    const claims = claimsWith({ jti: createTokenId() });
    const ticket = async (): Promise<string> =>
      nonceOf(await sealer.seal('ticket', sid, claims, []));
    expect(await ticket()).toBe(await ticket());
  });
});
