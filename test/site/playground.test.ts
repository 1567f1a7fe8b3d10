import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/describe-with.ts';
import { listed } from '../../packages/studio/examples/listed.ts';
import { machineSaga } from '../../packages/studio/test/machine-saga.ts';
import { toFragment } from '../../packages/studio/src/parts/link.ts';
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
import { countEqual } from './count-equal.ts';
import { hands } from './hands.ts';
import { longSaga } from './long-saga.ts';
import { serveSite } from './serve-site.ts';
import { findOverflow, runAxe } from './visit-page.ts';

describeWith(
  'the playground',
  executablePath === undefined ? 'no Chromium on PATH' : undefined,
  () => {
    let site: Awaited<ReturnType<typeof serveSite>>;
    let opened: OpenedBrowser;
    let browser: BrowserContext;
    let tabs: Tabs;
    /** Console errors, failed requests, and thrown errors of all pages. */
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

    afterEach(async () => await browser.setOffline(false));

    /** Opens the playground in a browser without edits of an earlier test. */
    async function open(fragment: string = ''): Promise<Page> {
      const page = await tabs.open();
      const devTools = await browser.newCDPSession(page);
      const drafts = { origin: site.origin, storageTypes: 'local_storage' };
      await devTools.send('Storage.clearDataForOrigin', drafts);
      await devTools.detach();
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      await page.goto(`${site.origin}/index.html${fragment}`, { waitUntil: 'load' });
      await page.locator('.cm-content').waitFor();
      return page;
    }

    /** Switches the network off, and returns the requests from then on. */
    async function goOffline(page: Page): Promise<readonly string[]> {
      const requests: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith('blob:')) requests.push(request.url());
      });
      await browser.setOffline(true);
      return requests;
    }

    const verdict = (page: Page): Locator => page.locator('.verdict');
    const badge = (page: Page): Locator => page.locator('.badge');
    const ends = (page: Page, text: string): Promise<void> =>
      verdict(page).filter({ hasText: text }).waitFor();
    const holds = (page: Page): Promise<void> =>
      badge(page)
        .filter({ hasText: /[1-9]\d* hold/ })
        .waitFor();
    const fails = (page: Page): Promise<void> =>
      badge(page)
        .filter({ hasText: /\d+ of \d+ fail/ })
        .waitFor();

    /** Replaces the open file, as a person who pastes. */
    async function replaceSource(page: Page, change: (text: string) => string): Promise<void> {
      const text = await sourceOf(page);
      expect(change(text)).not.toBe(text);
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.insertText(change(text));
    }

    /** Copies the text of the editor, which draws only the visible lines. */
    async function sourceOf(page: Page): Promise<string> {
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.press('ControlOrMeta+C');
      return await page.evaluate(() => navigator.clipboard.readText());
    }

    const undo = /,? \{\s*compensate: .*?\n {4}\}\);/s;
    const withoutUndo = (text: string): string => text.replace(undo, ');');

    /** What vitest has printed about exported files. */
    const printedOf = new Map<string, string>();

    /**
     * Writes files below a folder of the package, and runs their tests with vitest; files that
     * another test has exported, too, only once.
     */
    async function runExported(files: { readonly [path: string]: string }): Promise<string> {
      const key = JSON.stringify(files);
      const printed = printedOf.get(key) ?? (await runFiles(files));
      printedOf.set(key, printed);
      return printed;
    }

    async function runFiles(files: { readonly [path: string]: string }): Promise<string> {
      const folder = await mkdtemp(join(studioApp, '../exported-'));
      try {
        for (const [path, text] of Object.entries(files)) {
          await mkdir(dirname(join(folder, path)), { recursive: true });
          await writeFile(join(folder, path), text);
        }
        const vitest = fileURLToPath(
          new URL('../../node_modules/vitest/vitest.mjs', import.meta.url),
        );
        const { stdout, stderr } = await promisify(execFile)(
          process.execPath,
          [vitest, 'run', '--root', folder, '--no-isolate', '--maxWorkers=1'],
          { env: { ...process.env, NO_COLOR: '1' } },
        ).catch((error: unknown) => error as Readonly<Record<'stdout' | 'stderr', string>>);
        // The reasons of failures are in the second one.
        return stdout + stderr;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }

    it.each(['mouse', 'keyboard'] as const)(
      'leads from careless code to the failing case, the repair, a fork, and its test, with the %s',
      async (device) => {
        const page = await open();
        const requests = await goOffline(page);
        const { length: before } = errors;
        const hand = hands[device](page);
        const editor = page.locator('.cm-content');
        const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
        const openFile = async (name: string): Promise<void> => {
          if (name === 'refund.ts') await hand.press(button(name));
          else await hand.choose(page.getByLabel('Other files'), name);
          await page.getByRole('textbox', { name: `Source of ${name}` }).waitFor();
        };
        const copySource = async (): Promise<string> => {
          await hand.enter(editor);
          await page.keyboard.press('ControlOrMeta+A');
          await page.keyboard.press('ControlOrMeta+C');
          return await page.evaluate(() => navigator.clipboard.readText());
        };
        const copyTest = async (): Promise<string> => {
          await hand.press(page.locator('summary', { hasText: 'Export' }));
          await hand.press(button('Copy test'));
          await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
          return await page.evaluate(() => navigator.clipboard.readText());
        };
        const fork = async (): Promise<void> => {
          await hand.press(page.locator('summary', { hasText: 'Go back to token 1' }));
          await hand.write(page.getByLabel('euros', { exact: true }).first(), '30');
          await hand.press(button('Send as a fork'));
        };

        await hand.press(button('Accept'));
        await ends(page, 'The run: completed');
        await page.locator('.verdict:focus').waitFor();
        await holds(page);
        const careful = await copySource();
        await openFile('bank.ts');
        const bank = await copySource();
        await openFile('script.ts');
        const others = { 'bank.ts': bank, 'script.ts': await copySource() };
        await openFile('refund.ts');
        const lines = careful.split('\n');

        // Without the two lines, nothing takes back the payment of a refund that fails.
        const compensate = lines.findIndex((text) => text.includes(' compensate: '));
        const undoes = [compensate, compensate + 1];
        expect(lines[compensate + 1]).toContain(' unknown: ');
        for (const line of undoes) {
          await hand.selectLine(editor, line);
          await page.keyboard.press('Delete');
        }
        await fails(page);
        await hand.pressCell(
          page.getByRole('row', { name: /^enter/ }).getByLabel('fails: broken', { exact: true }),
        );
        await ends(page, "When 'enter' fails");
        expect(await verdict(page).textContent()).toContain('compensate');
        expect(await page.locator('.event.failed').last().textContent()).toContain('attempt 3');
        const caseTest = await copyTest();
        const careless = await copySource();

        for (const line of undoes) {
          await hand.selectLine(editor, line);
          await page.keyboard.type(lines[line] ?? '');
        }
        await holds(page);
        // The answer of the person is still there.
        await ends(page, 'The run: completed');
        await fork();
        await ends(page, 'Fork 1 of token 1: refused');
        expect(await page.locator('.event.refused').count()).toBe(1);
        await hand.press(button('Run'));
        await ends(page, 'The run: completed');
        const withReuse = (text: string): string =>
          text.replace("version: '1'", "version: '1', reuse: 'ok'");
        const options = lines.findIndex((text) => text.includes("version: '1'"));
        await hand.selectLine(editor, options);
        await page.keyboard.insertText(withReuse(lines[options] ?? ''));
        await button('Fork 1').waitFor({ state: 'detached' });
        await fork();
        await ends(page, 'Fork 1 of token 1: completed');
        expect(await page.locator('.event.completed').textContent()).toContain('Refunded 30 EUR');
        await hand.press(page.getByLabel('Show the origin of the fork beside it'));
        const results = await page.locator('.beside .event.completed').allTextContents();
        expect(results).toEqual([
          expect.stringContaining('20 EUR'),
          expect.stringContaining('30 EUR'),
        ]);
        const forkTest = await copyTest();
        const fixed = await copySource();
        expect(fixed).toBe(withReuse(careful));
        expect(await runAxe(page, device, {})).toEqual([]);
        await tabs.leave(page);
        expect([requests, errors.slice(before)]).toEqual([[], []]);

        const printed = await runExported({
          ...inFolder('careless', { ...others, 'refund.ts': careless, 'case.test.ts': caseTest }),
          ...inFolder('fixed', {
            ...others,
            'refund.ts': fixed,
            'case.test.ts': caseTest,
            'fork.test.ts': forkTest,
          }),
        });
        expect(printed).toMatch(/❯ careless\/case\.test\.ts/);
        expect(printed).toMatch(/Tests +1 failed \| 2 passed/);
      },
    );

    it.each([
      ['mouse', 1_440],
      ['keyboard', 1_440],
      ['mouse', 390],
      ['keyboard', 390],
    ] as const)(
      'breaks the refund, plays what went wrong, repairs it, and copies a test, with the %s at %d px',
      async (device, width) => {
        const page = await open();
        await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
        const hand = hands[device](page);
        const demo = page.getByRole('region', { name: 'Demo' });
        const button = (name: string): Locator => demo.getByRole('button', { name, exact: true });
        const look = (name: string): Locator => page.locator(`.cm-line.${name}`);
        const fact = 'The bank paid 20 EUR, the books show 0, and nothing undid it.';
        const found: string[] = [];
        const check = async (): Promise<void> => {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
            const rules = colorScheme === 'light' ? {} : { runOnly: ['color-contrast'] };
            found.push(
              ...(await runAxe(page, colorScheme, rules)),
              ...(await findOverflow(page, String(width))),
              ...(await page.evaluate(findSmallTexts)),
            );
          }
        };
        await holds(page);
        const careful = await sourceOf(page);
        await check();

        await hand.press(button('Break it'));
        await look('leaves').first().waitFor();
        const removed = await look('leaves').allTextContents();
        expect(removed.map((line) => line.trim())).toEqual([
          'compensate: ({ stepKey }) => bank.takeBack(stepKey),',
          "unknown: 'compensate',",
        ]);
        await fails(page);
        await demo.getByRole('status').filter({ hasText: fact }).waitFor();
        await button('Fix').waitFor();
        expect(await look('leaves').count()).toBe(0);
        await check();

        await hand.press(button('Play the run'));
        await ends(page, "When 'enter' fails");
        expect(await verdict(page).textContent()).toContain(fact);
        await page.locator('.event.failed').first().waitFor();
        // On a phone, the run comes into view below the demo.
        const [above, below] = await Promise.all([demo.boundingBox(), verdict(page).boundingBox()]);
        expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? Infinity));
        expect(below?.y).toBeLessThan(844);
        await check();
        const careless = await sourceOf(page);
        expect(careless).toBe(careful.replace(`${removed.join('\n')}\n`, ''));

        await hand.press(button('Fix'));
        await look('comes').first().waitFor();
        expect(await look('comes').count()).toBe(2);
        await holds(page);
        await demo.getByRole('status').filter({ hasText: 'All 20 cases' }).waitFor();
        await page
          .locator('.verdict.completed')
          .filter({ hasText: "When 'enter' fails" })
          .waitFor();
        await look('comes').first().waitFor({ state: 'detached' });
        await check();
        await hand.press(button('Copy as test'));
        await demo.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
        const test = await page.evaluate(() => navigator.clipboard.readText());
        expect(await sourceOf(page)).toBe(careful);
        expect(found).toEqual([]);

        const others: { [name: string]: string } = { 'case.test.ts': test };
        for (const name of ['bank.ts', 'script.ts']) {
          await page.getByLabel('Other files').selectOption(name);
          others[name] = await sourceOf(page);
        }
        await tabs.leave(page);
        const printed = await runExported({
          ...inFolder('broken', { ...others, 'refund.ts': careless }),
          ...inFolder('fixed', { ...others, 'refund.ts': careful }),
        });
        expect(printed).toMatch(/❯ broken\/case\.test\.ts/);
        expect(printed).toContain(fact);
        expect(printed).toMatch(/Tests +1 failed \| 1 passed/);
      },
    );

    it('plays the events of a run one after the other, unless the person wants no motion', async () => {
      const page = await open();
      await holds(page);
      await page.getByRole('button', { name: 'Break it' }).click();
      const play = page.getByRole('button', { name: 'Play the run' });
      const slider = page.getByRole('slider', { name: 'Run in time' });
      const places = async (): Promise<readonly string[]> => {
        await page.evaluate(watchPlaces);
        await play.click();
        await ends(page, "When 'enter' fails");
        await page.locator('.event:last-child:not(.later)').last().waitFor();
        await page.locator('.event.later').first().waitFor({ state: 'detached' });
        return await page.evaluate(() => globalThis.places);
      };
      const still = await places();
      expect(new Set(still).size).toBe(1);
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      const moving = await places();
      const count = Number(await slider.getAttribute('max'));
      expect(moving.filter((place) => place === 'Start')).toHaveLength(1);
      expect(moving.slice(moving.indexOf('Start'))).toHaveLength(count + 1);
      expect(moving.at(-1)).toBe(still.at(-1));
      await tabs.leave(page);
    });

    it('is the page in the picture of the README', async () => {
      const page = await open();
      await page.setViewportSize({ width: 1280, height: 720 });
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      await page.getByRole('button', { name: 'Break it' }).click();
      await fails(page);
      await page.getByRole('button', { name: 'Play the run' }).click();
      await ends(page, "When 'enter' fails");
      await page.locator('.lit.bad').waitFor();
      await page.locator('.matrix[aria-busy=false]').waitFor();
      const drawn = await page.screenshot({ animations: 'disabled' });
      const file = new URL('../../docs/public/playground.png', import.meta.url);
      if (process.env['UPDATE_PICTURES'] !== undefined) await writeFile(file, drawn);
      // Other machines have other fonts, so most of the pixels are equal, but not all.
      const pictures = [drawn, await readFile(file)].map((data) => data.toString('base64'));
      expect(await page.evaluate(countEqual, pictures)).toBeGreaterThan(0.7);
      await tabs.leave(page);
    });

    it('runs again from a question with another answer, and asks again after an invalid one', async () => {
      const page = await open();
      await page.getByLabel('euros', { exact: true }).fill('0');
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.locator('.question [role=alert]').waitFor();
      await page.getByLabel('euros', { exact: true }).last().fill('40');
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      await page.getByText('Go back to token 2').click();
      await page.getByText('Change an answer instead').last().click();
      const form = page.getByRole('form').filter({ hasText: 'Run again' }).last();
      await form.getByRole('button', { name: 'Decline' }).click();
      await ends(page, 'failed');
      await tabs.leave(page);
    });

    it('goes back to a token with several questions, and changes any of them', async () => {
      const page = await open('#example=parallel');
      for (const id of ['dates', 'hotel/choice']) {
        const form = page.locator(`.run > form[aria-label="Question ${id}"]`);
        await form.getByRole('button', { name: 'Accept' }).click();
      }
      await ends(page, 'completed');
      await page.getByText('Go back to token 1').click();
      const forms = page.locator('.token form').filter({ hasText: 'Send as a fork' });
      await expect.poll(async () => await forms.count()).toBe(2);
      await forms.last().getByRole('button', { name: 'Decline' }).click();
      await ends(page, 'Fork 1 of token 1');
      await tabs.leave(page);
    });

    it("shows the client's view of a token, and refuses a changed one", async () => {
      const page = await open();
      await page.getByText('Token 1').first().click();
      await page.locator('.raw li').first().waitFor();
      const texts = await page.locator('.raw code').allTextContents();
      const parts = texts.map((part) => Buffer.from(part, 'base64url').toString('latin1'));
      expect(parts).toHaveLength(5);
      expect(parts.join('\n')).not.toMatch(/order|euros/);
      // Each part has its size as text.
      const lens = page.locator('.lens');
      for (const text of ['header 119 bytes', 'ciphertext 288 bytes', 'tag 22 bytes'])
        await lens
          .locator('.raw li')
          .filter({ hasText: new RegExp(`^${text} `) })
          .waitFor();
      await lens.getByText('structure').waitFor();
      // The changed token is sent on request.
      const refusal = page.locator('.lens .failure');
      expect(await refusal.count()).toBe(0);
      await page.getByRole('button', { name: 'Change one character' }).click();
      await refusal.waitFor();
      expect(await refusal.textContent()).toContain('undecryptable');
      await tabs.leave(page);
    });

    it('explores again after a stop', async () => {
      const page = await open();
      const matrix = page.locator('.matrix');
      await matrix.getByText(/hold$/).waitFor();
      const found = await matrix.locator('.badge').textContent();
      const explore = matrix.getByRole('button', { name: 'Explore again' });
      await explore.evaluate(startExploring);
      await page.evaluate(stopExploring);
      await explore.waitFor();
      await explore.evaluate(startExploring);
      await explore.waitFor();
      expect(await matrix.locator('.badge').textContent()).toBe(found);
      await tabs.leave(page);
    });

    it('keeps the run and its settings while the code has a mistake', async () => {
      const page = await open('#example=refund');
      await page.locator('.run > .question').getByRole('button', { name: 'Accept' }).click();
      await page.locator('.verdict').filter({ hasText: 'completed' }).waitFor();
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+Home');
      await page.keyboard.insertText('const (');
      await page.getByRole('alert').waitFor();
      await page.getByLabel('Client').selectOption('declining');
      await expect.poll(() => page.getByLabel('Client').inputValue()).toBe('complete');
      await page.getByText('Go back to token 1').click();
      await page.getByRole('button', { name: 'Send as a fork' }).click();
      await page.locator('.verdict').filter({ hasText: 'The run: completed' }).waitFor();
      expect(await page.locator('.run .tabs [aria-pressed]').count()).toBe(1);
      await tabs.leave(page);
    });

    it('keeps edits over a reload and a change of the example, until the person undoes them', async () => {
      const page = await open();
      const original = await sourceOf(page);
      await replaceSource(page, (text) => text.replace('Refunded', 'Paid back'));
      await page.getByLabel('Other files').selectOption('bank.ts');
      await replaceSource(page, (text) => `// A bank of this test.\n${text}`);
      await page.reload();
      await page.locator('.cm-content').waitFor();
      expect(await sourceOf(page)).toBe(original.replace('Refunded', 'Paid back'));
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.locator('.event.completed').filter({ hasText: 'Paid back' }).waitFor();
      await page.getByLabel('Example').selectOption('manager');
      await page.getByRole('form', { name: 'Question amount' }).waitFor();
      expect(await sourceOf(page)).not.toContain('Paid back');
      expect(await page.getByRole('button', { name: 'Undo all edits' }).count()).toBe(0);
      await page.getByLabel('Example').selectOption('refund');
      await holds(page);
      expect(await sourceOf(page)).toContain('Paid back');
      await page.getByLabel('Other files').selectOption('bank.ts');
      expect(await sourceOf(page)).toMatch(/^\/\/ A bank of this test\./);
      await page.getByRole('button', { name: 'Undo all edits' }).click();
      await page.getByRole('button', { name: 'Undo all edits' }).waitFor({ state: 'detached' });
      await page.reload();
      await page.locator('.cm-content').waitFor();
      expect(await sourceOf(page)).toBe(original);
      await tabs.leave(page);
    });

    it('keeps edits of the code of a link apart from those of its example', async () => {
      const page = await open();
      const original = await sourceOf(page);
      const text = `console.info('of a link');\n${original}`;
      const files = [{ name: 'refund.ts', text }];
      const session = { answers: [], forks: [] };
      const link = await toFragment({ example: 'refund', files, session });
      await page.evaluate((hash) => (location.hash = hash), link);
      await page.getByRole('button', { name: 'Run this code' }).waitFor();
      await replaceSource(page, (code) => code.replace('Refunded', 'Paid back'));
      await page.reload();
      // The code of the link still waits for the consent of the person.
      await page.getByRole('button', { name: 'Run this code' }).waitFor();
      await page.locator('.cm-content').waitFor();
      expect(await sourceOf(page)).toBe(text.replace('Refunded', 'Paid back'));
      await page.getByLabel('Example').selectOption('refund');
      await page.getByRole('form', { name: 'Question amount' }).waitFor();
      expect(await sourceOf(page)).toBe(original);
      await tabs.leave(page);
    });

    it('shows no result of other code than that of the editor without saying so', async () => {
      const page = await open();
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      await holds(page);
      // Code that never ends has no result.
      await replaceSource(page, (text) => text.replace('const Amount', 'for (;;);\nconst Amount'));
      await page.locator('.verdict.stale').filter({ hasText: 'before the edit' }).waitFor();
      expect(await page.locator('.cell').count()).toBe(0);
      expect(await badge(page).textContent()).toBe('');
      expect(await page.locator('.lit').count()).toBeGreaterThan(0);
      expect(await page.locator('.source.stale .lit').count()).toBeGreaterThan(0);
      expect(await findViolations(page, 'light')).toEqual([]);
      await endTimeOfCode(
        page,
        page.locator('.source .failure').filter({ hasText: 'was stopped' }),
      );
      expect(await page.locator('.event').count()).toBe(0);
      await page.getByRole('button', { name: 'Undo all edits' }).click();
      await page.locator('.verdict.completed').waitFor();
      await holds(page);
      expect(await page.locator('.stale').count()).toBe(0);
      await tabs.leave(page);
    });

    it('marks a syntax error in its file, at its line and column', async () => {
      const page = await open();
      const failure = page.locator('.source .failure');
      const marked = page.locator('.cm-line.mistake');
      const saysPlace = async (text: string): Promise<void> => {
        await failure.filter({ hasText: text }).waitFor();
        await marked.waitFor();
      };
      // The compiler knows the place.
      await replaceSource(page, (text) => text.replace('const Amount =', 'const Amount = ;'));
      await saysPlace('SyntaxError in refund.ts, line 5, column 16: Unexpected token');
      expect(await marked.textContent()).toContain('const Amount = ;');
      expect(await page.locator('.mistake-here').textContent()).toBe(';');
      expect(await findViolations(page, 'light')).toEqual([]);
      // The mark is in the file of the mistake only, and leads there.
      await page.getByLabel('Other files').selectOption('bank.ts');
      await marked.waitFor({ state: 'detached' });
      await failure.getByRole('button', { name: 'Show' }).click();
      await page.getByRole('textbox', { name: 'Source of refund.ts' }).waitFor();
      await page.locator('.cm-activeLine.mistake').waitFor();
      // The compiler finds the first of these some lines below, and the second one only when it runs.
      for (const [wrong, place] of [
        ["const input = 'abc", 'line 6, column 20'],
        ['const Amount = z', 'line 6, column 1'],
      ] as const) {
        await page.getByRole('button', { name: 'Undo all edits' }).click();
        await holds(page);
        await replaceSource(page, (text) => text.replace('const input =', `${wrong};\n$&`));
        await saysPlace(`SyntaxError in refund.ts, ${place}: `);
        expect(await marked.textContent()).toContain(wrong);
      }
      await page.getByRole('button', { name: 'Undo all edits' }).click();
      await failure.waitFor({ state: 'detached' });
      expect(await marked.count()).toBe(0);
      await tabs.leave(page);
    });

    it('marks the matrix red if the run itself breaks a rule', async () => {
      const page = await open();
      await page.getByRole('button', { name: 'Accept' }).click();
      await holds(page);
      await replaceSource(page, (text) =>
        text.replaceAll(', idempotencyKey)', ', crypto.randomUUID())'),
      );
      await badge(page).filter({ hasText: 'fails without a fault' }).waitFor();
      expect(await badge(page).getAttribute('class')).toBe('badge bad');
      await tabs.leave(page);
    });

    it('says that a part of the page did not load, until it does', async () => {
      const page = await browser.newPage();
      await page.route('**/compile-*.js', (route) => route.abort());
      await page.goto(`${site.origin}/index.html`);
      const failure = page.locator('.source .failure');
      await failure.filter({ hasText: 'The page did not load completely.' }).waitFor();
      await page.unroute('**/compile-*.js');
      await page.reload();
      await page.locator('.cm-content').waitFor();
      expect(await failure.count()).toBe(0);
      await page.close();
    });

    it('names an example of a link that the page does not have', async () => {
      const page = await browser.newPage();
      // The second link is cut.
      for (const fragment of ['#example=no-such', '#run=q1bKLFayUkorylSqBQA']) {
        await page.goto('about:blank');
        await page.goto(`${site.origin}/index.html${fragment}`);
        await page
          .getByRole('alert')
          .filter({ hasText: 'The link is damaged, or its example is gone.' })
          .waitFor();
        await page.getByLabel('Example').selectOption('trip');
        await page.locator('.ladder').waitFor();
      }
      await page.close();
    });

    it('moves the focus to the next question', async () => {
      const page = await open('#example=quickstart');
      const accept = page.locator('.run > .question').getByRole('button', { name: 'Accept' });
      await accept.press('Enter');
      await page.locator('.question:focus').waitFor();
      await accept.press('Enter');
      await page.locator('.verdict:focus').waitFor();
      await tabs.leave(page);
    });

    it('answers no question by Enter in one of its fields', async () => {
      const page = await open('#example=quickstart');
      const question = page.locator('.run > .question');
      const label = await question.getAttribute('aria-label');
      const fields = question.locator('input, select');
      expect(await fields.count()).toBeGreaterThan(0);
      for (const field of await fields.all()) await field.press('Enter');
      expect(await question.getAttribute('aria-label')).toBe(label);
      await question.getByRole('button', { name: 'Accept' }).press('Enter');
      await page.locator(`.run > .question[aria-label="${label}"]`).waitFor({ state: 'detached' });
      await tabs.leave(page);
    });

    /** Returns what axe reports, and what overflows, on a desktop and on a phone. */
    async function findViolations(
      page: Page,
      colorScheme: 'light' | 'dark',
    ): Promise<readonly string[]> {
      const found: string[] = [];
      // Colors are the only difference.
      const rules = colorScheme === 'light' ? {} : { runOnly: ['color-contrast'] };
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 844 },
      ]) {
        await page.setViewportSize(viewport);
        found.push(
          ...(await runAxe(page, colorScheme, rules)),
          ...(await findOverflow(page, String(viewport.width))),
        );
      }
      return found;
    }

    it.each(['light', 'dark'] as const)(
      'has no violation that axe reports, and fits a desktop and a phone, in %s colors',
      async (colorScheme) => {
        const page = await open();
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        const found: string[] = [];
        const check = async (): Promise<unknown> =>
          found.push(...(await findViolations(page, colorScheme)));
        await holds(page);
        await check();
        await page.getByText('Token 1').first().click();
        await page.getByRole('button', { name: 'Change one character' }).click();
        await page.locator('.lens .failure').waitFor();
        await check();
        await replaceSource(page, withoutUndo);
        await fails(page);
        await page.locator('.cell.bad').last().click();
        await ends(page, 'When ');
        await page.locator('summary', { hasText: 'Export' }).click();
        await check();
        expect(found).toEqual([]);
        await tabs.leave(page);
      },
    );

    it('moves through the faults in time with the keyboard, and opens each case', async () => {
      const page = await open();
      await holds(page);
      const slider = page.getByRole('slider', { name: 'Faults in time' });
      const isAt = async (text: string): Promise<void> => {
        await page
          .locator(`input[aria-label="Faults in time"][aria-valuetext="${text}"]`)
          .waitFor();
      };
      await isAt('No fault');
      await slider.focus();
      await page.keyboard.press('ArrowRight');
      await isAt('When the response of turn 1 is lost: holds');
      await ends(page, 'When the response of turn 1 is lost');
      for (let count = 0; count < 6; count += 1) await page.keyboard.press('ArrowRight');
      await isAt("When the process dies after 'pay': holds");
      await page.locator('.event.crashed').getByText('crashed after pay').waitFor();
      expect(await page.locator('.cell[aria-pressed=true]').textContent()).toBe('dies after');
      await page.keyboard.press('End');
      await ends(page, "and the undo of 'enter' fails each time");
      await page.keyboard.press('Home');
      await ends(page, 'The run: waits');
      await tabs.leave(page);
    });

    it('moves through the events of a run, in the diagram and in the source', async () => {
      const page = await open('#example=refund');
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      const seen = page.locator('.event:not(.later)');
      const all = await seen.count();
      await page.locator('.lit').nth(2).waitFor();
      const slider = page.getByRole('slider', { name: 'Run in time' });
      await slider.press('Home');
      await expect
        .poll(async () => [await seen.count(), await page.locator('.lit').count()])
        .toEqual([0, 0]);
      await slider.press('ArrowRight');
      await slider.press('ArrowRight');
      await page.locator('.lit.open').waitFor();
      expect(await seen.count()).toBe(2);
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Turn 1: .*amount/);
      expect(await findViolations(page, 'light')).toEqual([]);
      await slider.press('End');
      await expect.poll(async () => await seen.count()).toBe(all);
      await tabs.leave(page);
    });

    it('keeps a move in time that comes as soon as a run is drawn', async () => {
      const page = await open('#example=refund');
      await page.getByRole('slider', { name: 'Run in time' }).waitFor();
      // A person, or a loaded machine, can be faster than the next frame of the browser.
      await page.evaluate(() => {
        const slider = document.querySelector<HTMLInputElement>('[aria-label="Run in time"]');
        new MutationObserver((_, observer) => {
          if (!document.querySelector('.verdict.completed') || !slider) return;
          observer.disconnect();
          slider.value = '0';
          slider.dispatchEvent(new Event('input', { bubbles: true }));
        }).observe(document.body, { subtree: true, childList: true, attributes: true });
      });
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      // The frame after the next one is after each effect of the drawing.
      await page.evaluate(
        () =>
          new Promise((done) => {
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
          }),
      );
      expect(await page.locator('.event:not(.later)').count()).toBe(0);
      await tabs.leave(page);
    });

    it('draws the effect before a crash, and the next process', async () => {
      const page = await open('#example=careless');
      await fails(page);
      // A process that dies before `pay` has no effect.
      for (const [fault, effects] of [
        ['dies before', 1],
        ['dies after', 2],
      ] as const) {
        await page.locator('.cell').filter({ hasText: fault }).first().click();
        await ends(page, `When the process ${fault} 'pay'`);
        await page
          .locator('.event.crashed')
          .filter({ hasText: fault.replace('dies', 'crashed') })
          .waitFor();
        expect(await page.locator('.event.effect').count()).toBe(effects);
        expect(await page.locator('.turns h3').allTextContents()).toEqual([
          'Turn 1 process 1',
          'Turn 2 process 2',
          'Turn 2 process 3',
        ]);
      }
      await tabs.leave(page);
    });

    it('shows the newest line of the source, and on a phone the run of a case', async () => {
      const page = await open('#example=approvals');
      const isVisible = (selector: string, window: string): Promise<boolean> =>
        page.evaluate(
          ([inner = '', outer = '']) => {
            const [one, other] = [inner, outer].map((each) =>
              document.querySelector(each)?.getBoundingClientRect(),
            );
            return (
              one !== undefined &&
              other !== undefined &&
              one.top >= other.top &&
              one.bottom <= other.bottom
            );
          },
          [selector, window],
        );
      await expect.poll(() => isVisible('.lit', '.code')).toBe(true);
      // The complete matrix moves the run below the window.
      await holds(page);
      await page.setViewportSize({ width: 390, height: 844 });
      await page.evaluate(() => scrollTo(0, 0));
      const top = (): Promise<number> =>
        page.locator('.verdict').evaluate((each) => each.getBoundingClientRect().top);
      // The question is below the source, and the matrix is below the run.
      expect(await top()).toBeLessThan(844);
      await page.locator('.cell').last().scrollIntoViewIfNeeded();
      expect(await top()).toBeLessThan(0);
      await page.locator('.cell').last().click();
      await expect.poll(top).toBeGreaterThan(0);
      expect(await top()).toBeLessThan(844);
      await tabs.leave(page);
    });

    it('folds the attempts of a poll between the first and the last ones', async () => {
      const text = `import { poll, saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
export const build = saga({ name: 'build', version: '1' }, function* () {
  const result = yield* poll('result', ({ attempt }) => (attempt < 9 ? undefined : 'green'), { every: 5_000, timeout: 600_000 });
  return result;
});
export const script = testSaga(build);`;
      const session = { answers: [], forks: [] };
      const page = await open(
        await toFragment({ example: 'refund', files: [{ name: 'build.ts', text }], session }),
      );
      await page.getByRole('button', { name: 'Run this code' }).click();
      await ends(page, 'completed');
      // Each of the two turns shows its first and its last attempt.
      const polls = await page.locator('.event.polled').allTextContents();
      const attempts = polls.map((poll) => /\d+$/.exec(poll)?.[0]);
      expect(await page.locator('.turns h3').count()).toBe(2);
      expect(attempts).toEqual([undefined, '5', '6', '9']);
      await tabs.leave(page);
    });

    it('prefills defaults, and leaves out what the person leaves out', async () => {
      const text = `import { elicit, saga } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { z } from 'zod';
const Size = z.union([z.literal('s').meta({ title: 'Small' }), z.literal('l').meta({ title: 'Large' })]);
export const order = saga({ name: 'order', version: '1' }, function* () {
  const answer = yield* elicit('what', {
    message: 'What?',
    schema: z.object({ count: z.int().default(20), size: Size.optional(), extras: z.array(z.enum(['a', 'b'])).optional() }),
  });
  return JSON.stringify(answer);
});
export const script = testSaga(order);`;
      const session = { answers: [], forks: [] };
      const page = await open(
        await toFragment({ example: 'refund', files: [{ name: 'order.ts', text }], session }),
      );
      await page.getByRole('button', { name: 'Run this code' }).click();
      expect(await page.locator('.run > form').getByLabel('count').inputValue()).toBe('20');
      expect(
        await page.locator('.run > form').getByLabel('size').locator('option').allTextContents(),
      ).toEqual(['', 'Small', 'Large']);
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      expect(await page.locator('.event.completed .value').textContent()).toBe('{"count":20}');
      await page.getByRole('button', { name: 'Start again' }).click();
      await page.locator('.run > form').getByLabel('size').selectOption('Large');
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      expect(await page.locator('.event.completed .value').textContent()).toBe(
        '{"count":20,"size":"l"}',
      );
      await tabs.leave(page);
    });

    it('draws the machine of a saga, and lights its states in time', async () => {
      const files = [{ name: 'refund.ts', text: machineSaga }];
      const session = { answers: [], forks: [] };
      const page = await open(await toFragment({ example: 'refund', files, session }));
      const lit = (state: string): Promise<void> =>
        page.locator(`.statechart .active[data-state="refund.${state}"]`).waitFor();
      await page.getByRole('button', { name: 'Run this code' }).click();
      await lit('asking');
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      await lit('refunded');
      const slider = page.getByRole('slider', { name: 'Run in time' });
      await slider.focus();
      // Before the result, and before the last effect.
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await lit('telling');
      expect(await slider.getAttribute('aria-valuetext')).toMatch(/^Turn 2: .*payBack/);
      await page.keyboard.press('Home');
      await lit('asking');

      // A fork and a case have their own states.
      await page.getByText('Go back to token 1').click();
      await page.getByRole('button', { name: 'Decline', exact: true }).click();
      await ends(page, 'Fork 1 of token 1: completed');
      await lit('kept');
      await page
        .getByRole('row', { name: /^payBack/ })
        .getByRole('button', { name: /^fails/ })
        .click();
      await lit('failed');
      const found = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        found.push(...(await findViolations(page, colorScheme)));
      }
      expect(found).toEqual([]);
      await tabs.leave(page);
    });

    it('asks as another person, receives an event, and lets time pass', async () => {
      const page = await open('#example=approvals');
      await page.getByLabel('Name of the person').fill('eva');
      await page.getByLabel('comment').fill('Too much');
      await page.getByRole('button', { name: 'Advance 1 min' }).click();
      await page.locator('.event.waited').first().waitFor();
      // Time empties no form.
      expect(await page.getByLabel('Name of the person').inputValue()).toBe('eva');
      await page.getByRole('button', { name: 'Deny' }).click();
      await ends(page, 'completed');
      expect(await page.locator('.event.completed').textContent()).toContain(
        'denied, eva: Too much',
      );
      await page.getByText('Go back to token').nth(1).click();
      await page.getByRole('button', { name: 'Approve' }).first().click();
      await page.getByRole('button', { name: 'Fork 1' }).waitFor();
      await page.getByRole('button', { name: 'Start again' }).click();
      await page.getByRole('button', { name: 'to the next event' }).click();
      await page.locator('.event.completed').filter({ hasText: 'timeout' }).waitFor();

      await page.getByLabel('Example').selectOption('webhooks');
      await page.getByLabel('Event as JSON').fill('{');
      await page.getByRole('button', { name: 'Send the event' }).click();
      await page.getByText('not valid JSON').waitFor();
      await page.getByLabel('Event as JSON').fill('{ "type": "payment.paid", "reference": "Z9" }');
      await page.getByRole('button', { name: 'Send the event' }).click();
      await page.locator('.event.completed').filter({ hasText: 'Paid: Z9' }).waitFor();
      await tabs.leave(page);
    });

    it('stops the clock at a wait, and runs a client that cannot be asked', async () => {
      const page = await open('#example=manager');
      await page.getByLabel('Stop the clock between turns').check();
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('button', { name: 'to the next event' }).click();
      await page.locator('.event.waited').first().waitFor();
      await page.getByRole('button', { name: 'Advance 1 h' }).click();
      await page.locator('.event.waited').filter({ hasText: '1 h' }).waitFor();
      await page.getByRole('combobox', { name: 'Client' }).selectOption('no-elicitation');
      await ends(page, 'failed');
      expect(await page.locator('.event.gaveUp').textContent()).toContain('elicitation');
      await page.getByRole('combobox', { name: 'Client' }).selectOption('declining');
      await page.locator('.event.declined').waitFor();
      await tabs.leave(page);
    });

    it('compares a pinned version with the next one, and saves a run as files', async () => {
      const page = await open();
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      await page.getByRole('button', { name: 'Pin this version' }).press('Enter');
      await page.getByText('The next version can continue every token.').waitFor();
      await page
        .locator('button:focus[aria-pressed=true]', { hasText: 'Pin this version' })
        .waitFor();
      await replaceSource(page, (text) => text.replace("elicit('amount'", "elicit('sum'"));
      await page.locator('.token > .failure').waitFor();
      expect(await page.locator('.token > .failure').textContent()).toContain(
        "now asks: elicit 'sum'",
      );
      expect(await page.locator('.event.completed').count()).toBe(1);
      await replaceSource(page, (text) => `const (\n${text}`);
      await page.locator('.source .failure').filter({ hasText: 'SyntaxError' }).waitFor();
      await expect
        .poll(async () => await page.locator('.matrix').getAttribute('aria-busy'))
        .toBe('false');
      await replaceSource(page, (text) => text.replace('const (\n', ''));
      await page.locator('.token > .failure').waitFor();

      await page.locator('summary', { hasText: 'Export' }).click();
      for (const [label, start] of [
        ['Diagram as SVG', '<svg'],
        ['Recording', '{'],
      ] as const) {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: label }).click(),
        ]);
        expect((await readFile(await download.path(), 'utf8')).slice(0, start.length)).toBe(start);
      }
      await page.getByRole('button', { name: 'Run the next version' }).click();
      await page.getByRole('form', { name: 'Question sum' }).waitFor();
      await tabs.leave(page);
    });

    it('sends no request after loading, also without a network, and prevents requests of code in the editor', async () => {
      const page = await open();
      await holds(page);
      const requests = await goOffline(page);
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      // A comparison, and a run after stopped code, start further workers.
      await page.getByRole('button', { name: 'Pin this version' }).click();
      await page.getByText('The next version can continue every token.').waitFor();
      await page.getByRole('button', { name: 'Run the next version' }).click();
      await replaceSource(page, (text) => text.replace('const Amount', 'for (;;);\nconst Amount'));
      await endTimeOfCode(
        page,
        page.locator('.source .failure').filter({ hasText: 'was stopped' }),
      );
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+Z');
      await holds(page);
      await ends(page, 'completed');
      const before = errors.length;
      await replaceSource(page, (text) =>
        text.replace(
          'bank.pay(order, euros, idempotencyKey)',
          "fetch('https://example.com/').then(() => bank.pay(order, euros, idempotencyKey))",
        ),
      );
      await ends(page, 'failed');
      await tabs.leave(page);
      expect(requests).toEqual([]);
      // The browser names the blocked request in the console.
      const blocked = errors.splice(before);
      expect(blocked.filter((text) => !text.includes('Content Security Policy'))).toEqual([]);
    });

    it.each([
      ['refund', ''],
      ['note', '#example=note'],
    ])(
      'opens with the example %s, and opens each other example without a request',
      async (name, link) => {
        const page = await open(link);
        await page.getByRole('button', { name: 'Accept' }).click();
        await ends(page, 'completed');
        await holds(page);
        const select = page.getByLabel('Example');
        expect(await select.inputValue()).toBe(name);
        const values = await select
          .locator('option')
          .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
        expect(values.toSorted()).toEqual(listed.map((each) => each.name).toSorted());
        const groups = await select
          .locator('optgroup')
          .evaluateAll((all) => all.map((group) => (group as HTMLOptGroupElement).label));
        expect(groups).toEqual(['Tutorial', 'Examples', 'Guides', 'Effects']);
        const requests = await goOffline(page);
        const drawn: string[] = [];
        // One visit to all examples is enough.
        for (const { name: other, files } of name === 'refund'
          ? listed.toReversed()
          : listed.slice(0, 4)) {
          const [file = ''] = Object.keys(files);
          await select.selectOption(other);
          // The body of a machine saga is its machine.
          const shown = other === 'triage' ? 'machine.ts' : file;
          await page.getByRole('textbox', { name: `Source of ${shown}`, exact: true }).waitFor();
          await (['careless', 'once'].includes(other) ? fails(page) : holds(page));
          if ((await page.locator('.statechart').count()) > 0) drawn.push(other);
        }
        await tabs.leave(page);
        expect(drawn.includes('triage')).toBe(name === 'refund');
        expect(requests).toEqual([]);
      },
    );

    it('stops endless code, and runs the repaired code', async () => {
      const page = await open();
      await replaceSource(page, (text) => text.replace('const Amount', 'for (;;);\nconst Amount'));
      await endTimeOfCode(page, page.locator('.source .failure'));
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+Z');
      await holds(page);
      await replaceSource(page, (text) => `const (\n${text}`);
      await page.locator('.source .failure').filter({ hasText: 'SyntaxError' }).waitFor();
      // Nothing ran, so nothing holds.
      await expect.poll(async () => await badge(page).textContent()).toBe('');
      await page.locator('.cm-content').focus();
      await page.keyboard.press('ControlOrMeta+Z');
      await page.locator('.source .failure').waitFor({ state: 'detached' });
      await tabs.leave(page);
    });

    it('opens a run by its link, and starts the code of another person only after a click', async () => {
      const page = await open('#example=manager');
      await page.getByLabel('euros', { exact: true }).fill('700');
      await page.getByRole('button', { name: 'Accept' }).click();
      await ends(page, 'completed');
      const linkOf = async (name: string): Promise<string> => {
        await page.getByText('Share').click();
        await page.getByRole('button', { name, exact: true }).click();
        await page.getByText('Copied').first().waitFor();
        await page.getByText('Share').click();
        return await page.evaluate(() => navigator.clipboard.readText());
      };
      const same = await open(new URL(await linkOf('Copy link with answers')).hash);
      await ends(same, 'completed');
      expect(await same.locator('.event.completed').textContent()).toContain('700 EUR');
      await tabs.leave(same);

      const redacted = await open(new URL(await linkOf('Copy link')).hash);
      await redacted
        .getByText('Placeholders stand for the answers.', { exact: false })
        .last()
        .waitFor();
      await ends(redacted, 'completed');
      expect(await redacted.locator('.run').textContent()).not.toContain('700');
      await tabs.leave(redacted);

      await replaceSource(page, (text) => text.replace('Refunded', 'Paid back'));
      await page.locator('.event.completed').filter({ hasText: 'Paid back' }).waitFor();
      await page.getByText('Copied').first().waitFor({ state: 'hidden' });
      const other = await open(new URL(await linkOf('Copy link')).hash);
      expect(await other.locator('.verdict').count()).toBe(0);
      await other.getByRole('button', { name: 'Run this code' }).click();
      await other.locator('.event.completed').filter({ hasText: 'Paid back' }).waitFor();
      await tabs.leave(other);

      // The link of an open case opens the case.
      await holds(page);
      const cell = page.getByRole('button', { name: 'fails: holds', exact: true }).last();
      const title = (await cell.getAttribute('title')) ?? '';
      await cell.click();
      await ends(page, title);
      await page.getByText('Copied').first().waitFor({ state: 'hidden' });
      const found = await open(new URL(await linkOf('Copy link')).hash);
      await found.getByRole('button', { name: 'Run this code' }).click();
      await ends(found, title);
      expect(await found.locator('.cell[aria-pressed=true]').getAttribute('title')).toBe(title);
      await found.getByRole('button', { name: 'Run', exact: true }).click();
      await ends(found, 'completed');
      await tabs.leave(found);

      // A link that arrives during a run waits, too.
      await replaceSource(page, (text) => `console.info('link ran');\n${text}`);
      const { hash } = new URL(await linkOf('Copy link'));
      const busy = await browser.newPage();
      const said: string[] = [];
      busy.on('console', (message) => said.push(message.text()));
      await busy.goto(page.url().replace(/#.*/, ''));
      await busy.evaluate((link) => (location.hash = link), hash);
      await busy.getByRole('button', { name: 'Run this code' }).waitFor();
      await busy.waitForTimeout(2_000);
      expect(said).not.toContain('link ran');
      await busy.getByRole('button', { name: 'Run this code' }).click();
      await busy.locator('.event.completed').waitFor();
      expect(said).toContain('link ran');
      await busy.close();
      await tabs.leave(page);
    });

    it('is smaller than 225 kB, compressed, and loads less than 115 kB later, without the editor', async () => {
      const files = await readdir(join(studioApp, 'assets'));
      const sizeOf = async (isCounted: (name: string) => boolean): Promise<number> => {
        const sizes = await Promise.all(
          files
            .filter(isCounted)
            .map(async (name) => gzipSync(await readFile(join(studioApp, 'assets', name))).length),
        );
        expect(sizes.length).toBeGreaterThanOrEqual(3);
        return sizes.reduce((sum, size) => sum + size, 0);
      };
      const isLater = (name: string): boolean => /^(?:compile|others|drawing)-/.test(name);
      const isElsewhere = (name: string): boolean =>
        /^(?:code-editor|machine(?:-worker)?)-/.test(name);
      expect(await sizeOf((name) => !isLater(name) && !isElsewhere(name))).toBeLessThan(225_000);
      expect(await sizeOf(isLater)).toBeLessThan(115_000);
    });

    it('loads the editor, its compiler, the other examples, and what they need after the first run', async () => {
      const page = await browser.newPage();
      await page.addInitScript(() => {
        const observer = new MutationObserver(() => {
          if (document.querySelector('.verdict') === null) return;
          observer.disconnect();
          const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
          Object.assign(globalThis, { loaded });
        });
        observer.observe(document, { childList: true, subtree: true });
      });
      await page.goto(`${site.origin}/index.html`);
      await page.locator('.cm-content').waitFor();
      const loaded = await page.evaluate(
        () => (globalThis as unknown as { loaded: readonly string[] }).loaded,
      );
      const names = loaded.map((url) =>
        /assets\/(.+)-[\w-]{8}\.(\w+)$/.exec(url)?.slice(1).join('.'),
      );
      const expected = ['index.css', 'index.js', 'studio.css', 'studio.js', 'worker.js'];
      expect(new Set(names)).toEqual(new Set(expected));
      const later = ['code-editor.js', 'compile.js', 'drawing.js', 'others.js'];
      const all = await page.evaluate(() =>
        performance.getEntriesByType('resource').map(({ name }) => name),
      );
      const others = all
        .map((url) => /assets\/(.+)-[\w-]{8}\.(\w+)$/.exec(url)?.slice(1).join('.'))
        .filter((name) => !names.includes(name));
      expect(new Set(others)).toEqual(new Set(later));
      await page.close();
    });

    async function openLong(steps: number, stepsOfTurn: number): Promise<Page> {
      const session = { answers: [], forks: [] };
      const files = longSaga(steps, stepsOfTurn);
      const page = await open(await toFragment({ example: 'refund', files, session }));
      await page.getByRole('button', { name: 'Run this code' }).click();
      return page;
    }

    it('draws only the visible part of a long run, and makes forms and lenses when they open', async () => {
      const steps = 200;
      const page = await openLong(steps, 100);
      await page.getByRole('button', { name: /^(?:Stop|Explore again)$/ }).waitFor();
      await page.evaluate(stopExploring);
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.getByRole('form', { name: 'Question last' }).waitFor();
      const count = (selector: string): Promise<number> => page.locator(selector).count();
      expect(await count('.event.ran')).toBe(steps);
      const drawn = await page
        .locator('.event')
        .evaluateAll(
          (all) =>
            all.filter((each) => each.checkVisibility({ contentVisibilityAuto: true })).length,
        );
      expect(drawn).toBeLessThan(0.75 * steps);
      expect(await count('.run *')).toBeLessThan(10 * steps);
      expect(await count('form')).toBe(1);
      expect(await count('.lens')).toBe(0);
      // A click would move with the guessed heights of the pieces.
      await page.locator('summary', { hasText: /^Token 2 / }).press('Enter');
      await page.locator('.lens .journal li').nth(99).waitFor({ state: 'attached' });
      await page
        .locator('.lens')
        .getByText(/^structure \d+ bytes, compressed to \d+$/)
        .waitFor();
      expect(await count('.lens')).toBe(1);
      await tabs.leave(page);
    });

    it('draws a long crash matrix in parts, and runs a case when its cell opens', async () => {
      const page = await openLong(62, 62);
      await page.getByRole('button', { name: /^Show more of/ }).waitFor();
      await page.getByRole('button', { name: /^(?:Stop|Explore again)$/ }).focus();
      await page.evaluate(stopExploring);
      await page.locator('button:focus', { hasText: 'Explore again' }).waitFor();
      expect(await page.locator('.matrix tr').count()).toBe(60);
      // A case in a row that is not drawn leaves the matrix to the keyboard.
      for (const key of ['End', 'Home']) {
        await page.getByRole('slider', { name: 'Faults in time' }).press(key);
        expect(await page.locator('.cell[tabindex="0"]').count()).toBe(1);
      }
      await page.getByRole('button', { name: /^Show more of/ }).press('Enter');
      await page.locator('button:focus', { hasText: 'Show fewer rows' }).waitFor();
      expect(await page.locator('.matrix tr').count()).toBeGreaterThan(60);
      await page.locator('button:focus').press('Enter');
      expect(await page.locator('.matrix tr').count()).toBe(60);
      await page.locator('.cell').first().click();
      await ends(page, 'When ');
      await page.locator('.event').first().waitFor();
      await tabs.leave(page);
    });

    it('shows no error in the console', () => {
      expect(errors).toEqual([]);
    });
  },
);

