import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toFragment } from '../../packages/studio/src/parts/link.ts';
import { describeWith } from '../support/describe-with.ts';
import {
  endTimeOfCode,
  executablePath,
  holdTimeLimits,
  openBrowser,
  tabsOf,
  type OpenedBrowser,
  type Tabs,
} from './browser.ts';
import { studioApp } from './build-site.ts';
import { serveSite } from './serve-site.ts';
import { findOverflow, runAxe } from './visit-page.ts';

/** As pasted from other docs: without an export, and with types. */
const door = `import { createMachine, assign } from 'xstate';
const door = createMachine({
  id: 'door', initial: 'shut', context: { by: '' as string },
  states: {
    shut: { on: { OPEN: { target: 'open', actions: assign({ by: ({ event }) => event.by ?? 'nobody' }) } } },
    open: { on: { SHUT: 'shut' }, after: { 60_000: 'shut' } },
  },
});`;

/** Machine with three events in each state, whose drawing is larger than a window. */
const circle = (count: number): string => {
  const states = Array.from({ length: count }, (_, at) => {
    const to = (by: number): string => `'step${(at + by) % count}'`;
    return `step${at}: { on: { NEXT: ${to(1)}, SKIP: ${to(3)}, CANCEL: 'step0' } },`;
  });
  return `import { createMachine } from 'xstate';
createMachine({ id: 'circle', initial: 'step0', states: { ${states.join('')} } });`;
};

