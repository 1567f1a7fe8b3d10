import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';

/**
 * Milliseconds that a page may take for what it must do: longer than any machine needs. Only a fault
 * takes as long.
 */
export const longestWaitMs = 240_000;

/** What a browser found on a page. */
export interface Visit {
  readonly path: string;
  /** Console errors, failed requests, and thrown errors. */
  readonly errors: readonly string[];
  /** Elements that make the page wider than the window, by window. */
  readonly overflows: readonly string[];
  /** Violations that axe reports, by color scheme. */
  readonly violations: readonly string[];
  /** Targets of the links, without the origin. */
  readonly links: readonly string[];
  /** Anchors of the page. */
  readonly ids: ReadonlySet<string>;
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

declare global {
  // oxlint-disable-next-line no-var -- a global of the page
  var axe: { run(context: object, options: object): Promise<AxeResults> };
}

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const blocksForAxe = 250;
const desktop = { width: 1280, height: 800 };
const mobile = { width: 390, height: 844 };

/** Parts that all pages of a section share. */
const navigation = ['.VPNav', '.VPSidebar'];

/**
 * Opens a page at two widths and in two color schemes, and returns its problems.
 *
 * @param isFirst - `true` for the first page of a section: axe also checks the navigation
 */
export async function visitPage(
  browser: BrowserContext,
  origin: string,
  path: string,
  isFirst: boolean,
): Promise<Visit> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('requestfailed', (request) => errors.push(`failed: ${request.url()}`));
  try {
    await page.setViewportSize(desktop);
    await page.goto(origin + path, { waitUntil: 'load' });
    await page.locator('#app *').first().waitFor({ state: 'attached' });
    await page.waitForFunction(() => !document.querySelector('figure.mermaid > pre'));
    await page.addStyleTag({
      content: '* { transition: none !important; animation: none !important }',
    });
    // Complete files are collapsed, and would be hidden from axe.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const overflows = await findOverflow(page, 'desktop');
    const { links, ids } = await page.evaluate(() => ({
      links: [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].map(({ href }) => href),
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    }));
    await page.setViewportSize(mobile);
    overflows.push(...(await findOverflow(page, 'mobile')));
    await page.setViewportSize(desktop);
    // Generated pages are long and repeat the same elements: axe reads their first blocks.
    await page.evaluate((count) => {
      for (const block of [...document.querySelectorAll('.vp-doc > div > *')].slice(count))
        block.remove();
    }, blocksForAxe);
    const exclude = isFirst ? [] : navigation;
    const violations = await runAxe(page, 'light', {}, exclude);
    await page.evaluate(() => document.documentElement.classList.add('dark'));
    // Colors are the only difference.
    violations.push(...(await runAxe(page, 'dark', { runOnly: ['color-contrast'] }, exclude)));
    return {
      path,
      errors,
      overflows,
      violations,
      links: links.map((link) => (link.startsWith(origin) ? link.slice(origin.length) : link)),
      ids: new Set(ids),
    };
  } finally {
    await page.close();
  }
}

/** Finds the element that makes the page wider than its window. */
export async function findOverflow(page: Page, window: string): Promise<string[]> {
  const wide = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return undefined;
    const scrolls = (element: Element): boolean =>
      element.parentElement?.closest('main') != null &&
      (['auto', 'scroll'].includes(getComputedStyle(element.parentElement).overflowX) ||
        scrolls(element.parentElement));
    const widest = [...document.querySelectorAll('main *')].find(
      (element) => element.getBoundingClientRect().right > clientWidth + 1 && !scrolls(element),
    );
    return `${scrollWidth} of ${clientWidth} px: ${widest?.outerHTML.slice(0, 100) ?? 'outside of main'}`;
  });
  return wide === undefined ? [] : [`${window}: ${wide}`];
}

/** Runs axe on the page as it is, without the elements of some selectors. */
export async function runAxe(
  page: Page,
  scheme: string,
  options: object,
  exclude: readonly string[] = [],
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate(
    ([rules, without]) =>
      globalThis.axe.run(
        { include: [document], exclude: without },
        { resultTypes: ['violations'], ...rules },
      ),
    [options, exclude] as const,
  );
  return violations.map(
    ({ id, nodes }) => `${scheme}: ${id}: ${nodes[0]?.html.slice(0, 200)} (${nodes.length})`,
  );
}
