import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { approval, createSagaHost, memoryStore, saga, type SagaHost } from '@mcp-saga/server';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rejectionLog } from '../support/known-logs.ts';
import { expectLogs } from '../support/logs.ts';
import { executablePath, openBrowser, type OpenedBrowser } from './browser.ts';

expectLogs(rejectionLog('malformed'));

const isSkipped = executablePath === undefined && process.env['CI'] !== 'true';

const Every = z.object({
  reason: z.string().min(3).meta({ title: 'Reason', description: 'Shown in the audit log' }),
  details: z.string().max(2000).optional(),
  amount: z.number().min(1).optional(),
  until: z.iso.date().optional(),
  notify: z.boolean().optional(),
  priority: z.enum(['low', 'high']),
  teams: z.array(z.enum(['billing', 'support'])).optional(),
});

const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

describe.skipIf(isSkipped)(
  isSkipped ? 'the answer page (skipped: no Chromium on PATH)' : 'the answer page, in Chromium',
  () => {
    let server: Server;
    let host: SagaHost;
    let browser: OpenedBrowser;
    const urls: string[] = [];

    beforeAll(async () => {
      server = createServer((request, response) => {
        const chunks: Uint8Array[] = [];
        request.on('data', (chunk: Uint8Array) => chunks.push(chunk));
        request.on('end', () => {
          const { method = 'GET', url = '/' } = request;
          const headers = Object.entries(request.headers).flatMap(
            ([name, value]): [string, string][] =>
              typeof value === 'string' ? [[name, value]] : [],
          );
          const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
          void host
            .answer(new Request(`${originOf(server)}${url}`, { method, headers, ...body }))
            .then(async (answer) => {
              response.writeHead(answer.status, [...answer.headers].flat());
              response.end(await answer.text());
            });
        });
      });
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
      const asks = saga({ name: 'asks', version: '1' }, function* () {
        const decision = yield* approval('go', {
          message:
            'Refund 1,000 € to a customer with a very-long-name-that-has-no-place-to-break-within-a-narrow-window?',
          schema: Every,
          link: 'accept',
          timeout: 86_400_000,
          deliver: ({ url }) => void urls.push(url),
        });
        return JSON.stringify(decision.answers[0]?.content);
      });
      host = createSagaHost({
        sagas: [asks],
        name: 'shop',
        keys: 'ephemeral',
        store: memoryStore(),
        url: originOf(server),
        limits: { maxHold: 0 },
        testing: { environment: 'test' },
      });
      browser = await openBrowser();
    });
    afterAll(async () => {
      await browser?.close();
      await new Promise((resolve) => void server?.close(resolve));
    });

    async function ask(): Promise<{ readonly token: string; readonly url: string }> {
      const turn = await host.start('asks', {});
      if (turn.status !== 'suspended') throw new Error(turn.status);
      return { token: turn.token, url: urls.at(-1) ?? '' };
    }

    async function open(options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext(options);
      return await context.newPage();
    }

    async function submit(page: Page, button: string): Promise<void> {
      const loaded = page.waitForEvent('load');
      await page.getByRole('button', { name: button }).click();
      await loaded;
    }

    it.each(['light', 'dark'] as const)(
      'the answer page has no accessibility violation that axe reports, in %s colors',
      async (colorScheme) => {
        const { url } = await ask();
        const page = await open({ colorScheme, viewport: { width: 390, height: 844 } });
        const errors: string[] = [];
        page.on('console', (message) => {
          // Statuses of error pages.
          if (message.type() === 'error' && !message.text().startsWith('Failed to load'))
            errors.push(message.text());
        });
        const check = async (): Promise<void> => {
          await page.evaluate(axeSource);
          const { violations } = await page.evaluate(() =>
            globalThis.axe.run(document as unknown as object, { resultTypes: ['violations'] }),
          );
          expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
          const [scroll, client] = await page.evaluate(() => {
            const { scrollWidth, clientWidth } = document.documentElement;
            return [scrollWidth, clientWidth] as const;
          });
          expect(scroll).toBeLessThanOrEqual(client);
        };
        await page.goto(url);
        await check();
        await page
          .getByRole('button', { name: 'Deny' })
          .evaluate((button) => button.setAttribute('value', 'approve'));
        await submit(page, 'Deny');
        expect(await page.getByRole('alert').count()).toBe(1);
        await check();
        await page.goto(`${url}x`);
        await check();
        await page.goto(`${url}?decision=deny`);
        await submit(page, 'Deny');
        await check();
        await submit(page, 'Yes, deny');
        expect(await page.title()).toBe('You denied');
        await check();
        expect(errors).toEqual([]);
        await page.close();
      },
    );

    it('the answer page works without JavaScript', async () => {
      const { url, token } = await ask();
      const page = await open({ javaScriptEnabled: false });
      await page.goto(url);
      await page.getByLabel('Reason').fill('Broken on arrival');
      await page.getByLabel('amount (optional)').fill('12.5');
      await page.getByLabel('until (optional)').fill('2027-01-31');
      await page.getByLabel('notify').check();
      await page.getByLabel('priority').selectOption('high');
      await page.getByLabel('support').check();
      await submit(page, 'Approve');
      expect(await page.locator('dl:not(.facts)').innerText()).toContain('Broken on arrival');
      await submit(page, 'Change');
      await submit(page, 'Approve');
      await submit(page, 'Yes, approve');
      expect(await page.title()).toBe('You approved');
      // Whoever opens the link later may be somebody else.
      await page.reload();
      expect(await page.title()).toBe('Approved');
      expect(JSON.stringify(await host.resume(token))).toContain(
        JSON.stringify(
          JSON.stringify({
            reason: 'Broken on arrival',
            amount: 12.5,
            until: '2027-01-31',
            notify: true,
            priority: 'high',
            teams: ['support'],
          }),
        ).slice(1, -1),
      );
      await page.close();
    });

    it('the answer page decides nothing by Enter, in any of its fields', async () => {
      const { url, token } = await ask();
      const page = await open();
      const posts: string[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') posts.push(request.postData() ?? '');
      });
      for (const field of ['amount (optional)', 'until (optional)', 'notify', 'priority']) {
        await page.goto(url);
        await page.getByLabel('Reason').fill('Broken on arrival');
        await page.getByLabel('priority').selectOption('high');
        await page.getByLabel(field).press('Enter');
        if (field.startsWith('amount')) expect(posts).toEqual([]);
        // From a date and a checkbox, Chromium presses the next button, which decides nothing.
        await page.waitForLoadState('load');
        await page.keyboard.press('Enter');
      }
      await page.goto(url);
      await page.getByLabel('Reason').fill('Broken on arrival');
      await page.getByLabel('priority').selectOption('high');
      await submit(page, 'Approve');
      await page.keyboard.press('Enter');
      expect(await page.title()).toBe('Approve this?');
      expect(posts.filter((post) => post.includes('decision'))).toEqual([]);
      expect(await host.resume(token)).toMatchObject({ status: 'suspended' });
      await page.close();
    });

    it('the answer page refuses the form of another page', async () => {
      const { url, token } = await ask();
      const page = await open();
      await page.route('https://evil.example/', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" action="${url}"><button name="decision" value="deny">Deny</button></form>`,
        }),
      );
      await page.goto('https://evil.example/');
      await submit(page, 'Deny');
      expect(await page.title()).toBe('Not sent from this page');
      expect(await host.resume(token)).toMatchObject({ status: 'suspended' });
      await page.close();
    });
  },
);

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
