import { approval, memoryStore, saga, type SagaStore } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { completed, hostOf, suspended } from '../fixtures/host.ts';
import { testClock } from '../fixtures/clock.ts';
import { base, caller, day, OutsideCase, textOf, user } from './case.ts';

const ann = user('ann');

/** An honest store of links and answers with a changed method. */
function changed(change: (honest: SagaStore) => Partial<SagaStore>): SagaStore {
  const honest = memoryStore({ clock: () => 0 });
  return { ...honest, ...change(honest) };
}

describe('the answer page', () => {
  it('does not deny a record if only the reply of the store was dropped', async () => {
    let isLost = true;
    const store = changed((honest) => ({
      append: async (...parts) => {
        const result = await honest.append(...parts);
        if (isLost) throw new Error('no reply');
        return result;
      },
    }));
    const test = new OutsideCase({}, { store });
    const turn = await test.start();
    const page = await test.post(ann);
    expect([page.status, await page.text()]).toEqual([
      503,
      expect.not.stringContaining('not recorded'),
    ]);
    isLost = false;
    expect(await (await test.get(ann)).text()).toContain('You approved');
    expect((await test.decision(turn)).approved).toBe(true);
  });

  it('does not deny a record if another process recorded an answer that this process cannot read', async () => {
    const store = changed(() => ({ list: () => ({ values: [], isClosed: false }) }));
    const test = new OutsideCase({}, { store });
    await test.start();
    await test.post(ann);
    const page = await test.post(ann);
    expect([page.status, await page.text()]).toEqual([
      503,
      expect.not.stringContaining('was recorded'),
    ]);
  });

  it.each([
    ['by the link of a user', ann, undefined],
    ['as a user, by the link of another person', undefined, ann],
  ])('does not confirm an answer %s, which would not count', async (_, first, second) => {
    const test = new OutsideCase({ link: 'accept', of: 2, to: ['ann', 'bob'] });
    const turn = await test.start();
    expect((await test.post(first)).status).toBe(200);
    for (const method of ['GET', 'HEAD'])
      expect((await test.get(second, test.url(), method)).status).toBe(410);
    expect((await test.post(second)).status).toBe(409);
    suspended(await test.resume(turn));
  });

  it('shows an answer by link as theirs only in response to it, because a link can be passed on', async () => {
    const test = new OutsideCase({ link: 'accept' });
    await test.start();
    const answer = { decision: 'approve', f0: 'a private reason' };
    const recorded = await test.post(undefined, answer);
    expect([recorded.status, await recorded.text()]).toEqual([
      200,
      expect.stringContaining('a private reason'),
    ]);
    for (const later of [await test.get(), await test.post(undefined, answer)]) {
      const text = await later.text();
      expect(text).toContain('An answer was recorded on');
      expect(text).not.toMatch(/You approved|Your answer|a private reason/);
    }
  });

  it('shows the values of an answer again to the user who gave it', async () => {
    const test = new OutsideCase({ link: 'accept' });
    await test.start();
    const answer = { decision: 'approve', f0: 'a private reason' };
    for (const page of [await test.post(ann, answer), await test.get(ann)])
      expect(await page.text()).toContain('a private reason');
  });

  it('sends another link if the schema rejects an answer that the form accepts', async () => {
    const schema = z.object({ comment: z.string().regex(/^because /) });
    const test = new OutsideCase({ schema: schema as never });
    const turn = await test.start();
    expect((await test.post(ann, { decision: 'approve', f0: 'why not' })).status).toBe(200);
    const next = suspended(await test.resume(turn));
    const answer = { decision: 'approve', f0: 'because I can' };
    expect((await test.post(ann, answer, { url: test.url(1) })).status).toBe(200);
    expect((await test.decision(next)).answers).toMatchObject([
      { content: { comment: 'because I can' } },
    ]);
  });

  it('sends another link if the schema throws, which is reported, and the saga continues', async () => {
    const schema = z.object({
      comment: z.string().transform((comment) => {
        if (comment === 'boom') throw new Error('a mistake in the schema');
        return comment;
      }),
    });
    const test = new OutsideCase({ schema: schema as never });
    const turn = await test.start();
    await test.post(ann, { decision: 'approve', f0: 'boom' });
    const next = suspended(await test.resume(turn));
    expect(test.test.told.errors).toContainEqual(new Error('a mistake in the schema'));
    await test.post(ann, { decision: 'approve', f0: 'fine' }, { url: test.url(1) });
    expect((await test.decision(next)).answers).toMatchObject([{ content: { comment: 'fine' } }]);
  });

  it('says by how much an answer is too long for the token, and keeps it in the form', async () => {
    const test = new OutsideCase({ schema: z.object({ comment: z.string() }) as never });
    const turn = await test.start();
    const comment = (length: number): Promise<Response> =>
      test.post(ann, { decision: 'approve', f0: 'x'.repeat(length) });
    const refused = await comment(20_000);
    const text = await refused.text();
    expect(refused.status).toBe(413);
    expect(text).toContain('x'.repeat(20_000));
    const excess = Number(/about (\d+) characters/.exec(text)?.[1]);
    expect((await comment(20_000 - excess + 1)).status).toBe(413);
    expect((await comment(20_000 - excess)).status).toBe(200);
    expect((await test.decision(turn)).approved).toBe(true);
  });

  it.each([
    ['two bytes', 'ä', 2],
    ['three bytes', '漢', 3],
    ['four bytes', '🙂', 4],
    ['an escape', '"', 2],
  ])(
    'says how many characters of %s must go from an answer that is too long',
    async (_, character, size) => {
      const test = new OutsideCase({ schema: z.object({ comment: z.string() }) as never });
      await test.start();
      const comment = (text: string): Promise<Response> =>
        test.post(ann, { decision: 'approve', f0: text });
      const excessOf = async (refused: Response): Promise<number> => {
        expect(refused.status).toBe(413);
        return Number(/about (\d+) characters/.exec(await refused.text())?.[1]);
      };
      const room = 20_000 - (await excessOf(await comment('x'.repeat(20_000))));
      const length = Math.floor(room / size) + 100;
      const excess = await excessOf(await comment(character.repeat(length)));
      expect(excess).toBe(100);
      expect((await comment(character.repeat(length - excess + 1))).status).toBe(413);
      expect((await comment(character.repeat(length - excess))).status).toBe(200);
    },
  );

  it('says whom to tell if an answer without text is too long', async () => {
    const test = new OutsideCase({ of: 256, schema: z.object({ sure: z.boolean() }) as never });
    await test.start();
    const page = await test.post(user('n'.repeat(2_000)), { decision: 'approve', f0: 'true' });
    expect([page.status, await page.text()]).toEqual([413, expect.stringContaining('Tell')]);
  });

  it('says whom to tell if the token has no room for a long name, which nobody can shorten', async () => {
    const test = new OutsideCase({ of: 256 });
    await test.start();
    const page = await test.post(user('n'.repeat(2_000)));
    expect([page.status, await page.text()]).toEqual([413, expect.stringContaining('Tell')]);
  });

  it('shows the same question again in a loop, and the first answer counts once', async () => {
    const clock = testClock();
    const urls: string[] = [];
    const twice = saga({ name: 'twice', version: '1' }, function* () {
      const reasons: string[] = [];
      for (let round = 0; round < 2; round += 1) {
        const decision = yield* approval('go', {
          message: 'Go?',
          link: 'accept',
          timeout: day,
          deliver: ({ url }) => void urls.push(url),
        });
        reasons.push(decision.approved ? 'approved' : decision.reason);
      }
      return reasons.join();
    });
    const store = memoryStore({ clock });
    const { host } = hostOf(twice, {
      clock,
      store,
      url: base,
      limits: { maxHold: 0 },
    });
    const answer = (url: string | undefined, decision: string): Promise<Response> =>
      host.answer(
        new Request(url ?? '', { method: 'POST', body: new URLSearchParams({ decision }) }),
      );
    const first = suspended(await host.start('twice', {}, { caller }));
    expect((await answer(urls[0], 'approve')).status).toBe(200);
    const second = suspended(await host.resume(first.token, [], { caller }));
    expect((await answer(urls[1], 'deny')).status).toBe(200);
    const { result } = completed(await host.resume(second.token, [], { caller })) as {
      result: unknown;
    };
    expect(textOf(result)).toBe('approved,denied');
  });
});
