import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page, Request } from 'playwright-core';

/** What a browser found on a page. */
export interface Visit {
  readonly path: string;
  /** Console errors, failed requests, and thrown errors. */
  readonly errors: readonly string[];
  /** Elements that make the page wider than the window, by window. */
  readonly overflows: readonly string[];
  /** Texts below 14 px. */
  readonly smallTexts: readonly string[];
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

const axeFile = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const axeSource = readFileSync(axeFile, 'utf8');
const blocksForAxe = 250;
const desktop = { width: 1280, height: 800 };
const mobile = { width: 390, height: 844 };

/** Parts that all pages of a section share. */
const navigation = ['.VPNav', '.VPSidebar'];

/** Files for the server of the site: Chromium keeps compiled code only of a script with an address. */
export const axeFiles: Readonly<Record<string, string>> = { '/axe.min.js': axeFile };

/** Looks of texts whose contrast axe has checked, by color scheme. */
export type CheckedLooks = Readonly<Record<'light' | 'dark', Set<string>>>;

/**
 * Opens a page at two widths and in two color schemes, and returns its problems.
 *
 * @param page - tab of a browser, which may have shown another page
 * @param checked - looks that earlier pages have had; those of this page are added
 * @param isFirst - `true` for the first page of a section: axe also checks the navigation
 */
export async function visitPage(
  page: Page,
  origin: string,
  path: string,
  checked: CheckedLooks,
  isFirst: boolean,
): Promise<Visit> {
  const errors: string[] = [];
  // The requests of the page before it fail when the tab leaves that page.
  const requests = new Set<Request>();
  page.on('request', (request) => requests.add(request));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('requestfailed', (request) => {
    const { errorText = 'no reason' } = request.failure() ?? {};
    // The browser itself gives up pages that it fetched ahead.
    if (!requests.has(request) || errorText === 'net::ERR_ABORTED') return;
    errors.push(`failed: ${request.url()} (${errorText})`);
  });
  try {
    await page.setViewportSize(desktop);
    await page.goto(origin + path, { waitUntil: 'load' });
    await page.locator('#app *').first().waitFor({ state: 'attached' });
    await page.addStyleTag({
      content: '* { transition: none !important; animation: none !important }',
    });
    // Complete files are collapsed, and would be hidden from axe.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const overflows = await findOverflow(page, 'desktop');
    const smallTexts = await findSmallTexts(page, 'desktop');
    const { links, ids } = await page.evaluate(() => ({
      links: [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].map(({ href }) => href),
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    }));
    await page.setViewportSize(mobile);
    overflows.push(...(await findOverflow(page, 'mobile')));
    smallTexts.push(...(await findSmallTexts(page, 'mobile')));
    // Generated pages are long and repeat the same elements: axe reads their first blocks.
    await page.evaluate((count) => {
      for (const block of [...document.querySelectorAll('.vp-doc > div > *')].slice(count))
        block.remove();
    }, blocksForAxe);
    await page.setViewportSize(desktop);
    await page.addScriptTag({ url: `${origin}/axe.min.js` });
    const exclude = isFirst ? [] : navigation;
    const others = { rules: { 'color-contrast': { enabled: false } } };
    const violations = await runAxe(page, 'light', others, exclude);
    violations.push(...(await runContrast(page, 'light', checked, exclude)));
    await page.evaluate(() => document.documentElement.classList.add('dark'));
    // Colors are the only difference.
    violations.push(...(await runContrast(page, 'dark', checked, exclude)));
    return {
      path,
      errors,
      overflows,
      smallTexts,
      violations,
      links: links.map((link) => (link.startsWith(origin) ? link.slice(origin.length) : link)),
      ids: new Set(ids),
    };
  } finally {
    for (const event of ['request', 'pageerror', 'console', 'requestfailed'])
      page.removeAllListeners(event);
  }
}

/**
 * Checks the contrast of one text for each look that no earlier page has had. The look consists of
 * what decides the contrast: the color and size of the text, and what is painted below it. Code has
 * thousands of words, and few looks.
 */
async function runContrast(
  page: Page,
  scheme: 'light' | 'dark',
  checked: CheckedLooks,
  exclude: readonly string[],
): Promise<string[]> {
  const seen = checked[scheme];
  const found = await page.evaluate(
    async ([known, without]) => {
      const below = new Map<Element, string>();
      /** What the element and its ancestors paint. */
      const paintOf = (element: Element): string => {
        const before = below.get(element);
        if (before !== undefined) return before;
        const parent = element.parentElement === null ? '' : paintOf(element.parentElement);
        const style = getComputedStyle(element);
        const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode } = style;
        const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join(' ');
        const isUnpainted = own === 'rgba(0, 0, 0, 0) none 1 none normal';
        const paint = isUnpainted ? parent : `${parent} > ${own}`;
        below.set(element, paint);
        return paint;
      };
      const lookOf = (element: Element): string => {
        const { color, fontSize, fontWeight, textShadow, position } = getComputedStyle(element);
        const { localName, className } = element;
        const text = [localName, className, color, fontSize, fontWeight, textShadow, position];
        return `${text.join(' ')} on ${paintOf(element)}`;
      };
      const looks = new Map<string, Element>();
      const skipped = new Set(known);
      for (const element of document.body.querySelectorAll('*')) {
        const hasText =
          element.matches('input, select, textarea') ||
          [...element.childNodes].some(
            ({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim() !== '',
          );
        if (!hasText || !element.checkVisibility()) continue;
        if (without.some((selector) => element.closest(selector) !== null)) continue;
        const look = lookOf(element);
        if (!skipped.has(look) && !looks.has(look)) looks.set(look, element);
      }
      const include = [...looks.values()];
      const { violations } =
        include.length === 0
          ? { violations: [] }
          : await globalThis.axe.run(
              { include, exclude: without },
              { resultTypes: ['violations'], runOnly: ['color-contrast'] },
            );
      return {
        looks: [...looks.keys()],
        violations: violations.map(({ id, nodes }) => ({
          id,
          nodes: nodes.map(({ html }) => ({ html })),
        })),
      };
    },
    [[...seen], exclude] as const,
  );
  for (const look of found.looks) seen.add(look);
  return found.violations.map((violation) => describeViolation(scheme, violation));
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

/** Finds the texts that are smaller than 14 px, a look each. */
async function findSmallTexts(page: Page, window: string): Promise<string[]> {
  const small = await page.evaluate(() => {
    const looks = new Map<string, string>();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() !== null) {
      const { parentElement: element, nodeValue: text } = texts.currentNode;
      if (element === null || text?.trim() === '' || !element.checkVisibility()) continue;
      const size = Number.parseFloat(getComputedStyle(element).fontSize);
      if (size >= 14 || element.closest('.visually-hidden, style, script') !== null) continue;
      looks.set(`${element.localName}.${element.className} ${size} px`, text?.trim() ?? '');
    }
    return [...looks].map(([look, text]) => `${look}: ${text.slice(0, 40)}`);
  });
  return small.map((text) => `${window}: ${text}`);
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
  return violations.map((violation) => describeViolation(scheme, violation));
}

function describeViolation(
  scheme: string,
  { id, nodes }: AxeResults['violations'][number],
): string {
  return `${scheme}: ${id}: ${nodes[0]?.html.slice(0, 200)} (${nodes.length})`;
}