/** Presses the button that explores. Resolves when the explorer runs. Runs in the page. */
async function startExploring(button: HTMLElement | SVGElement): Promise<void> {
  const started = new Promise<void>((resolve) => {
    const observer = new MutationObserver(() => {
      if (button.textContent?.trim() !== 'Stop') return;
      observer.disconnect();
      resolve();
    });
    observer.observe(button, { subtree: true, childList: true, characterData: true });
  });
  button.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  await started;
}

/**
 * Stops the explorer, unless it has ended: on a fast machine, it may do so before a click of the
 * browser arrives. Runs in the page.
 */
function stopExploring(): void {
  for (const button of document.querySelectorAll('button'))
    if (button.textContent?.trim() === 'Stop') button.click();
}

declare global {
  /** Positions in time that a run has had since `watchPlaces`. */
  // oxlint-disable-next-line no-var -- a global of the page
  var places: string[];
}

/** Notes each position of the slider through a run of a case. Runs in the page. */
function watchPlaces(): void {
  globalThis.places = [];
  const note = (): void => {
    const slider = document.querySelector('.verdict ~ .slider input');
    const place = slider?.getAttribute('aria-valuetext') ?? '';
    const isCase = document.querySelector('.verdict strong') !== null;
    if (isCase && place !== '' && place !== globalThis.places.at(-1)) globalThis.places.push(place);
  };
  new MutationObserver(note).observe(document, {
    subtree: true,
    childList: true,
    attributes: true,
  });
}

/** Finds texts that are smaller than 14 px. Runs in the page. */
function findSmallTexts(): readonly string[] {
  return [...document.querySelectorAll('body *')].flatMap((element) => {
    const size = Number.parseFloat(getComputedStyle(element).fontSize);
    const hasText = [...element.childNodes].some(
      ({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim() !== '',
    );
    return hasText && size < 14 ? [`${size} px: ${element.outerHTML.slice(0, 100)}`] : [];
  });
}

/** Puts files into a folder. */
function inFolder(
  folder: string,
  files: { readonly [name: string]: string },
): { readonly [path: string]: string } {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]),
  );
}
