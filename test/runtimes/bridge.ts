/**
 * Forwards requests to the server in a page, because a page cannot listen:
 * `bridge.ts CHROMIUM SCRIPT`. Streams each response body in parts, and ends when the page throws.
 */
import { serve } from 'srvx';
import { openPage } from './open-page.ts';

const [executablePath = '', script = ''] = process.argv.slice(2);
const env = { SAGA_KEYS: process.env['SAGA_KEYS'] ?? '' };
const { page } = await openPage(executablePath, process.cwd(), script);
page.on('pageerror', (error) => {
  console.error(error);
  process.exit(1);
});
// Playwright closes the browser on SIGTERM.
page.context().on('close', () => process.exit());

async function answer(request: Request): Promise<Response> {
  const started = page.evaluateHandle(() => globalThis.startExchange());
  const abort = async (): Promise<void> => await (await started).evaluate((each) => each.abort());
  request.signal.addEventListener('abort', () => void abort());
  const exchange = await started;
  const body = new Uint8Array(await request.arrayBuffer());
  const init = {
    method: request.method,
    headers: [...request.headers],
    // A GET request must not have a body, not even an empty one.
    ...(body.length === 0 ? {} : { body }),
  };
  const { hasBody, ...head } = await exchange.evaluate(
    (each, sent) => each.send(sent.url, sent.init, sent.env),
    { url: request.url, init, env },
  );
  const parts = new ReadableStream({
    pull: async (controller) => {
      const part = await exchange.evaluate((each) => each.read());
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
    cancel: abort,
  });
  return new Response(hasBody ? parts : null, head);
}

const server = serve({ fetch: answer, hostname: '127.0.0.1', port: 0, silent: true });
await server.ready();
console.log(`Serves at ${server.url}`);
