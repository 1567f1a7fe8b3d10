import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';

/** A page in a browser of its own. */
export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings of the console, thrown errors, and requests after the page was loaded. */
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
}

const html = '<!doctype html><title>mcp-saga</title><script type="module" src="/page.js"></script>';
const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/**
 * Opens a page with a script in Chromium. The page has an address on loopback, since WebCrypto
 * needs a secure context. Nothing listens there.
 *
 * @param folder - for the profile of the browser
 * @param script - path of a module
 */
export async function openPage(
  executablePath: string,
  folder: string,
  script: string,
): Promise<OpenPage> {
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath,
    args,
    headless: true,
    env: { ...process.env, HOME: folder },
  });
  const close = (): Promise<void> => context.close();
  try {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) problems.push(message.text());
    });
    const code = await readFile(script, 'utf8');
    await page.route('**', (route) =>
      route.request().url().endsWith('/page.js')
        ? route.fulfill({ contentType: 'text/javascript', body: code })
        : route.fulfill({ contentType: 'text/html', body: html }),
    );
    await page.goto('http://127.0.0.1/');
    page.on('request', (request) => problems.push(`request: ${request.url()}`));
    return { page, problems, close };
  } catch (error) {
    await close();
    throw error;
  }
}
