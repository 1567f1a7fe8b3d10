/**
 * Prints timed figures of the playground in Chromium: `pnpm bench:page [FOLDER …]`. Other work on
 * the machine changes them, so compare folders of built pages, which take turns. Default: the built
 * page of this repository.
 */
import { loadavg } from 'node:os';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import { toFragment } from '../../packages/studio/src/parts/link.ts';
import { findChromium } from '../support/find-chromium.ts';
import { setup, studioApp } from './build-site.ts';
import { longSaga } from './long-saga.ts';
import { serveSite } from './serve-site.ts';

const loads = Number(process.env['LOADS'] ?? 7);
const steps = 1_000;
const stepsOfTurn = 20;
const scrolls = 120;

const executablePath = findChromium();
if (executablePath === undefined) throw new Error('Chromium is not on PATH.');

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

async function launch(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
  ];
  return await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args,
  });
}

/**
 * Opens the page in a new browser. Returns the time of the first result and of the editor, in
 * milliseconds.
 */
async function firstRun(
  origin: string,
): Promise<{ readonly run: number; readonly editor: number }> {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.addInitScript(() => {
      const seen: Record<string, number> = {};
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        for (const selector of ['.verdict', '.cm-content'])
          if (document.querySelector(selector) !== null) seen[selector] ??= performance.now();
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${origin}/index.html`);
    await page.locator('.verdict').waitFor();
    await page.locator('.cm-content').waitFor();
    const seen = await page.evaluate(
      () => (globalThis as unknown as { seen: Record<string, number> }).seen,
    );
    return { run: seen['.verdict'] ?? Number.NaN, editor: seen['.cm-content'] ?? Number.NaN };
  } finally {
    await browser.close();
  }
}

interface Frames {
  readonly times: readonly number[];
  /** Processor time of the main thread for a frame, in milliseconds. */
  readonly work: number;
}

async function taskSeconds(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
}

/** Measures the frames while something happens. */
async function framesDuring(
  page: Page,
  cdp: CDPSession,
  act: () => Promise<unknown>,
): Promise<Frames> {
  await page.evaluate(() => {
    const frames: number[] = [];
    let before = performance.now();
    Object.assign(globalThis, { frames });
    requestAnimationFrame(function tick(now) {
      frames.push(now - before);
      before = now;
      if ((globalThis as unknown as { frames?: unknown }).frames === frames)
        requestAnimationFrame(tick);
    });
  });
  const before = await taskSeconds(cdp);
  await act();
  const after = await taskSeconds(cdp);
  const [, ...times] = await page.evaluate(() => {
    const { frames } = globalThis as unknown as { frames: readonly number[] };
    Object.assign(globalThis, { frames: undefined });
    return frames;
  });
  return { times, work: ((after - before) * 1_000) / times.length };
}

async function scroll(page: Page, selector: string): Promise<void> {
  await page.evaluate(
    async ([css, count]) => {
      const box = document.querySelector(css);
      if (box === null) throw new Error(`${css} is missing.`);
      for (let frame = 1; frame <= count; frame += 1) {
        await new Promise(requestAnimationFrame);
        box.scrollTop = ((box.scrollHeight - box.clientHeight) * frame) / count;
      }
    },
    [selector, scrolls] as const,
  );
}

/** Measures the frames of the page with a long run. */
async function longRun(origin: string, row: (name: string, frames: Frames) => void): Promise<void> {
  const browser = await launch();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    // tsx adds calls of this function.
    await page.addInitScript('globalThis.__name = (named) => named');
    const session = { answers: [], forks: [] };
    const fragment = await toFragment({
      example: 'refund',
      files: longSaga(steps, stepsOfTurn),
      session,
    });
    await page.goto(`${origin}/index.html${fragment}`);
    await page.locator('.cm-content').waitFor();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    const measure = async (name: string, act: () => Promise<unknown>): Promise<void> =>
      row(name, await framesDuring(page, cdp, act));
    await measure('nothing happens', () => page.waitForTimeout(1_000));
    await page.getByRole('button', { name: 'Run this code' }).click();
    await page.locator('.cell').first().waitFor();
    await measure('an answer runs the steps', async () => {
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.locator('.event.ran').last().waitFor({ state: 'attached', timeout: 60_000 });
    });
    await measure('the crash matrix grows', () => page.waitForTimeout(5_000));
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await measure('the ladder scrolls', () => scroll(page, '.run'));
    await measure('the source scrolls', () => scroll(page, '.cm-scroller'));
    await measure('the crash matrix scrolls', () => scroll(page, '.matrix'));
    await measure('the lens of the last token opens', async () => {
      await page.locator('.token > details > summary').last().click();
      await page.locator('.lens .journal li').last().waitFor({ state: 'attached' });
    });
    await measure('the ladder scrolls with an open lens', () => scroll(page, '.run'));
    console.log(`${await page.evaluate(() => document.querySelectorAll('*').length)} elements`);
  } finally {
    await browser.close();
  }
}

const folders = process.argv.slice(2);
if (folders.length === 0) await setup();
const built = folders.length === 0 ? [studioApp] : folders;
const sites = await Promise.all(built.map((folder) => serveSite(folder)));
const found = built.map((): Awaited<ReturnType<typeof firstRun>>[] => []);
for (let load = 0; load < loads; load += 1)
  for (const [at, { origin }] of sites.entries()) found[at]?.push(await firstRun(origin));
for (const [at, { origin }] of sites.entries()) {
  console.log(`\n${built[at]}, load of the machine ${loadavg()[0]?.toFixed(1)}`);
  for (const what of ['run', 'editor'] as const) {
    const times = found[at]?.map((each) => Math.round(each[what])) ?? [];
    console.log(`first ${what}: median ${median(times)} ms of ${times.join(', ')}`);
  }
  await longRun(origin, (name, { times, work }) => {
    const longest = Math.max(...times).toFixed(0);
    console.log(
      `${name}: median frame ${median(times).toFixed(1)} ms, longest ${longest} ms, work ${work.toFixed(1)} ms a frame`,
    );
  });
}
await Promise.all(sites.map((site) => site.close()));
