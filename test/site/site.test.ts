import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listed } from '../../packages/studio/examples/listed.ts';
import { executablePath, openBrowser, type OpenedBrowser } from './browser.ts';
import { buildSite } from './build-site.ts';
import { countEqual } from './count-equal.ts';
import { pageOf } from './queries.ts';
import { serveSite } from './serve-site.ts';
import { axeFiles, findOverflow, runAxe, visitPage, type Visit } from './visit-page.ts';

const isSkipped = executablePath === undefined && process.env['CI'] !== 'true';
const tabs = 2;

describe.skipIf(isSkipped)(
  isSkipped ? 'the site (skipped: no Chromium on PATH)' : 'the site',
  () => {
    let dist: string;
    let site: Awaited<ReturnType<typeof serveSite>>;
    let opened: OpenedBrowser;
    let browser: BrowserContext;
    /** Paths of all pages: `/start/`, `/operate/fleet.html`. */
    let paths: readonly string[];
    let visits: readonly Visit[];

    beforeAll(async () => {
      if (executablePath === undefined)
        throw new Error('No Chromium on PATH. Install it: apt-get install chromium');
      dist = await buildSite();
      site = await serveSite(dist, axeFiles);
      opened = await openBrowser();
      browser = await opened.newContext();
      paths = readdirSync(dist, { recursive: true, encoding: 'utf8' })
        .map((file) => `/${file.replaceAll('\\', '/')}`)
        // The playground is no page of VitePress.
        .filter(
          (file) => file.endsWith('.html') && file !== '/404.html' && !file.startsWith('/studio/'),
        )
        .map((file) => file.replace(/\/index\.html$/, '/'))
        .toSorted();
      visits = await visitAll(paths);
    });
    afterAll(async () => {
      await opened?.close();
      await site?.close();
    });

    /** Visits pages in several tabs at once. */
    async function visitAll(all: readonly string[]): Promise<readonly Visit[]> {
      const waiting = [...all];
      const sectionOf = (path: string): string | undefined => path.split('/')[1];
      const isFirst = (path: string): boolean =>
        all.find((one) => sectionOf(one) === sectionOf(path)) === path;
      const done: Visit[] = [];
      const checked = { light: new Set<string>(), dark: new Set<string>() };
      const work = async (): Promise<void> => {
        // A tab shows many pages: a tab of its own would take longer than some pages.
        const page = await browser.newPage();
        for (let path = waiting.shift(); path !== undefined; path = waiting.shift())
          done.push(await visitPage(page, site.origin, path, checked, isFirst(path)));
        await page.close();
      };
      await Promise.all(Array.from({ length: tabs }, work));
      return done;
    }

    const problems = (of: (visit: Visit) => readonly string[]): readonly string[] =>
      visits.flatMap((visit) => of(visit).map((problem) => `${visit.path}: ${problem}`));

    it('has the pages of each section', () => {
      for (const section of ['start', 'tutorial', 'operate', 'api'])
        expect(paths.some((path) => path.startsWith(`/${section}/`))).toBe(true);
    });

    it('shows each page without an error in the console', () => {
      expect(problems(({ errors }) => errors)).toEqual([]);
    });

    it('shows each page without horizontal scrolling, on a desktop and on a phone', () => {
      expect(problems(({ overflows }) => overflows)).toEqual([]);
    });

    it('shows no text below 14 px', () => {
      expect(problems(({ smallTexts }) => smallTexts)).toEqual([]);
    });

    it('has no accessibility violation that axe reports, light and dark', () => {
      expect(problems(({ violations }) => violations)).toEqual([]);
    });

    it('links only to pages and anchors that exist', () => {
      const ids = new Map(visits.map((visit) => [visit.path, visit.ids]));
      const files = new Set(
        readdirSync(dist, { recursive: true, encoding: 'utf8' }).map(
          (file) => `/${file.replaceAll('\\', '/')}`,
        ),
      );
      const isDead = (link: string): boolean => {
        if (!link.startsWith('/')) return !/^(?:https:\/\/|mailto:)/.test(link);
        const [path = '', anchor] = link.split('#');
        const page = ids.get(path);
        if (page === undefined) return !files.has(path);
        return anchor !== undefined && anchor !== '' && !page.has(decodeURIComponent(anchor));
      };
      expect(problems(({ links }) => links.filter(isDead))).toEqual([]);
    });

    it('links each example of the playground from a page, and to no other example', () => {
      const linked = visits.flatMap(({ links }) =>
        links.flatMap((link) => /#example=(.*)/.exec(link)?.[1] ?? []),
      );
      expect([...new Set(linked)].toSorted()).toEqual(listed.map(({ name }) => name).toSorted());
    });

    it('has each page as Markdown beside it, and in llms.txt', () => {
      const list = readFileSync(join(dist, 'llms.txt'), 'utf8');
      for (const path of paths) {
        const markdown = path.replace(/\/$/, '/index.html').replace(/\.html$/, '.md');
        expect(readFileSync(join(dist, markdown), 'utf8')).toMatch(/^# /m);
        expect(list).toContain(`](${markdown})`);
      }
    });

    it('has all pages and the declarations of the API in llms-full.txt', () => {
      const full = readFileSync(join(dist, 'llms-full.txt'), 'utf8');
      for (const path of paths.filter((one) => !one.startsWith('/api/') && one !== '/')) {
        const markdown = path.replace(/\/$/, '/index.html').replace(/\.html$/, '.md');
        expect(full).toContain(`<!-- ${markdown.slice(1)} -->`);
      }
      for (const entry of ['server', 'server/serve', 'client', 'testing', 'core'])
        expect(full).toContain(`\n## @mcp-saga/${entry}\n`);
      expect(full).toMatch(/^ \* Creates a host: .*\n(?: \*.*\n)+export function createSagaHost</m);
    });

    it('finds a page by a word in its text', async () => {
      const page = await browser.newPage();
      await page.goto(`${site.origin}/`);
      await page.locator('.VPNavBarSearch button').first().click();
      await page.locator('#localsearch-input').fill('disableOfflineQueue');
      await page.locator('.VPLocalSearchBox .result[href*="/operate/fleet"]').first().click();
      await page.waitForURL('**/operate/fleet.html*');
      await page.locator('h1', { hasText: 'What a fleet needs' }).waitFor();
      await page.close();
    });

    describe('the front page', () => {
      it('loads less than 300 kB in at most 12 requests', async () => {
        const page = await browser.newPage();
        const sizes: Promise<number>[] = [];
        page.on('response', (response) => sizes.push(response.body().then(({ length }) => length)));
        await page.goto(`${site.origin}/`, { waitUntil: 'networkidle' });
        const loaded = await Promise.all(sizes);
        expect(loaded.length).toBeLessThanOrEqual(12);
        expect(loaded.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
        await page.close();
      });

      it('has the idea, the code, the crash matrix, the start, and four links in the first screen', async () => {
        const page = await browser.newPage();
        await page.goto(`${site.origin}/`);
        for (const part of [
          page.getByRole('heading', { level: 1 }),
          page.locator('h1 + p'),
          page.locator('.language-ts', { hasText: 'export const refund' }),
          page.locator('.matrix', { hasText: '✓ dies before' }),
          page.getByText('npx -y pnpm@12.21.0 start'),
          page.getByRole('link', { name: 'Your first tool' }),
          page.getByRole('link', { name: 'Tutorial', exact: true }),
          page.getByRole('link', { name: 'Guides', exact: true }),
          page.getByRole('main').getByRole('link', { name: 'Reference', exact: true }),
        ]) {
          const { y, height } = (await part.boundingBox()) ?? { y: Infinity, height: 0 };
          expect(y + height).toBeLessThan(900);
        }
        await page.close();
      });

      it('cuts nothing, on a desktop and on a phone', async () => {
        const page = await browser.newPage();
        await page.goto(`${site.origin}/`);
        for (const width of [1440, 390]) {
          await page.setViewportSize({ width, height: 900 });
          const cut = await page.evaluate(() =>
            [...document.querySelectorAll('main *')]
              .filter(
                (element) =>
                  element.scrollWidth > element.clientWidth + 1 &&
                  getComputedStyle(element).overflowX !== 'visible' &&
                  !element.matches('.visually-hidden'),
              )
              .map((element) => element.outerHTML.slice(0, 100)),
          );
          expect(cut).toEqual([]);
        }
        await page.close();
      });

      it('has one accent color besides those of code, light and dark', async () => {
        const page = await browser.newPage();
        await page.goto(`${site.origin}/`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const hues = await page.evaluate(() => {
            const found = new Set<number>();
            for (const element of document.querySelectorAll('body *')) {
              if (!element.checkVisibility() || element.closest('pre, .visually-hidden') !== null)
                continue;
              const { color, backgroundColor, borderTopColor, borderTopWidth } =
                getComputedStyle(element);
              const border = borderTopWidth === '0px' ? [] : [borderTopColor];
              for (const each of [color, backgroundColor, ...border]) {
                const [red = 0, green = 0, blue = 0, alpha = 1] = (each.match(/[\d.]+/g) ?? []).map(
                  Number,
                );
                const [low, high] = [Math.min(red, green, blue), Math.max(red, green, blue)];
                if (alpha === 0 || high - low < 32) continue;
                const sixth =
                  high === red
                    ? (green - blue) / (high - low)
                    : high === green
                      ? 2 + (blue - red) / (high - low)
                      : 4 + (red - green) / (high - low);
                found.add(Math.round(sixth * 60 + 360) % 360);
              }
            }
            return [...found];
          });
          expect(hues.length).toBeGreaterThan(0);
          expect(Math.max(...hues) - Math.min(...hues)).toBeLessThan(15);
        }
        await page.close();
      });

      it('opens its tool in the playground by a click anywhere on the matrix', async () => {
        const page = await browser.newPage();
        await page.goto(`${site.origin}/`);
        const { x, y, height } = (await page.locator('.matrix').boundingBox()) ?? {
          x: 0,
          y: 0,
          height: 0,
        };
        await page.mouse.click(x + 200, y + height / 2);
        await page.waitForURL('**/studio/index.html#example=front*');
        await page.locator('.cm-content', { hasText: 'books.add' }).waitFor();
        await page.close();
      });

      it('is the picture that other sites show with a link', async () => {
        const page = await browser.newPage();
        await page.setViewportSize({ width: 1200, height: 630 });
        await page.goto(`${site.origin}/`);
        const drawn = await page.screenshot({ animations: 'disabled' });
        const file = new URL('../../docs/public/social.png', import.meta.url);
        if (process.env['UPDATE_PICTURES'] !== undefined) await writeFile(file, drawn);
        // Other machines have other fonts, so most of the pixels are equal, but not all.
        const pictures = [drawn, await readFile(file)].map((data) => data.toString('base64'));
        expect(await page.evaluate(countEqual, pictures)).toBeGreaterThan(0.7);
        await page.close();
      });
    });

    it('draws its diagrams and plots without a library, with labels that do not overlap', async () => {
      expect(readdirSync(dist, { recursive: true, encoding: 'utf8' }).join('\n')).not.toMatch(
        /mermaid/i,
      );
      const page = await browser.newPage();
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of ['/start/how-it-works.html', '/spec/', '/operate/performance.html']) {
        await page.goto(site.origin + path);
        const overlaps = await page.locator('.diagram svg, .plot svg').evaluateAll((drawings) =>
          drawings.flatMap((svg) => {
            const area = svg.getBoundingClientRect();
            const labels = [...svg.querySelectorAll('text')].map((text) => ({
              text: text.textContent,
              box: text.getBoundingClientRect(),
            }));
            const isOutside = ({ box }: (typeof labels)[number]): boolean =>
              box.left < area.left || box.right > area.right || box.bottom > area.bottom;
            const meets = (one: DOMRect, other: DOMRect): boolean =>
              one.left < other.right &&
              other.left < one.right &&
              one.top < other.bottom - 1 &&
              other.top < one.bottom - 1;
            return [
              ...(labels.length < 5 ? ['no labels'] : []),
              ...labels.filter(isOutside).map(({ text }) => `${text} is outside`),
              ...labels.flatMap((one, index) =>
                labels
                  .slice(index + 1)
                  .filter((other) => meets(one.box, other.box))
                  .map((other) => `${one.text} and ${other.text}`),
              ),
            ];
          }),
        );
        expect(overlaps).toEqual([]);
      }
      await page.close();
    });

    it('shows a page of its own for an address without one', async () => {
      const page = await browser.newPage();
      const response = await page.goto(`${site.origin}/nowhere.html`);
      expect(response?.status()).toBe(404);
      await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
      expect(await runAxe(page, 'light', {})).toEqual([]);
      await page.getByRole('link', { name: 'Error codes' }).click();
      await page.waitForURL('**/reference/errors.html');
      await page.close();
    });

    it('closes the groups of the sidebar but the first and that of the page, until they are opened', async () => {
      const page = await browser.newPage();
      await page.goto(`${site.origin}/operate/fleet.html`);
      const group = (name: string): Locator =>
        page.locator('.VPSidebar').getByRole('button', { name });
      for (const [name, isOpen] of [
        ['Start', 'true'],
        ['Guides', 'false'],
        ['Operate', 'true'],
      ] as const)
        expect(await group(name).getAttribute('aria-expanded')).toBe(isOpen);
      const link = page.locator('.VPSidebar').getByRole('link', { name: 'Take payments' });
      expect(await link.isVisible()).toBe(false);
      await group('Guides').press('Enter');
      await link.click();
      await page.waitForURL('**/guides/payments.html');
      await page.close();
    });

    it('shows an installation in a tab for each package manager', async () => {
      const page = await browser.newPage();
      await page.goto(`${site.origin}/guides/testing.html`);
      const group = page.locator('.vp-code-group', { hasText: 'npm install' });
      const command = (text: string): Promise<boolean> => group.getByText(text).isVisible();
      expect(await command('npm install --save-dev @mcp-saga/testing')).toBe(true);
      await group.getByText('yarn', { exact: true }).first().click();
      expect(await command('npm install --save-dev @mcp-saga/testing')).toBe(false);
      expect(await command('yarn add --dev @mcp-saga/testing')).toBe(true);
      await page.close();
    });

    it('keeps the package manager that its reader chose, on other pages too', async () => {
      const page = await (await opened.newContext()).newPage();
      await page.goto(`${site.origin}/guides/testing.html`);
      await page.locator('.vp-code-group').getByText('yarn', { exact: true }).first().click();
      await page.goto(`${site.origin}/guides/linting.html`);
      const group = page.locator('.vp-code-group').first();
      await group.getByText('yarn add --dev @mcp-saga/eslint-plugin').waitFor();
      expect(await group.getByText('npm install').isVisible()).toBe(false);
      await page.context().close();
    });

    it('keeps the language that its reader chose, on other pages and after a reload', async () => {
      const page = await (await opened.newContext()).newPage();
      await page.goto(`${site.origin}/guides/client.html`);
      expect(await shownCode(page)).toEqual(['TypeScript: ts']);
      await page.getByText('JavaScript', { exact: true }).first().click();
      expect(await shownCode(page)).toEqual(['JavaScript: js']);
      await page.locator('.VPSidebar').getByRole('link', { name: 'Page through results' }).click();
      await page.locator('h1', { hasText: 'Page through results' }).waitFor();
      expect(await shownCode(page)).toEqual(['JavaScript: js']);
      await page.reload();
      await page.locator('#app *').first().waitFor();
      expect(await shownCode(page)).toEqual(['JavaScript: js']);
      await page.getByText('TypeScript', { exact: true }).first().click();
      expect(await shownCode(page)).toEqual(['TypeScript: ts']);
      await page.context().close();
    });

    /** The chosen tabs of all blocks in two languages, with the code below them: `JavaScript: js`. */
    async function shownCode(page: Page): Promise<readonly string[]> {
      const groups = page.locator('.vp-code-group:has([data-title="JavaScript"])');
      const shown = await groups.evaluateAll((all) =>
        all.map((group) => {
          const blocks = [...group.querySelectorAll('.blocks > *')].filter(
            (block) => getComputedStyle(block).display !== 'none',
          );
          const tab = group.querySelector('input:checked + label')?.textContent;
          return `${tab}: ${blocks.map(({ className }) => /language-(\w+)/.exec(className)?.[1]).join()}`;
        }),
      );
      return [...new Set(shown)];
    }

    it('shows the chosen language before it draws a page, which never moves', async () => {
      const context = await opened.newContext();
      await context.addInitScript(() =>
        localStorage.setItem('tabs', '{"TypeScript,JavaScript":"JavaScript"}'),
      );
      const page = await context.newPage();
      await page.goto(`${site.origin}/guides/client.html`, { waitUntil: 'networkidle' });
      expect(await shownCode(page)).toEqual(['JavaScript: js']);
      const moved = await page.evaluate(() => {
        const observer = new PerformanceObserver(() => {});
        observer.observe({ type: 'layout-shift', buffered: true });
        type Shift = PerformanceEntry & { readonly sources: readonly { readonly node?: Node }[] };
        const main = document.querySelector('main');
        return (observer.takeRecords() as Shift[]).flatMap(({ sources }) =>
          sources.flatMap(({ node }) =>
            node !== undefined && main?.contains(node) ? [node.nodeName] : [],
          ),
        );
      });
      expect(moved).toEqual([]);
      await context.close();
    });

    it('leaves a tab in its place when its choice changes the code above, on a phone', async () => {
      const page = await (await opened.newContext()).newPage();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${site.origin}/guides/client.html`);
      const tab = page.getByText('JavaScript', { exact: true }).last();
      await tab.scrollIntoViewIfNeeded();
      const top = async (): Promise<number> => (await tab.boundingBox())?.y ?? Number.NaN;
      const before = await top();
      await tab.click();
      expect(Math.abs((await top()) - before)).toBeLessThan(1);
      expect(await shownCode(page)).toEqual(['JavaScript: js']);
      expect(await findOverflow(page, 'mobile')).toEqual([]);
      await page.context().close();
    });

    it('changes the language by keyboard, without accessibility violations', async () => {
      const page = await (await opened.newContext()).newPage();
      await page.goto(`${site.origin}/guides/client.html`);
      await page.addStyleTag({
        content: '* { transition: none !important; animation: none !important }',
      });
      const tab = page.getByRole('radio', { name: 'TypeScript' }).first();
      while (!(await tab.evaluate((input) => input === document.activeElement)))
        await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowRight');
      expect(await shownCode(page)).toEqual(['JavaScript: js']);
      const label = page.locator('label', { hasText: 'JavaScript' }).first();
      expect(await label.evaluate((each) => getComputedStyle(each).outlineStyle)).toBe('solid');
      const violations = await runAxe(page, 'light', {});
      await page.evaluate(() => document.documentElement.classList.add('dark'));
      violations.push(...(await runAxe(page, 'dark', { runOnly: ['color-contrast'] })));
      expect(violations).toEqual([]);
      await page.keyboard.press('ArrowLeft');
      expect(await shownCode(page)).toEqual(['TypeScript: ts']);
      await page.context().close();
    });

    it('scrolls a wide table on a phone instead of breaking its words', async () => {
      const page = await browser.newPage();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${site.origin}/reference/host-options.html`);
      const lines = await page
        .locator('td:first-child code')
        .evaluateAll((names) => names.map((name) => name.getClientRects().length));
      expect(lines.length).toBeGreaterThan(10);
      expect(Math.max(...lines)).toBe(1);
      await page.close();
    });

    it.each(Object.entries(pageOf))(
      'finds the page for the query "%s" first: %s',
      async (query, expected) => {
        const [first] = await search('/', query);
        expect(first).toBe(expected);
      },
    );

    it('finds declarations on the pages of the API, and only there', async () => {
      const isOfApi = (link: string): boolean => link.startsWith('/api/');
      const onApiPages = await search('/api/', 'createSagaHost');
      expect(onApiPages.filter((link) => !isOfApi(link))).toEqual([]);
      const onOthers = await search('/start/', 'createSagaHost');
      expect(onOthers.filter(isOfApi)).toEqual([]);
    });

    /** Types a query into the search box of a page. Returns the pages of the results. */
    async function search(path: string, query: string): Promise<readonly string[]> {
      const page = await browser.newPage();
      await page.goto(site.origin + path);
      await page.locator('.VPNavBarSearch button').first().click();
      // The query comes at once, so there are no results of its first letters.
      await page.locator('#localsearch-input').fill(query);
      const results = page.locator('.VPLocalSearchBox a.result');
      await results.first().waitFor();
      const links = await results.evaluateAll((all) =>
        all.map((link) => new URL((link as HTMLAnchorElement).href).pathname),
      );
      await page.close();
      return links.map((link) => link.replace(/(?:index)?\.html$/, ''));
    }

    it('finds a page on a phone, in a search dialog without accessibility violations, light and dark', async () => {
      const page = await browser.newPage();
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${site.origin}/tutorial/`);
      await page.addStyleTag({
        content: '* { transition: none !important; animation: none !important }',
      });
      await page.locator('.VPNavBarSearch button').first().click();
      await page.locator('#localsearch-input').fill('upgradeEverywhere');
      const result = page
        .locator('.VPLocalSearchBox .result[href*="/guides/changing-code"]')
        .first();
      await result.waitFor();
      const violations = await runAxe(page, 'light', {});
      await page.evaluate(() => document.documentElement.classList.add('dark'));
      violations.push(...(await runAxe(page, 'dark', { runOnly: ['color-contrast'] })));
      expect(violations).toEqual([]);
      await result.click();
      await page.waitForURL('**/guides/changing-code.html*');
      await page.close();
    });

    it('shows a complete file of the tutorial when its reader opens the summary', async () => {
      const page = await browser.newPage();
      await page.goto(`${site.origin}/tutorial/undo.html`);
      const file = page
        .locator('details', { hasText: 'refund.test.ts' })
        .locator('.language-ts pre');
      expect(await file.isVisible()).toBe(false);
      await page.locator('summary', { hasText: 'refund.test.ts' }).click();
      await file.waitFor();
      expect(await file.textContent()).toContain("import { refund } from './refund.ts';");
      await page.close();
    });

    it('keeps the chosen color scheme', async () => {
      const page = await browser.newPage();
      await page.goto(`${site.origin}/operate/fleet.html`);
      const isDark = (): Promise<boolean> =>
        page.evaluate(() => document.documentElement.classList.contains('dark'));
      expect(await isDark()).toBe(false);
      await page.locator('.VPNavBarAppearance .VPSwitchAppearance').click();
      expect(await isDark()).toBe(true);
      await page.reload();
      expect(await isDark()).toBe(true);
      await page.locator('.VPNavBarAppearance .VPSwitchAppearance').click();
      expect(await isDark()).toBe(false);
      await page.close();
    });
  },
);
