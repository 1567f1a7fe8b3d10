import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { findChromium, missingChromium } from '../support/find-chromium.ts';
import { runAxe } from '../site/visit-page.ts';
import { describeWith } from '../support/describe-with.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { missingRedis } from '../support/redis-server.ts';
import { startPostgresBackend, startRedisBackend, type Backend } from './backends.ts';
import { longestWait } from '../support/patience.ts';
import { connectCaller, type Caller } from './caller.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { startPeople, type People, type Person } from './people.ts';

const executablePath = findChromium();
// The pages do not depend on the backend: each one shows them in other windows.
const backends = [
  {
    name: 'Redis and BullMQ',
    missing: missingRedis() ?? missingChromium(),
    startBackend: startRedisBackend,
    windows: [
      ['light', 1280],
      ['dark', 390],
    ],
  },
  {
    name: 'PostgreSQL and pg-boss',
    missing: missingPostgres() ?? missingChromium(),
    startBackend: startPostgresBackend,
    windows: [
      ['dark', 1280],
      ['light', 390],
    ],
  },
] as const;

// Starting the browser takes longer than some tests.
let people: People;
beforeAll(async () => {
  if (executablePath !== undefined) people = await startPeople(executablePath);
});
afterAll(() => people?.close());

/** Waits for a condition, however slow the machine is. */
const eventually = { timeout: longestWait, interval: 50 } as const;

for (const { name, missing, startBackend, windows } of backends)
  describeWith(`approvals in a browser, on three server processes, with ${name}`, missing, () =>
    testApprovals(startBackend, windows),
  );

