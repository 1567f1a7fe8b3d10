import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callSaga } from '@mcp-saga/client';
import { createSagaHost, elicit, generateKey, saga } from '@mcp-saga/server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createStudio, type StudioState } from 'mcp-saga/studio';
import { chromium, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { toFragment } from '../../packages/studio/src/parts/link.ts';
import { machineSaga } from '../../packages/studio/test/machine-saga.ts';
import { isRunning, root, start, type Command } from '../support/command.ts';
import { describeWith } from '../support/describe-with.ts';
import { findChromium } from '../support/find-chromium.ts';
import { buildLiveStudio } from './build-site.ts';
import { longestWait } from '../support/patience.ts';
import { findOverflow, runAxe } from './visit-page.ts';

const executablePath = findChromium();

const refund = (word: string): string => `
import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
export const refund = saga(
  { name: 'refund', version: '1', input: z.object({ order: z.string() }) },
  function* ({ order }) {
    const { euros } = yield* elicit('amount', {
      message: 'How much of ' + order + '?',
      schema: z.object({ euros: z.number() }),
    });
    yield* step('pay', () => euros, { compensate: () => undefined });
    yield* elicit('reason', { message: 'Why?', schema: z.object({ text: z.string() }) });
    return '${word} ' + euros + ' EUR';
  },
);
export const note = saga({ name: 'note', version: '1', reuse: 'ok' }, function* () {
  const { text } = yield* elicit('text', { message: 'Which note?', schema: z.object({ text: z.string() }) });
  return 'Noted: ' + text;
});
`;

const greet = saga({ name: 'greet', version: '1', reuse: 'ok' }, function* () {
  const { name } = yield* elicit('name', {
    message: 'Your name?',
    schema: z.object({ name: z.string() }),
  });
  return `Hello, ${name}`;
});

const missing = executablePath === undefined ? 'no Chromium on PATH' : undefined;

describeWith('the studio of mcp-saga dev', missing, () => {
  let folder: string;
  let dev: Command;
  let origin: string;
  let browser: BrowserContext;
  /** Console errors, failed requests, and thrown errors of all pages. */
  const errors: string[] = [];

  beforeAll(async () => {
    await buildLiveStudio();
    folder = await mkdtemp(join(tmpdir(), 'mcp-saga-live-'));
    await symlink(
      fileURLToPath(new URL('../../packages/cli/node_modules', import.meta.url)),
      join(folder, 'node_modules'),
    );
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    const bin = ['--import', 'tsx', 'packages/cli/src/bin.ts'];
    const args = [...bin, 'dev', '--port', '0', join(folder, 'sagas.ts')];
    // All tests of this file use the server.
    dev = start(process.execPath, args, { SAGA_KEYS: undefined }, root, 3 * longestWait);
    const [url = ''] = await dev.printed(/http\S+(?=\/studio\/)/);
    origin = url;
    browser = await chromium.launchPersistentContext(join(folder, 'profile'), {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
      headless: true,
      env: { ...process.env, HOME: folder },
      reducedMotion: 'reduce',
      colorScheme: 'light',
      viewport: { width: 1440, height: 900 },
    });
    browser.setDefaultTimeout(longestWait);
  });
  afterAll(async () => {
    await browser?.close();
    if (dev !== undefined) {
      if (isRunning(dev.pid)) process.kill(dev.pid, 'SIGINT');
      await dev.ended;
    }
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function open(): Promise<Page> {
    const page = await browser.newPage();
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(`${origin}/studio`);
    await page.getByRole('heading', { name: 'Start a saga' }).waitFor();
    return page;
  }

  const verdict = (page: Page, text: string): Promise<void> =>
    page.locator('.verdict').filter({ hasText: text }).waitFor();
  const question = (page: Page, id: string): Locator =>
    page.locator(`.run > form[aria-label="Question ${id}"]`);

  const summary = (page: Page, tool: string): Locator =>
    page.locator('.start summary').filter({ hasText: tool });

  async function startRefund(page: Page, order: string): Promise<void> {
    await summary(page, 'refund').click();
    await page.getByLabel('order').fill(order);
    await page
      .getByRole('button', { name: 'Start', exact: true })
      .and(page.locator(':visible'))
      .click();
    await question(page, 'amount').getByText(`How much of ${order}?`).waitFor();
  }

  async function answer(page: Page, id: string, field: string, value: string): Promise<void> {
    await question(page, id).getByLabel(field).fill(value);
    await question(page, id).getByRole('button', { name: 'Accept' }).click();
  }

  /**
   * Returns what axe reports, and what overflows, on a desktop and on a phone, in light and dark
   * colors.
   */
  async function violationsOf(page: Page): Promise<readonly string[]> {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Colors are the only difference.
      const rules = colorScheme === 'light' ? {} : { runOnly: ['color-contrast'] };
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 850 });
        found.push(
          ...(await runAxe(page, colorScheme, rules)),
          ...(await findOverflow(page, String(width))),
        );
      }
    }
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 1440, height: 900 });
    return found;
  }

  it('runs a saga from the page, shows its turns, and keeps it open over a change of the code', async () => {
    const page = await open();
    await startRefund(page, 'A7');
    await answer(page, 'amount', 'euros', '12');
    await question(page, 'reason').waitFor();
    expect(await page.locator('.event.ran b').textContent()).toBe('pay');
    // The source stands beside the run, with the values of its lines.
    await page.locator('.lit.done[data-value="12"]').getByText("step('pay'").waitFor();
    await page.locator('.lit.open').getByText("elicit('reason'").waitFor();
    await writeFile(join(folder, 'sagas.ts'), refund('Paid back'));
    await page.getByText('code reloaded once').waitFor();
    await page.locator('.cm-line').getByText('Paid back').waitFor();
    const reason = 'The vase is broken. '.repeat(20);
    await answer(page, 'reason', 'text', reason);
    await verdict(page, 'completed');
    expect(await page.locator('.event.completed').textContent()).toContain('Paid back 12 EUR');

    await page.getByText('Go back to token 1').click();
    await page.getByRole('button', { name: 'Send as a fork' }).first().click();
    const refusal = page
      .locator('.token .failure')
      .filter({ hasText: 'Invalid or expired sagaToken' });
    await refusal.filter({ hasText: 'The log of the operator says used' }).waitFor();

    // A step has its time in the turn, a long value opens, and the list has a filter.
    const step = page.locator('.event.ran');
    expect(await step.locator('.time').textContent()).toMatch(/^\d+ ms$/);
    const bar = await step.locator('.time').evaluate((element) => {
      const { left, width } = getComputedStyle(element, '::before');
      return { left: parseFloat(left), width: parseFloat(width), whole: element.clientWidth };
    });
    expect(bar.left).toBeGreaterThanOrEqual(0);
    expect(bar.width).toBeGreaterThan(0);
    expect(bar.left + bar.width).toBeLessThanOrEqual(bar.whole + 1);
    const long = page.locator('.event.answered').filter({ hasText: reason }).locator('.value');
    const cut = await long.evaluate(({ clientHeight }) => clientHeight);
    await long.click();
    expect(await long.evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThan(cut);

    await page.locator('.run > .test summary').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Diagram as SVG' }).click(),
    ]);
    const picture = await readFile(await download.path(), 'utf8');
    expect(picture).toMatch(
      /<title>refund<\/title>.*call refund.*asked amount How much of A7\?.*result Paid/s,
    );

    await page.getByRole('button', { name: 'Run again' }).click();
    await question(page, 'amount').filter({ hasText: 'How much of A7?' }).waitFor();
    await verdict(page, 'waits');
    await page.close();
  });

  it('shows a rejected answer and the repeated question as a request of the same run', async () => {
    const capped = `export const capped = saga({ name: 'capped', version: '1' }, function* () {
  const schema = z.object({ euros: z.number().max(9) });
  const { euros } = yield* elicit('amount', { message: 'How much?', schema });
  return 'Paid ' + euros;
});`;
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded') + capped);
    const page = await open();
    await summary(page, 'capped').click();
    await page
      .getByRole('button', { name: 'Start', exact: true })
      .and(page.locator(':visible'))
      .click();
    await question(page, 'amount').waitFor();
    await answer(page, 'amount', 'euros', '10');
    await page.locator('.event.asked').filter({ hasText: '<=9' }).waitFor();
    await answer(page, 'amount', 'euros', '8');
    await verdict(page, 'capped: completed');
    const titles = await page.locator('.turns h3').allTextContents();
    expect(titles.map((title) => title.slice(0, 6))).toEqual(['Turn 1', 'Turn 2', 'Turn 2']);
    expect(await page.locator('.run .tabs [aria-pressed]').count()).toBe(1);
    // Each token follows its request.
    const order = await page
      .locator('.turns > li')
      .evaluateAll((each) => each.map((li) => li.textContent ?? ''));
    expect(order.map((text) => /Token \d/.exec(text)?.[0])).toEqual([
      'Token 1',
      'Token 2',
      undefined,
    ]);
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await summary(page, 'capped').waitFor({ state: 'detached' });
    await page.close();
  });

  it('names the mistake in changed code on both pages, until the code is repaired', async () => {
    const pages = [await open(), await browser.newPage()];
    await pages[1]?.goto(`${origin}/studio/playground#example=note`);
    await pages[1]?.locator('.cm-content').waitFor();
    await writeFile(join(folder, 'sagas.ts'), `const = 1;${refund('Refunded')}`);
    const late = await browser.newPage();
    await late.goto(`${origin}/studio/playground#example=note`);
    pages.push(late);
    for (const page of pages)
      await page.getByRole('alert').filter({ hasText: 'the old code keeps serving' }).waitFor();
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    for (const page of pages) {
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await page.close();
    }
  });

  it('shows the turns of another client with its values, but no form to answer', async () => {
    const page = await open();
    const client = new Client(
      { name: 'tester', version: '3' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    const contents = [{ euros: 5 }, { text: 'her reason' }];
    const elicitation = async (): Promise<{
      action: 'accept';
      content: Record<string, string | number>;
    }> => {
      if (contents.length === 2) {
        const entry = page.getByRole('button', { name: /refund .* turn 1, waits .* tester 3/ });
        await entry.click();
        await verdict(page, 'waits');
        expect(await page.locator('.run form').count()).toBe(0);
      }
      return { action: 'accept', content: contents.shift() ?? {} };
    };
    await callSaga(
      client,
      { name: 'refund', arguments: { order: 'B8' } },
      { handlers: { elicitation } },
    );
    await verdict(page, 'completed');
    // A reader of the source keeps the place while other sagas run.
    await page.setViewportSize({ width: 1440, height: 360 });
    await page.locator('.cm-scroller').evaluate((each) => each.scrollTo(0, 7));
    const other = { action: 'accept', content: { text: 'other' } } as const;
    await callSaga(client, { name: 'note' }, { handlers: { elicitation: async () => other } });
    await page
      .getByRole('button', { name: /note .* completed/ })
      .first()
      .waitFor();
    expect(await page.locator('.cm-scroller').evaluate((each) => each.scrollTop)).toBe(7);
    // On a phone, a click on a saga shows the run below the list.
    await page.setViewportSize({ width: 390, height: 500 });
    await page.evaluate(() => scrollTo(0, 0));
    const top = (): Promise<number> =>
      page.locator('.verdict').evaluate((each) => each.getBoundingClientRect().top);
    expect(await top()).toBeGreaterThan(500);
    await page.getByRole('button', { name: /refund .* tester 3/ }).click();
    await expect.poll(top).toBeLessThan(500);
    await page.setViewportSize({ width: 1440, height: 900 });
    await client.close();
    expect(await page.locator('.turns h3').first().textContent()).toContain('tester 3');
    const run = await page.locator('.run').textContent();
    const filter = page.getByLabel('Filter the sagas');
    await filter.fill('Tester');
    expect(await page.locator('.seen li').count()).toBe(2);
    await filter.fill('no such saga');
    expect(await page.locator('.seen li').count()).toBe(0);
    await filter.fill('');
    for (const value of ['{"order":"B8"}', 'How much of B8?', '{"euros":5}', 'her reason', '5 EUR'])
      expect(run).toContain(value);
    await page.getByRole('button', { name: 'Run again' }).click();
    await question(page, 'amount').filter({ hasText: 'How much of B8?' }).waitFor();
    await page.close();
  });

  it('kills the process between question and answer, and the answer continues the saga', async () => {
    const page = await open();
    await startRefund(page, 'K1');
    const status = page.locator('header [role=status]');
    const first = /process \d+/.exec((await status.textContent()) ?? '')?.[0] ?? '';
    await page.getByRole('button', { name: 'Kill this process' }).click();
    const killed = page.locator('.killed');
    await killed.getByText(first.replace('p', 'P')).waitFor();
    expect(await status.textContent()).not.toContain(first);
    expect(await violationsOf(page)).toEqual([]);
    // The list knows the sagas of the killed process, and the page its token.
    await page
      .getByRole('button', { name: /refund .* turn 1, waits/ })
      .first()
      .waitFor();
    await answer(page, 'amount', 'euros', '5');
    await answer(page, 'reason', 'text', 'broken');
    await verdict(page, 'refund: completed');
    const titles = await page.locator('.turns h3').allTextContents();
    expect(titles[0]).toContain(first);
    expect(titles[1]).toMatch(/process \d+$/);
    expect(titles[1]).not.toContain(first);
    // Polls that no process answered.
    const unanswered = /ERR_(?:CONNECTION_(?:RESET|REFUSED)|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/;
    expect(errors.splice(0).filter((error) => !unanswered.test(error))).toEqual([]);
    await page.close();
  });

  it('shows the configuration of each client for its server, to copy', async () => {
    await browser.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    const page = await open();
    await page.locator('summary').filter({ hasText: 'Connect a client' }).click();
    await page.getByLabel('Configuration of Claude Code').getByText(`"${origin}/mcp"`).waitFor();
    await page.getByLabel('Client', { exact: true }).selectOption('Codex');
    const shown = await page.getByLabel('Configuration of Codex').textContent();
    expect(shown).toContain(`url = "${origin}/mcp"`);
    await page.getByRole('button', { name: 'Copy the configuration' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(shown);
    await page.getByLabel('Client', { exact: true }).selectOption('Cursor (not tried)');
    await page.getByText('From the documentation of Cursor.').waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await browser.clearPermissions();
    await page.close();
  });

  it('opens a token of the page and a pasted one with the key of the server', async () => {
    const page = await open();
    await startRefund(page, 'T1');
    await page.locator('.token summary').filter({ hasText: 'Token 1' }).click();
    const lens = page.locator('.token .lens');
    await lens.filter({ hasText: 'refund version 1' }).waitFor();
    await lens.getByRole('list', { name: 'Journal' }).getByText('input').waitFor();
    const token = (await lens.locator('.raw code').allTextContents()).join('.');
    await page.locator('summary').filter({ hasText: 'Open a token' }).click();
    const field = page.getByLabel('Token of any client');
    const send = page.getByRole('button', { name: 'Open the token' });
    await field.fill(token);
    await send.click();
    const pasted = page.locator('.start .lens');
    await pasted.filter({ hasText: 'refund version 1' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await field.fill(token.slice(0, -9));
    await send.click();
    await page.locator('.start .failure').filter({ hasText: 'does not open' }).waitFor();
    expect(errors.splice(0)).toEqual([expect.stringContaining('422')]);
    await page.close();
  });

  it('resumes its calls after a reload of the page', async () => {
    const page = await open();
    await startRefund(page, 'R1');
    await page.reload();
    await answer(page, 'amount', 'euros', '7');
    await question(page, 'reason').waitFor();
    // The response of this request comes after the reload.
    await page.route('**/mcp', async (route) => void (await route.fetch()));
    await answer(page, 'reason', 'text', 'late');
    await page.locator('.turns h3').filter({ hasText: 'Turn 3' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.reload();
    await verdict(page, 'completed');
    await page.getByText('Go back to token 1').waitFor();
    await page.close();
  });

  it('declines, cancels, and forks a saga, with the keyboard alone', async () => {
    const page = await open();
    const press = async (target: Locator, key: string = 'Enter'): Promise<void> => {
      for (let presses = 0; presses < 60; presses += 1) {
        if (await target.evaluate((element) => element === document.activeElement)) {
          await page.keyboard.press(key);
          return;
        }
        await page.keyboard.press('Tab');
      }
      throw new Error(`${target.toString()} is not reached with Tab.`);
    };
    const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
    await press(summary(page, 'note'));
    await press(button('Start'));
    await question(page, 'text').waitFor();
    await press(button('Decline'));
    await verdict(page, 'failed');

    await press(button('Start'));
    await verdict(page, 'waits');
    await press(button('Cancel the saga'));
    await verdict(page, 'failed');
    await page.getByText('The client cancels the saga.').waitFor();

    await press(button('Start'));
    await verdict(page, 'waits');
    await press(button('Accept'));
    await verdict(page, 'completed');
    await press(page.locator('summary', { hasText: 'Go back to token 1' }));
    await press(button('Send as a fork'));
    await verdict(page, 'Fork 1 of token 1: completed');
    await press(page.getByLabel('Show the origin of the fork beside it'), 'Space');
    expect(await page.locator('.beside .ladder').count()).toBe(2);
    await press(button('Run'));
    await verdict(page, 'note: completed');
    await page.close();
  });

  it('sends a token without a question again, and moves through the events of a run', async () => {
    const page = await open();
    const pausing = `import { checkpoint } from '@mcp-saga/server';
export const pausing = saga({ name: 'pausing', version: '1', reuse: 'ok' }, function* () {
  yield* checkpoint();
  return yield* step('wake', () => 'awake');
});`;
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded') + pausing);
    await summary(page, 'pausing').click();
    await page
      .getByRole('button', { name: 'Start', exact: true })
      .and(page.locator(':visible'))
      .click();
    await verdict(page, 'pausing: completed');
    await page.getByText('Go back to token 1').click();
    await page.getByRole('button', { name: 'Send as a fork' }).click();
    await verdict(page, 'Fork 1 of token 1: completed');
    await page.locator('.lit.done[data-value="awake"]').waitFor();
    await page.getByRole('slider', { name: 'Run in time' }).press('Home');
    expect(
      await page.locator('.run > .slider').evaluate((each) => getComputedStyle(each).display),
    ).toBe('flex');
    await expect.poll(async () => await page.locator('.lit').count()).toBe(0);
    expect(await page.locator('.event:not(.later)').count()).toBe(0);
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await summary(page, 'pausing').waitFor({ state: 'detached' });
    await page.close();
  });

  it('shows messages of a saga and the link of an approval, whose answer continues the saga at once', async () => {
    const asking = `import { approval, log, progress } from '@mcp-saga/server';
export const asking = saga({ name: 'asking', version: '1' }, function* () {
  yield* progress(1, 3, 'looks it up');
  yield* log('info', { order: 7 });
  const { approved } = yield* approval('boss', {
    message: 'Pay 5 EUR?',
    link: 'accept',
    deliver: () => undefined,
    timeout: 86_400_000,
  });
  const { text } = yield* elicit('why', { message: 'Why?', schema: z.object({ text: z.string() }) });
  return (approved ? 'Paid, ' : 'Not paid, ') + text;
});`;
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded') + asking);
    const page = await open();
    await summary(page, 'asking').click();
    await page
      .getByRole('button', { name: 'Start', exact: true })
      .and(page.locator(':visible'))
      .click();
    await verdict(page, 'asking: waits');
    const said = await page.locator('.event.told').allTextContents();
    expect(said).toEqual(['progress: 1 of 3 looks it up', 'log: {"order":7}']);
    await page
      .locator('.event.waited')
      .getByText(/^waits for boss until \w+ /)
      .waitFor();
    const next = page.locator('.run > .next');
    await next
      .getByText(/the queue continues the saga when boss is decided, or (?:at|on) /)
      .waitFor();
    await page.locator('summary').filter({ hasText: 'Answer boss on a phone' }).click();
    await page.locator('.phone').getByText('Only this machine reaches the link.').waitFor();
    // The client gets no link: it leads outside.
    const link = page.locator('.event.effect').filter({ hasText: 'Pay 5 EUR?' }).getByRole('link');
    const [decision] = await Promise.all([page.waitForEvent('popup'), link.click()]);
    await decision.getByRole('button', { name: 'Approve' }).click();
    await decision.getByRole('button', { name: 'Yes, approve' }).click();
    await decision.getByText('Your answer was recorded').waitFor();
    // The queue takes the turn, and the page fetches its token to answer the question.
    await next.getByText(/^Only the client .* with an answer and token 3, until /).waitFor();
    await answer(page, 'why', 'text', 'broken');
    await page.locator('.turns h3').filter({ hasText: 'Turn 3 queue' }).waitFor();
    await verdict(page, 'asking: completed');
    await page
      .locator('.event.ran')
      .getByText(/^approved · holder of the link · /)
      .waitFor();
    expect(await page.locator('.run .tabs [aria-pressed]').count()).toBe(1);
    expect(await page.locator('.event.completed').textContent()).toContain('Paid, broken');
    expect(await page.locator('.verdict').textContent()).toMatch(/· [\d.]+ m?s$/);
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await summary(page, 'asking').waitFor({ state: 'detached' });
    await page.close();
  });

  it('draws a QR code of a link that a phone can reach', async () => {
    const page = await open();
    await page.route('**/studio/state?*', async (route) => {
      const response = await route.fetch();
      if (response.status() === 204) return await route.fulfill({ response });
      const state = (await response.json()) as StudioState;
      const turns = state.turns.map((turn) => {
        const event = { id: 'boss', kind: 'told', type: 'told', url: 'https://shop.example/1' };
        return { ...turn, events: [...turn.events, event] };
      });
      await route.fulfill({ response, json: { ...state, turns } });
    });
    await startRefund(page, 'Q1');
    await page.locator('summary').filter({ hasText: 'Answer boss on a phone' }).click();
    const code = page.getByRole('img', { name: 'QR code of the link of boss' });
    await code.waitFor();
    expect(await code.locator('path').getAttribute('d')).toMatch(/^(?:M\d+ \d+h1v1h-1z){100,}$/);
    expect(await violationsOf(page)).toEqual([]);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.close();
  });

  it('leaves a saga that the person has cancelled, and continues another one in time', async () => {
    const resting = `import { sleep } from '@mcp-saga/server';
export const resting = saga({ name: 'resting', version: '1', reuse: 'ok' }, function* () {
  yield* sleep(30_000);
  return 'rested';
});`;
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded') + resting);
    const page = await browser.newPage();
    await page.clock.install();
    await page.goto(`${origin}/studio`);
    await summary(page, 'resting').click();
    const begin = page
      .getByRole('button', { name: 'Start', exact: true })
      .and(page.locator(':visible'));
    await begin.click();
    await page.getByRole('button', { name: 'Cancel the saga' }).click();
    await verdict(page, 'failed');
    await begin.click();
    await verdict(page, 'waits');
    await page.clock.fastForward(31_000);
    // The time of the server does not move: the newest saga was resumed, and waits again.
    await page.locator('.turns h3').filter({ hasText: 'Turn 2' }).waitFor();
    await page
      .getByRole('button', { name: /resting .* failed/ })
      .first()
      .click();
    await verdict(page, 'failed');
    expect(await page.locator('.run .tabs').textContent()).not.toContain('Fork');
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await summary(page, 'resting').waitFor({ state: 'detached' });
    await page.close();
  });

  it('has no violation that axe reports, and fits a desktop and a phone, in light and dark colors', async () => {
    const page = await open();
    await startRefund(page, 'C9');
    await page.getByText('Token 1').first().click();
    expect(await violationsOf(page)).toEqual([]);
    await page.close();
  });

  it('breaks a saga of the file in the playground, compares its next version, and exports tests', async () => {
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    const page = await open();
    await startRefund(page, 'P1');
    await answer(page, 'amount', 'euros', '30');
    await question(page, 'reason').waitFor();
    await page.getByText('Open in the playground').click();
    const cells = page.locator('.cell');
    const consent = page.getByRole('region', { name: 'Effects' });
    await consent.filter({ hasText: '"order":"P1"' }).filter({ hasText: '"euros":30' }).waitFor();
    expect(await cells.count()).toBe(0);
    await page.getByRole('button', { name: 'Run this code' }).click();
    await page.getByRole('button', { name: /^dies after: broken/ }).click();
    const exported = page.getByRole('region', { name: 'Test' });
    const exportMenu = page.locator('summary').filter({ hasText: 'Export' });
    await exportMenu.click();
    await exported.filter({ hasText: ".crash.after('pay')" }).waitFor();

    // Values stand beside the code that asked for them.
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await question(page, 'reason').waitFor();
    await page.locator(`.lit[data-value='{"euros":30}']`).waitFor();
    expect(await violationsOf(page)).toEqual([]);

    // The next version cannot continue the token after the renamed step.
    await page.getByRole('button', { name: 'Pin this version' }).click();
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded').replace("'pay'", "'pay-out'"));
    await page.getByText('The next version cannot continue 1 token.').waitFor();
    await page.locator('.token > .failure').filter({ hasText: 'pay-out' }).waitFor();
    await answer(page, 'reason', 'text', 'broken vase');
    await verdict(page, 'The run: completed');
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await page.getByText('The next version can continue every token.').waitFor();
    await page.getByRole('button', { name: 'Run the next version' }).click();
    await verdict(page, 'The run: completed');

    await page
      .locator('summary')
      .filter({ hasText: /^Token 2/ })
      .click();
    await page.getByRole('button', { name: 'Change one character' }).click();
    await page.getByText('The log of the operator says').waitFor();
    await exportMenu.click();
    const test = (await exported.textContent()) ?? '';
    expect(test).toContain("import { refund } from './sagas.ts';");
    expect(test).toContain("testSaga(refund, { input: { order: 'P1' } })");
    await writeFile(join(folder, 'exported.test.ts'), test);
    const vitest = start(
      'node_modules/vitest/vitest.mjs',
      ['run', '--root', folder],
      {},
      root,
      longestWait,
    );
    expect(await vitest.ended).toMatchObject({ code: 0 });
    await page.close();
  });

  it('runs of a link only the arguments and answers that the consent shows', async () => {
    const answers = [{ id: 'amount', action: 'accept', content: { euros: 999 } }];
    const session = {
      input: '{"order":"L1"}',
      answers: [],
      forks: [{ lane: 0, point: 0, answers }],
    };
    const fragment = await toFragment({ example: 'refund', files: [], session });
    const page = await browser.newPage();
    await page.goto(`${origin}/studio/playground${fragment}`);
    const consent = page.getByRole('region', { name: 'Effects' });
    await consent
      .filter({ hasText: '"order":"L1"' })
      .filter({ hasText: 'Answers: none' })
      .waitFor();
    await page.getByText('How much of').first().waitFor();
    await page.getByRole('button', { name: 'Run this code' }).click();
    await question(page, 'amount').getByText('How much of L1?').waitFor();
    expect(await page.getByRole('button', { name: 'Fork 1' }).count()).toBe(0);
    expect(await page.locator('.run').textContent()).not.toContain('999');
    await page.close();
  });

  it('draws the machine of a saga of the file, and lights its states in time', async () => {
    await writeFile(join(folder, 'sagas.ts'), machineSaga);
    const page = await browser.newPage();
    await page.goto(`${origin}/studio/playground#example=refund`);
    await page.getByText('createMachine').first().waitFor();
    await page.getByRole('button', { name: 'Run this code' }).click();
    const lit = (state: string): Promise<void> =>
      page.locator(`.statechart .active[data-state="refund.${state}"]`).waitFor();
    await lit('asking');
    await page.getByRole('button', { name: 'Accept' }).click();
    await verdict(page, 'The run: completed');
    await lit('refunded');
    const slider = page.getByRole('slider', { name: 'Run in time' });
    await slider.press('ArrowLeft');
    await slider.press('ArrowLeft');
    await lit('telling');
    expect(await runAxe(page, 'light', {})).toEqual([]);

    // The changed machine of the next load.
    await slider.press('End');
    await writeFile(join(folder, 'sagas.ts'), machineSaga.replaceAll('refunded', 'paidBack'));
    await lit('paidBack');
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await page.locator('.cm-content').getByText('How much of').waitFor();
    await page.close();
  });

  it('stops endless code of a saga in the playground, and goes on after a change', async () => {
    const page = await browser.newPage();
    await writeFile(
      join(folder, 'sagas.ts'),
      refund('Refunded').replace('return', 'for (;;);\nreturn'),
    );
    await page.goto(`${origin}/studio/playground#example=note`);
    await page.getByText('for (;;)').first().waitFor();
    await page.getByLabel('Example').selectOption('refund');
    await page.getByRole('button', { name: 'Run this code' }).click();
    await answer(page, 'amount', 'euros', '3');
    await answer(page, 'reason', 'text', 'why not');
    await page.locator('.failure').filter({ hasText: 'did not end within 5 s' }).waitFor();
    const lost = "{ void Promise.reject(new Error('lost')); return euros; }";
    await writeFile(
      join(folder, 'sagas.ts'),
      refund('Refunded').replace('() => euros', `() => ${lost}`),
    );
    await page.locator('.failure').filter({ hasText: 'The engine stopped.' }).waitFor();
    expect(dev.output).toContain('Error: lost');
    await writeFile(join(folder, 'sagas.ts'), refund('Refunded'));
    await verdict(page, 'The run: completed');
    await page.close();
  });

  it('shows an operator the turns of an application, read-only', async () => {
    const host = createSagaHost({
      sagas: [greet],
      name: 'shop',
      keys: generateKey(),
      studio: createStudio(),
    });
    const server = createServer((request, response) => {
      void host
        .studio(new Request(`http://${request.headers.host}${request.url}`))
        .then(async (served) => {
          response.writeHead(served.status, Object.fromEntries(served.headers));
          response.end(Buffer.from(await served.arrayBuffer()));
        });
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    try {
      await host.start('greet', {});
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/ops/studio`);
      await page.getByRole('button', { name: /greet .* turn 1, waits/ }).click();
      await page.locator('.event.asked').getByText('name').waitFor();
      await page.getByText('read-only').waitFor();
      expect(await page.locator('form, input:visible:not([type=range])').count()).toBe(0);
      expect(await violationsOf(page)).toEqual([]);
      await page.close();
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('shows no error in the console', () => {
    expect(errors).toEqual([]);
  });
});
