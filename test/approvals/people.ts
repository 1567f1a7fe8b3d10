import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

/** A person with a browser session of their own. */
export interface Person {
  readonly page: Page;
  /** Errors on the console of the browser, and thrown errors. */
  readonly errors: readonly string[];
  /** Opens a link, and returns the title of the page. */
  open(url: string | undefined): Promise<string>;
  /** Presses a button, confirms the answer, and returns the title of the next page. */
  press(button: 'Approve' | 'Deny'): Promise<string>;
  /** Number of buttons on the page. */
  countButtons(): Promise<number>;
}

/** A browser whose people have separate sessions. */
export interface People {
  /** Opens a browser window in which a user is signed in. */
  signIn(user: string, origin: string, options?: BrowserContextOptions): Promise<Person>;
  close(): Promise<void>;
}

/** Starts Chromium with a profile in a temporary folder. */
export async function startPeople(executablePath: string): Promise<People> {
  const profile = await mkdtemp(join(tmpdir(), 'mcp-saga-people-'));
  const browser: Browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    env: { ...process.env, HOME: profile },
  });
  return {
    signIn: async (user, origin, options) => {
      const context = await browser.newContext(options);
      await context.addCookies([{ name: 'session', value: user, url: origin, httpOnly: true }]);
      return personOf(await context.newPage());
    },
    close: async () => {
      await browser.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function personOf(page: Page): Person {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // Chromium reports the status of each page that refuses.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load'))
      errors.push(message.text());
  });
  return {
    page,
    errors,
    open: async (url) => {
      await page.goto(url ?? 'missing link');
      return await page.title();
    },
    press: async (button) => {
      for (const name of [button, `Yes, ${button.toLowerCase()}`])
        await Promise.all([
          page.waitForEvent('load'),
          page.getByRole('button', { name, exact: true }).click(),
        ]);
      return await page.title();
    },
    countButtons: () => page.getByRole('button').count(),
  };
}