function testApprovals(
  startBackend: () => Promise<Backend>,
  windows: readonly (readonly ['light' | 'dark', width: number])[],
): void {
  let fleet: Fleet;
  let ann: Person;
  let bob: Person;

  beforeAll(async () => {
    fleet = await startFleet(startBackend);
    ann = await people.signIn('ann', fleet.url);
    bob = await people.signIn('bob', fleet.url, { javaScriptEnabled: false });
  });
  afterAll(() => fleet?.close());

  async function callerOf(): Promise<Caller> {
    const caller = await connectCaller('carl', fleet.url);
    onTestFinished(() => caller.close());
    return caller;
  }

  async function linkTo(order: string, to: string): Promise<string> {
    await expect.poll(() => fleet.ledger.linkOf(order, to), eventually).toBeDefined();
    return fleet.ledger.linkOf(order, to) ?? '';
  }

  const effectsOf = (order: string): readonly string[] =>
    fleet.ledger.of(order, 'hold', 'release', 'refund').map(({ kind }) => kind);

  const attemptsOf = (order: string): readonly string[] =>
    fleet.ledger.attempts(order, 'hold', 'release', 'refund').map(({ kind }) => kind);

  /** The saga ended once, and left no message behind. */
  async function expectEnded(order: string): Promise<void> {
    await expect.poll(() => fleet.countMessages(), eventually).toBe(0);
    await expect.poll(() => fleet.ledger.countEnds(order), eventually).toBeGreaterThan(0);
    expect(fleet.ledger.countEnds(order)).toBe(1);
  }

  it('refuses the caller, and accepts the approval of another user', async () => {
    const caller = await callerOf();
    const refunded = caller.refund({ order: 'A1', managers: ['ann'], approvals: 1 });
    const url = await linkTo('A1', 'ann');
    const carl = await people.signIn('carl', fleet.url);
    expect(await carl.open(url)).toBe('You may not answer');
    expect(await carl.countButtons()).toBe(0);
    const forged = await carl.page.request.post(url, {
      form: { decision: 'approve' },
      headers: { origin: fleet.url },
    });
    expect(forged.status()).toBe(403);
    expect(attemptsOf('A1')).toEqual(['hold']);
    expect(await ann.open(url)).toBe('Your decision is needed');
    await ann.page.getByLabel('Comment (optional)').fill('Broken on arrival');
    expect(await ann.press('Approve')).toBe('You approved');
    expect(await refunded).toBe('ann');
    expect(attemptsOf('A1')).toEqual(['hold', 'refund']);
    await expectEnded('A1');
    expect([...carl.errors, ...ann.errors]).toEqual([]);
  });

  it('is approved by two of three people, and counts each person once', async () => {
    const caller = await callerOf();
    const managers = ['ann', 'bob', 'eve'];
    const refunded = caller.refund({ order: 'B2', managers, approvals: 2 });
    const urls = await Promise.all(managers.map((name) => linkTo('B2', name)));
    expect(new Set(urls).size).toBe(3);
    expect(await ann.open(urls[0])).toBe('Your decision is needed');
    expect(await ann.press('Approve')).toBe('You approved');
    // The link of another person gives no second voice.
    expect(await ann.open(urls[2])).toBe('You approved');
    expect(await ann.countButtons()).toBe(0);
    expect(await bob.open(urls[1])).toBe('Your decision is needed');
    expect(attemptsOf('B2')).toEqual(['hold']);
    expect(await bob.press('Approve')).toBe('You approved');
    expect(await refunded).toBe('ann and bob');
    const eve = await people.signIn('eve', fleet.url);
    expect(await eve.open(urls[2])).toBe('Closed');
    expect(attemptsOf('B2')).toEqual(['hold', 'refund']);
    await expectEnded('B2');
  });

  it('ends and undoes the saga after a denial', async () => {
    const caller = await callerOf();
    const refunded = caller.refund({ order: 'C3', managers: ['ann', 'bob'], approvals: 2 });
    const [first, second] = await Promise.all([linkTo('C3', 'ann'), linkTo('C3', 'bob')]);
    await ann.open(first);
    expect(await ann.press('Approve')).toBe('You approved');
    await bob.open(second);
    expect(await bob.press('Deny')).toBe('You denied');
    await refunded;
    expect(attemptsOf('C3')).toEqual(['hold', 'release']);
    await expectEnded('C3');
  });

  it.each(['refund', 'refund-by-machine'] as const)(
    'reminds and escalates %s without the client, after all processes were killed',
    async (tool) => {
      const caller = await callerOf();
      const order = `D4-${tool}`;
      await caller.startAndLeave(tool, {
        order,
        managers: ['ann', 'bob'],
        approvals: 1,
        isUrgent: true,
      });
      await Promise.all([linkTo(order, 'ann'), linkTo(order, 'bob')]);
      const reminders = (): number => fleet.ledger.of(order, 'reminder').length;
      // After each turn, the queue gives the client 30 s to return.
      const later = async <T>(read: () => T): Promise<T> => {
        await fleet.passWaits();
        return read();
      };
      await expect.poll(() => later(reminders), eventually).toBeGreaterThan(0);
      await fleet.kill();
      const before = reminders();
      await fleet.start();
      await expect.poll(() => later(reminders), eventually).toBeGreaterThan(before);
      await expect
        .poll(() => later(() => fleet.ledger.linkOf(order, 'dora')), eventually)
        .toBeDefined();
      const url = await linkTo(order, 'dora');
      expect(await ann.open(url)).toBe('You may not answer');
      const dora = await people.signIn('dora', fleet.url);
      await dora.open(url);
      expect(await dora.press('Approve')).toBe('You approved');
      await expect.poll(() => effectsOf(order), eventually).toEqual(['hold', 'refund']);
      // The links of one question travel side by side, so that their order says nothing.
      const recipients = fleet.ledger.of(order, 'link').map(({ to }) => to);
      expect(recipients).toHaveLength(3);
      expect(new Set(recipients)).toEqual(new Set(['ann', 'bob', 'dora']));
      await expectEnded(order);
      expect(await ann.open(await linkTo(order, 'ann'))).toBe('Closed');
    },
  );

  it.each(windows)(
    'shows accessible pages in %s colors, %i px wide',
    async (colorScheme, width) => {
      const caller = await callerOf();
      const order = `E5-${colorScheme}-${width}`;
      const refunded = caller.refund({ order, managers: ['eve'], approvals: 1 });
      const url = await linkTo(order, 'eve');
      const eve = await people.signIn('eve', fleet.url, {
        colorScheme,
        viewport: { width, height: 844 },
      });
      const check = async (title: string): Promise<void> => {
        expect(await eve.page.title()).toBe(title);
        expect(await runAxe(eve.page, colorScheme, {})).toEqual([]);
        const heights = await eve.page
          .locator('button:visible, input:visible, textarea:visible')
          .evaluateAll((targets) => targets.map((target) => target.getBoundingClientRect().height));
        expect(heights.filter((height) => height < 44)).toEqual([]);
        const [scroll, client] = await eve.page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          return [scrollWidth, clientWidth] as const;
        });
        expect(scroll).toBeLessThanOrEqual(client);
      };
      await eve.open(url);
      await check('Your decision is needed');
      await eve.press('Deny');
      await check('You denied');
      await refunded;
      await eve.open(`${url}x`);
      await check('Invalid link');
      expect(eve.errors).toEqual([]);
    },
  );
}