describeWith(
  'the statechart page',
  executablePath === undefined ? 'no Chromium on PATH' : undefined,
  () => {
    let site: Awaited<ReturnType<typeof serveSite>>;
    let opened: OpenedBrowser;
    let browser: BrowserContext;
    let tabs: Tabs;
    /** Console errors and thrown errors of all pages. */
    const errors: string[] = [];

    beforeAll(async () => {
      site = await serveSite(studioApp);
      opened = await openBrowser();
      browser = await opened.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
      await holdTimeLimits(browser);
      tabs = tabsOf(browser);
    });
    afterAll(async () => {
      await opened?.close();
      await site?.close();
    });

    async function openLink(fragment: string): Promise<Page> {
      const page = await tabs.open();
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      await page.goto(`${site.origin}/machine.html${fragment}`, { waitUntil: 'load' });
      await page.locator('.cm-content').waitFor();
      return page;
    }

    async function open(): Promise<Page> {
      const page = await openLink('');
      await isLit(page, 'checkout.cart');
      return page;
    }

    const isLit = (page: Page, id: string): Promise<void> =>
      page.locator(`[data-state="${id}"].active`).waitFor();

    /** Replaces the code, as a person who pastes. */
    async function paste(page: Page, code: string): Promise<void> {
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(code);
    }

    it('draws pasted code, sends events by a click, and moves the clock, without a request', async () => {
      const page = await open();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await paste(page, door);
      await isLit(page, 'door.shut');
      await page.getByLabel('Data as JSON').fill('{ "by": "Ada" }');
      await page.getByRole('button', { name: 'OPEN', exact: true }).click();
      await isLit(page, 'door.open');
      await page.locator('.panel pre').filter({ hasText: '"Ada"' }).waitFor();
      await page.getByLabel('Seconds').fill('59');
      await page.getByRole('button', { name: 'Advance' }).click();
      await page.locator('.past').getByText('clock +59 s').waitFor();
      await isLit(page, 'door.open');
      await page.getByRole('button', { name: 'Skip to after 1 min in door.open (in 1 s)' }).click();
      await isLit(page, 'door.shut');
      await page.locator('.canvas').getByRole('button', { name: 'Send OPEN' }).click();
      await isLit(page, 'door.open');
      // The step before the second OPEN.
      await page.locator('.past').getByRole('button').nth(3).click();
      await isLit(page, 'door.shut');
      expect(await page.locator('.past li').count()).toBe(4);
      await tabs.leave(page);
      expect(requests.filter((url) => !url.startsWith('blob:'))).toEqual([]);
    });

    it('takes a step once that is clicked twice, and sends an event twice', async () => {
      const page = await open();
      const whats = (): Promise<string[]> => page.locator('.past b').allTextContents();
      await page.getByRole('button', { name: 'ADD', exact: true }).dblclick();
      await page.locator('.panel pre').filter({ hasText: '2' }).waitFor();
      await page.getByRole('button', { name: 'CHECKOUT', exact: true }).click();
      await isLit(page, 'checkout.paying');
      // Both clicks come before the first result.
      const clickTwice = (name: string): Promise<void> =>
        page.getByRole('button', { name }).evaluate((button) => {
          (button as HTMLElement).click();
          (button as HTMLElement).click();
        });
      await clickTwice('Resolve charge');
      await isLit(page, 'checkout.preparing.invoice.writing');
      await clickTwice('Skip to after 5 s');
      await isLit(page, 'checkout.preparing.invoice.written');
      expect(await whats()).toEqual([
        'start',
        'ADD',
        'ADD',
        'CHECKOUT',
        'resolve charge',
        'clock +5 s',
      ]);
      await clickTwice('Advance');
      await page.getByText('Clock 7 s').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      await tabs.leave(page);
    });

    it('sends the data with events of the drawing, too, and refuses data that is no object', async () => {
      const page = await open();
      await paste(page, door);
      await isLit(page, 'door.shut');
      const drawn = page.locator('.canvas').getByRole('button', { name: 'Send OPEN' });
      for (const data of ['5', '"abc"', '[1]', 'null']) {
        await page.getByLabel('Data as JSON').fill(data);
        await drawn.click();
        await page.getByRole('alert').filter({ hasText: 'The data must be an object.' }).waitFor();
        await page.getByLabel('Data as JSON').fill('{');
        await page.getByRole('button', { name: 'OPEN', exact: true }).click();
        await page.getByRole('alert').filter({ hasText: 'The data is not valid JSON.' }).waitFor();
      }
      expect(await page.locator('.past li').count()).toBe(1);
      await page.getByLabel('Data as JSON').fill(' { "by": "Ada" }');
      await drawn.click();
      await page.locator('.panel pre').filter({ hasText: '"Ada"' }).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      await tabs.leave(page);
    });

    it('keeps the steps that still fit the code, and starts another machine again', async () => {
      const asking = (actor: string): string => `import { createMachine } from 'xstate';
createMachine({ id: 'login', initial: 'shown', states: {
  shown: { on: { ENTER: 'asking' } }, asking: { ${actor} }, entered: {} } });`;
      const page = await open();
      await paste(page, asking("invoke: { id: 'ask', src: 'authenticate', onDone: 'entered' }"));
      await isLit(page, 'login.shown');
      await page.getByRole('button', { name: 'ENTER', exact: true }).click();
      await page.getByRole('button', { name: 'Resolve ask' }).click();
      await isLit(page, 'login.entered');
      await paste(page, asking("after: { 1_000: 'entered' }"));
      await isLit(page, 'login.asking');
      const problem = 'The history stops: step 2 no longer fits. No such actor waits.';
      await page.getByRole('alert').filter({ hasText: problem }).waitFor();
      expect(await page.locator('.past b').allTextContents()).toEqual(['start', 'ENTER']);
      await page.getByRole('button', { name: 'Skip to after 1 s' }).click();
      await isLit(page, 'login.entered');
      expect(await page.getByRole('alert').count()).toBe(0);
      await paste(page, door);
      await isLit(page, 'door.shut');
      expect(await page.locator('.past li').count()).toBe(1);
      await tabs.leave(page);
    });

    it('opens a link with steps that do not fit', async () => {
      const steps = [
        { type: 'send', to: '0', event: { type: 'OPEN' } },
        { type: 'reject', actor: '3' },
      ];
      const page = await openLink(await toFragment({ code: door, input: '', steps }));
      await page.getByRole('button', { name: 'Run this code' }).click();
      await isLit(page, 'door.open');
      await page
        .getByRole('alert')
        .filter({ hasText: 'The history stops: step 2 no longer fits' })
        .waitFor();
      await tabs.leave(page);
    });

    it('names the operators of composed guards', async () => {
      const page = await open();
      await paste(
        page,
        `import { and, createMachine, not, or } from 'xstate';
createMachine({ id: 'm', initial: 'a', states: { b: {}, a: { on: { GO: [
  { target: 'b', guard: and(['isValid', or(['isAdmin', not('isGuest')])]) } ] } } } },
  { guards: { isValid: () => true, isAdmin: () => true, isGuest: () => true } });`,
      );
      await isLit(page, 'm.a');
      const label = 'Send GO [isValid and (isAdmin or not isGuest)]';
      expect(await page.getByRole('button', { name: label, exact: true }).count()).toBe(1);
      await tabs.leave(page);
    });

    it.each([
      [14, { width: 1440, height: 900 }],
      [30, { width: 390, height: 844 }],
    ])(
      'draws %i states readably, and scrolls only the drawing, to the active state',
      async (count, size) => {
        const page = await open();
        await page.setViewportSize(size);
        await paste(page, circle(count));
        await isLit(page, 'circle.step0');
        await page.getByRole('button', { name: 'CANCEL', exact: true }).scrollIntoViewIfNeeded();
        const before = await page.evaluate(() => scrollY);
        for (const at of [3, 6, 9]) {
          await page.getByRole('button', { name: 'SKIP', exact: true }).click();
          await isLit(page, `circle.step${at}`);
          const seen = await page.locator('svg.statechart').evaluate((svg) => {
            const state =
              svg.querySelector('.state.active:not(.group)')?.getBoundingClientRect() ??
              new DOMRect();
            const canvas = svg.parentElement?.getBoundingClientRect() ?? new DOMRect();
            const isInside =
              state.left >= canvas.left &&
              state.right <= canvas.right &&
              state.top >= canvas.top &&
              state.bottom <= canvas.bottom;
            return {
              scale: svg.getBoundingClientRect().width / Number(svg.getAttribute('width')),
              isInside,
            };
          });
          expect(seen).toEqual({ scale: expect.closeTo(1, 2), isInside: true });
        }
        expect(await page.evaluate(() => scrollY)).toBe(before);
        expect(await findOverflow(page, `${size.width}`)).toEqual([]);
        await tabs.leave(page);
      },
    );

    it('takes dropped steps again when the code fits them again', async () => {
      const code = `import { createMachine, fromPromise } from 'xstate';
export const pay = createMachine({ id: 'pay', initial: 'open', states: {
  open: { on: { GO: 'charging' } },
  charging: { invoke: { id: 'charge', src: fromPromise(async () => 1), onDone: 'paid' } },
  paid: {},
} });`;
      const page = await open();
      await paste(page, code);
      await page.locator('.canvas').getByRole('button', { name: 'Send GO' }).click();
      await page.getByRole('button', { name: 'Resolve charge' }).click();
      await isLit(page, 'pay.paid');
      await paste(page, code.replace('GO', 'START'));
      await page.getByRole('alert').filter({ hasText: 'The history stops' }).waitFor();
      await isLit(page, 'pay.open');
      await paste(page, code);
      await isLit(page, 'pay.paid');
      await tabs.leave(page);
    });

    it('moves the focus to the chart after an event that the new state does not have', async () => {
      const page = await open();
      await paste(page, door);
      await isLit(page, 'door.shut');
      await page.locator('.canvas').getByRole('button', { name: 'Send OPEN' }).press('Enter');
      await isLit(page, 'door.open');
      await page.locator('.canvas:focus').waitFor();
      await tabs.leave(page);
    });

    it('resolves and rejects invoked actors by hand, up to the final state', async () => {
      const page = await open();
      const press = (name: string): Promise<void> =>
        page.getByRole('button', { name, exact: true }).click();
      await press('ADD');
      await page.locator('.panel pre').filter({ hasText: '1' }).waitFor();
      await press('CHECKOUT');
      await isLit(page, 'checkout.paying');
      await press('Reject charge');
      await isLit(page, 'checkout.cart');
      await press('CHECKOUT');
      await press('Resolve charge');
      await isLit(page, 'checkout.preparing');
      await page
        .locator('.canvas')
        .getByRole('button', { name: 'Skip the clock: after 5 s' })
        .click();
      await isLit(page, 'checkout.preparing.invoice.written');
      await press('PACKED');
      await page.getByRole('status').filter({ hasText: 'done' }).waitFor();
      await isLit(page, 'checkout.delivered');
      await tabs.leave(page);
    });

    it('shows child machines in tabs while they run, and sends events to the shown one', async () => {
      const page = await open();
      await page.getByLabel('Example').selectOption('Order with child machines');
      await isLit(page, 'order.open');
      const press = (name: string): Promise<void> =>
        page.getByRole('button', { name, exact: true }).click();
      await press('PAY');
      await press('payment');
      await isLit(page, 'payment.entering');
      await page.locator('.canvas').getByRole('button', { name: 'Send ENTER' }).click();
      await isLit(page, 'payment.checking');
      await press('bank');
      expect(await runAxe(page, 'light', {})).toEqual([]);
      await page
        .locator('.canvas')
        .getByRole('button', { name: 'Skip the clock: after 3 s' })
        .click();
      await isLit(page, 'order.paid');
      expect(await page.locator('.canvas .tabs').count()).toBe(0);
      await tabs.leave(page);
    });

    it('names mistakes, keeps the drawing, and stops endless code', async () => {
      const page = await open();
      await paste(page, 'const broken = {');
      await page.getByRole('alert').waitFor();
      await paste(page, 'export const none = 1;');
      await page.getByRole('alert').filter({ hasText: 'makes no machine' }).waitFor();
      expect(await page.locator('.statechart').count()).toBe(1);
      await paste(page, "import { Machine } from 'xstate'; Machine({});");
      const missing =
        "The page has no export 'Machine' of 'xstate'. Check the import in machine.ts.";
      await page.getByRole('alert').filter({ hasText: missing }).waitFor();
      await paste(page, 'for (;;);');
      await endTimeOfCode(page, page.getByRole('alert').filter({ hasText: 'was stopped' }));
      await paste(page, door);
      await isLit(page, 'door.shut');
      expect(await page.getByRole('alert').count()).toBe(0);
      await tabs.leave(page);
    });

    it('shares the code by a link, with or without the run, and runs the code of a link after consent', async () => {
      const page = await open();
      await paste(page, door);
      await isLit(page, 'door.shut');
      await page.getByLabel('Data as JSON').fill('{ "by": "Ada" }');
      await page.getByRole('button', { name: 'OPEN', exact: true }).click();
      await isLit(page, 'door.open');
      const openShared = async (button: string): Promise<Page> => {
        await page.getByText('Share').click();
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.getByText('Copied').first().waitFor();
        await page.getByText('Share').click();
        const link = await page.evaluate(() => navigator.clipboard.readText());
        const shared = await openLink(new URL(link).hash);
        expect(await shared.locator('.statechart').count()).toBe(0);
        expect(await shared.locator('.cm-content').textContent()).toContain("id: 'door'");
        expect(await runAxe(shared, 'light', {})).toEqual([]);
        await shared.locator('.cm-content').focus();
        await shared.keyboard.type(' ');
        await shared.waitForTimeout(600);
        expect(await shared.locator('.statechart').count()).toBe(0);
        await shared.getByRole('button', { name: 'Run this code' }).click();
        return shared;
      };
      const whole = await openShared('Copy link with input, events, and results');
      await isLit(whole, 'door.open');
      await whole.locator('.panel pre').filter({ hasText: '"Ada"' }).waitFor();
      expect(await whole.getByRole('button', { name: 'Run this code' }).count()).toBe(0);
      await tabs.leave(whole);
      const bare = await openShared('Copy link');
      await isLit(bare, 'door.shut');
      expect(await bare.locator('.panel').textContent()).not.toContain('Ada');
      await tabs.leave(bare);
      await tabs.leave(page);
    });

    it('waits for consent to a link that comes while the compiler loads', async () => {
      const page = await browser.newPage();
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      await page.route('**/compile-*.js', async (route) => {
        await page.evaluate(
          (link) => (location.hash = link),
          await toFragment({ code: `console.info('ran');${door}`, input: '', steps: [] }),
        );
        await page.getByRole('button', { name: 'Run this code' }).waitFor();
        await route.continue();
      });
      await page.goto(`${site.origin}/machine.html`);
      await page.locator('.cm-content').waitFor();
      await page.waitForTimeout(600);
      expect(said).not.toContain('ran');
      expect(await page.locator('.statechart').count()).toBe(0);
      await page.getByRole('button', { name: 'Run this code' }).click();
      await isLit(page, 'door.shut');
      expect(said).toContain('ran');
      await page.close();
    });

    it('opens the first example with a damaged link', async () => {
      const page = await openLink('#run=AAAA');
      await isLit(page, 'checkout.cart');
      await page.getByText('The link is damaged.').waitFor();
      await tabs.leave(page);
    });

    it('works with the keyboard alone', async () => {
      const page = await open();
      const tabTo = async (target: Locator): Promise<void> => {
        for (let presses = 0; presses < 60; presses += 1) {
          if (await target.evaluate((element) => element === document.activeElement)) return;
          await page.keyboard.press('Tab');
        }
        throw new Error(`${target.toString()} is not reached with Tab.`);
      };
      await paste(page, door);
      await isLit(page, 'door.shut');
      await tabTo(page.locator('.canvas').getByRole('button', { name: 'Send OPEN' }));
      await page.keyboard.press('Enter');
      await isLit(page, 'door.open');
      await tabTo(
        page.locator('.canvas').getByRole('button', { name: 'Skip the clock: after 1 min' }),
      );
      await page.keyboard.press('Space');
      await isLit(page, 'door.shut');
      await tabs.leave(page);
    });

    it.each(['light', 'dark'] as const)(
      'has no violation that axe reports, and fits a desktop and a phone, in %s colors',
      async (colorScheme) => {
        const page = await open();
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.getByRole('button', { name: 'ADD', exact: true }).click();
        await page.locator('.panel pre').filter({ hasText: '1' }).waitFor();
        await page.getByRole('button', { name: 'CHECKOUT', exact: true }).click();
        await isLit(page, 'checkout.paying');
        const found: string[] = [];
        for (const viewport of [
          { width: 1440, height: 900 },
          { width: 390, height: 844 },
        ]) {
          await page.setViewportSize(viewport);
          found.push(
            ...(await runAxe(page, colorScheme, {})),
            ...(await findOverflow(page, `${viewport.width}`)),
          );
        }
        expect(found).toEqual([]);
        await tabs.leave(page);
      },
    );

    it('is smaller than 200 kB, compressed, without the editor and the compiler that comes with it', async () => {
      const files = (await readdir(join(studioApp, 'assets'))).filter(
        (name) => !/^(?:code-editor|compile|index|worker)-/.test(name),
      );
      const sizes = await Promise.all(
        files.map(async (name) => gzipSync(await readFile(join(studioApp, 'assets', name))).length),
      );
      expect(sizes.length).toBeGreaterThanOrEqual(4);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
    });

    it('shows no error in the console', () => {
      expect(errors).toEqual([]);
    });
  },
);
