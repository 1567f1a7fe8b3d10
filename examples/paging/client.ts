/** A client without capabilities, like most: calls tools, and passes results to its model. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { startShop } from './shop.ts';

const shop = await startShop();
const folder = new URL('.', import.meta.url);
const environment = { SAGA_KEYS: generateKey(), SHOP_URL: shop.url };
const servers = await Promise.all([
  startServer('A', { folder, environment }),
  startServer('B', { folder, environment }),
]);

interface Turn {
  /** Text of a result, without the instructions for the model. */
  readonly shown: string;
  readonly token: string | undefined;
}

/** Calls a tool until the result is final, and alternates between the servers. */
async function callToTheEnd(name: string, args: Record<string, unknown>): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  let more: { readonly resumeToken?: string } = {};
  for (;;) {
    const server = servers[turns.length % 2 === 0 ? 0 : 1];
    const client = await connect(server.url, {});
    const result = await client.callTool({ name, arguments: { ...args, ...more } });
    assert(result.isError !== true);
    const { nextResumeToken: token } = result as { readonly nextResumeToken?: string };
    const texts = result.content.map((block) => (block.type === 'text' ? block.text : ''));
    if (token !== undefined) {
      assert(texts.pop()?.endsWith(token), 'a model finds the token in the text');
      more = { resumeToken: token };
    }
    turns.push({ shown: texts.join('\n'), token });
    console.log(`${server.name} says: ${turns.at(-1)?.shown.replace(/\n[^]*\n/, ' … ')}`);
    if (token === undefined) return turns;
    await delay(retryAfterOf(result));
  }
}

/** Wait in milliseconds before the next call, for hosts that do not parse the text. */
function retryAfterOf({ _meta }: CallToolResult): number {
  const hints = _meta?.['io.github.mcp-saga/saga'] as
    | { readonly retryAfterMs?: number }
    | undefined;
  return hints?.retryAfterMs ?? 0;
}

const pages = await callToTheEnd('list_orders', {});
assert.equal(pages.length, 5);
const orders = pages.flatMap(({ shown }) => shown.split('\n'));
assert.deepEqual(
  orders.map((order) => Number(/\d+/.exec(order)?.[0])),
  Array.from({ length: 100 }, (_, index) => index + 1),
  'every order, once',
);
assert(
  [...shop.asked].every(([, times]) => times === 1),
  'each page was fetched once',
);
const sizes = pages.flatMap(({ token }) => token?.length ?? []);
assert(Math.max(...sizes) < 1.2 * Math.min(...sizes), 'each token holds one page');
console.log(`100 orders in ${pages.length} pages; each token has about ${sizes[0]} bytes.\n`);

const turns = await callToTheEnd('add_product', { name: 'umbrella' });
assert(turns.some(({ shown }) => shown.endsWith('not found yet.')));
assert.equal(turns.at(-1)?.shown, 'product-1 is added, and the search finds it.');
assert.equal(shop.asked.get('POST /products/umbrella'), 1, 'it was added once');
assert.equal(shop.asked.get('GET /search/umbrella'), 4);

await Promise.all([...servers.map((server) => server.stop()), shop.stop()]);
