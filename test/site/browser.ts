import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chromium,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core';
import { expect } from 'vitest';
import { findChromium } from '../support/find-chromium.ts';
import { longestWait } from '../support/patience.ts';

/** The Chromium on PATH; undefined without one. */
export const executablePath: string | undefined = findChromium();

/** Window and colors of a page, if a test sets no other ones. */
const desktop = { width: 1440, height: 900 };
const colors = { reducedMotion: 'reduce', colorScheme: 'light' } as const;

/** A running Chromium. */
export interface OpenedBrowser {
  /** Opens pages that share no data with those of other contexts, but the clipboard. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

/** Starts Chromium. */
export async function openBrowser(): Promise<OpenedBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'mcp-saga-chromium-'));
  const browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    env: { ...process.env, HOME: home },
    timeout: longestWait,
  });
  const newContext = async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
    const context = await browser.newContext({
      ...colors,
      viewport: desktop,
      ...options,
    });
    context.setDefaultTimeout(longestWait);
    return context;
  };
  const close = async (): Promise<void> => {
    await browser.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { newContext, close };
}

/** Tabs of a context, in which tests show their pages one after the other. */
export interface Tabs {
  open(): Promise<Page>;
  /** Leaves the page of a tab for the next test. A test that fails keeps its tab. */
  leave(page: Page): Promise<void>;
}

/**
 * Lends the tabs of a context: to start a tab and its process takes longer than to load most pages.
 * A test that changes a page beyond its window and its listeners opens a tab of its own.
 */
export function tabsOf(context: BrowserContext): Tabs {
  const free: Page[] = [];
  return {
    open: async () => free.pop() ?? (await context.newPage()),
    async leave(page) {
      for (const event of ['console', 'pageerror', 'request'] as const)
        page.removeAllListeners(event);
      await page.goto('about:blank');
      await page.emulateMedia({ ...colors });
      await page.setViewportSize(desktop);
      await page.mouse.move(0, 0);
      free.push(page);
    },
  };
}

/** Shortest time limit of the playground for code, in milliseconds. */
const shortestLimitMs = 5_000;

declare global {
  /** Ends the running time limits of some milliseconds. Returns how many there were. */
  // oxlint-disable-next-line no-var -- a global of the page
  var endLimits: (limitMs: number) => number;
}

/**
 * Leaves it to the test when the time of code in the playground is over, in all pages of a context.
 * By the clock, a machine with other work would stop code that is not endless.
 */
export async function holdTimeLimits(context: BrowserContext): Promise<void> {
  await context.addInitScript((shortest) => {
    const { setTimeout: start, clearTimeout: clear } = globalThis;
    const limits = new Map<number, { readonly delay: number; readonly end: () => void }>();
    let newest = 0;
    const hold = (end: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): number => {
      if (delay < shortest) return Number(start(end, delay, ...args));
      // Timers of the browser have positive numbers.
      newest -= 1;
      limits.set(newest, { delay, end: () => end(...args) });
      return newest;
    };
    const release = (id?: number): void => {
      if (!limits.delete(id ?? 0)) clear(id);
    };
    const endLimits = (limitMs: number): number => {
      const due = [...limits].filter(([, { delay }]) => delay === limitMs);
      for (const [id, { end }] of due) {
        limits.delete(id);
        end();
      }
      return due.length;
    };
    Object.assign(globalThis, { setTimeout: hold, clearTimeout: release, endLimits });
  }, shortestLimitMs);
}

/**
 * Ends the 5 s of code that runs in a page until the page shows that it was stopped. A change of
 * the file starts the code anew, with new time.
 */
export async function endTimeOfCode(page: Page, stopped: Locator): Promise<void> {
  await expect
    .poll(async () => {
      // Playwright evaluates a function that it repeats in the page, which some pages forbid.
      await page.evaluate((limitMs) => globalThis.endLimits(limitMs), shortestLimitMs);
      return await stopped.isVisible();
    })
    .toBe(true);
}
