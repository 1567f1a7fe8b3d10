import { describe, expect, it } from 'vitest';
import { caller, day, OutsideCase, user } from './case.ts';

const ann = user('ann@shop.example');
const comment = { decision: 'approve', f0: 'broken in transit' };

/** Text of a page, without tags and repeated spaces. */
async function textOf(response: Response | Promise<Response>): Promise<string> {
  const html = await (await response).text();
  const body = html.slice(html.indexOf('<main>'));
  return body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

async function started(options: ConstructorParameters<typeof OutsideCase>[0] = {}) {
  const test = new OutsideCase(options);
  return { test, turn: await test.start() };
}

describe('the answer page of a signed-in person', () => {
  it('names the service, the request, who started it, the person, and the deadline', async () => {
    const { test } = await started();
    const deadline = new Date(test.clock.now + day).toISOString().slice(0, 16).replace('T', ' ');
    const review = { review: 'approve', f0: 'broken' };
    for (const page of [test.get(ann), test.post(ann, review)])
      expect(await textOf(page)).toMatch(
        new RegExp(
          `Service deployer Request refund Started by caller You are ann@shop\\.example Answer until ${deadline} UTC`,
        ),
      );
  });

  it('says that nobody has signed in to start the request of an anonymous caller', async () => {
    const { test } = await started();
    test.sent.length = 0;
    await test.test.host.start('refund', {}, { caller: 'anonymous' });
    expect(await textOf(test.get(ann))).toContain('Started by somebody who is not signed in');
  });

  it('repeats all values in the receipt, at once and later, to the person who gave them', async () => {
    const { test } = await started();
    const pages = [
      () => test.post(ann, comment),
      () => test.get(ann),
      () => test.post(ann, comment),
    ];
    for (const page of pages)
      expect(await textOf(page())).toMatch(/You approved .*comment broken in transit .*ann@shop/);
  });

  it('repeats the values of no other person in a receipt', async () => {
    const { test } = await started();
    expect((await test.post(user('ann', 'https://one.example'), comment)).status).toBe(200);
    const page = await textOf(test.get(user('ann')));
    expect(page).toContain('An answer was recorded on');
    expect(page).not.toMatch(/You approved|Your answer|broken in transit/);
  });

  it('says to a person who may not answer what to do', async () => {
    const { test } = await started();
    const response = await test.get(caller);
    expect(response.status).toBe(403);
    const text = await textOf(response);
    expect(text).toContain('You are signed in as caller');
    expect(text).toContain('open this link again');
    const unsigned = await test.get();
    expect(unsigned.status).toBe(401);
    expect(await textOf(unsigned)).toContain('Sign in to deployer, and open this link again');
  });

  it.each<
    [string, (test: OutsideCase, turn: Awaited<ReturnType<OutsideCase['start']>>) => unknown]
  >([
    ['whose time is over', (test) => (test.clock.now += 2 * day)],
    [
      'that is decided',
      async (test, turn) => {
        await test.post(user('eve'), comment);
        await test.resume(turn);
      },
    ],
    ['that is withdrawn', (test, turn) => test.test.host.cancel(turn.token, { caller })],
  ])('accuses only those who have just sent an answer to a request %s', async (_, end) => {
    const { test, turn } = await started();
    await end(test, turn);
    const opened = await test.get(ann);
    expect(opened.status).toBe(410);
    expect(await textOf(opened)).not.toContain('answer was');
    const posted = await test.post(ann, comment);
    expect([409, 410]).toContain(posted.status);
    expect(await textOf(posted)).toContain('Your answer was not recorded.');
  });
});

describe('the answer page of a person who only has the link', () => {
  it('names neither who started the request nor a person', async () => {
    const { test } = await started({ link: 'accept' });
    const text = await textOf(test.get());
    expect(text).toContain('You are not signed in');
    expect(text).not.toContain('caller');
    expect(text).not.toContain('Started by');
  });
});

describe('a link to an answer page', () => {
  it('has one length, whatever the name of the user who started the saga', async () => {
    const lengths = new Set<number>();
    for (const subject of ['a', 'é'.repeat(31), 'é'.repeat(33), 'x'.repeat(200), '金'.repeat(30)]) {
      const { test } = await started();
      test.sent.length = 0;
      await test.test.host.start(
        'refund',
        {},
        { caller: { principal: { subject, client: 'mcp' } } },
      );
      lengths.add(test.url().length);
      const shown = /Started by (.*) You are/.exec(await textOf(test.get(ann)))?.[1] ?? '';
      expect([shown !== '', subject.startsWith(shown)]).toEqual([true, true]);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(64);
    }
    expect(lengths.size).toBe(1);
  });
});
