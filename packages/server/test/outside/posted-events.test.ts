import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { completed } from '../fixtures/host.ts';
import { caller, OutsideCase } from './case.ts';

describe('a form that is posted to a webhook', () => {
  const Form = z.object({ item: z.array(z.string()), note: z.string() });

  const Count = z
    .record(z.string(), z.string())
    .transform((form) => ({ status: 'paid', amount: Object.keys(form).length }));

  it('keeps all values of a field that is sent more than once, in their order', async () => {
    const test = new OutsideCase(
      {},
      {},
      {
        link: 'accept',
        schema: Form.transform((form) => ({ status: 'paid', amount: form.item })) as never,
      },
    );
    const turn = await test.start('payment');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'item=a&note=one&item=b&item=a';
    expect((await test.event(body, { headers })).status).toBe(202);
    const { result } = completed(await test.test.host.resume(turn.token, [], { caller }));
    expect(JSON.stringify(result)).toContain('paid a,b,a');
  });

  it('[T11] is read in one pass, however many fields it has', async () => {
    const test = new OutsideCase({}, {}, { link: 'accept', schema: Count as never });
    const turn = await test.start('payment');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const fields = Array.from({ length: 2_000 }, (_, index) => `f${index}=`);
    // A search for the values of each name would take quadratic time.
    const search = vi.spyOn(URLSearchParams.prototype, 'getAll');
    onTestFinished(() => search.mockRestore());
    expect((await test.event(fields.join('&'), { headers })).status).toBe(202);
    expect(search).not.toHaveBeenCalled();
    const { result } = completed(await test.test.host.resume(turn.token, [], { caller }));
    expect(JSON.stringify(result)).toContain('paid 2000');
  });
});
