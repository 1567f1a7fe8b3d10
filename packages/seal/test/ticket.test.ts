import { describe, expect, it } from 'vitest';
import { claimsWith, pairs, sealerWith, sid } from './fixtures.ts';

const nonceOf = (token: string): string => token.split('.')[2] ?? '';

describe.each(pairs)('a ticket, $from and $to', ({ from, to }) => {
  it('has the same text at every time and on every runtime', async () => {
    const streams = [{ bytes: 'question', compress: false }];
    const one = await sealerWith({ implementation: from }).seal(
      'ticket',
      sid,
      claimsWith({}),
      streams,
    );
    const other = await sealerWith({ implementation: to }).seal(
      'ticket',
      sid,
      claimsWith({}),
      streams,
    );
    expect(other).toBe(one);
  });

  it('has the same nonce and tag in every release', async () => {
    const sealer = sealerWith({ implementation: from });
    const ticket = await sealer.seal('ticket', sid, claimsWith({}), [
      { bytes: 'question', compress: false },
    ]);
    const [, , nonce, , tag] = ticket.split('.');
    expect([nonce, tag]).toEqual(['AqfgNNPMN83rv0SA', '-A4Yb9Y47331BJPFx9Fu7A']);
  });

  it('has another nonce for any other content', async () => {
    const sealer = sealerWith({ implementation: from });
    const seal = (text: string, exp: number): string | Promise<string> =>
      sealer.seal('ticket', sid, claimsWith({ exp }), [{ bytes: text, compress: false }]);
    const { exp } = claimsWith({});
    const tickets = [await seal('one', exp), await seal('two', exp), await seal('one', exp + 1)];
    expect(new Set(tickets.map(nonceOf)).size).toBe(3);
  });

  it('leaves the nonces of other purposes random', async () => {
    const sealer = sealerWith({ implementation: to });
    const one = await sealer.seal('token', sid, claimsWith({}), []);
    const other = await sealer.seal('token', sid, claimsWith({}), []);
    expect(nonceOf(one)).not.toBe(nonceOf(other));
  });
});
