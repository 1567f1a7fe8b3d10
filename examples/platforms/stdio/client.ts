/** Starts a server, ends the process while a saga waits, and continues with another process. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SagaGone, type SuspendedSaga } from '@mcp-saga/client';
import { begin, createClient, end, goOn, orderUmbrellas } from '@mcp-saga/example-order/client';
import { generateKey } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

interface McpConfig {
  readonly mcpServers: { readonly orders: { readonly command: string; readonly args: string[] } };
}

const folder = new URL('.', import.meta.url);
const config = JSON.parse(await readFile(new URL('mcp.json', folder), 'utf8')) as McpConfig;

const { command, args } = config.mcpServers.orders;
// Later processes load the server as this process was loaded, which may be faster.
const laterArgs = [...process.execArgv, ...args.slice(-1)];

/**
 * Starts the server with these keys for `${SAGA_KEYS}`, and ends the server after `use`.
 *
 * @param by - arguments of the command
 */
async function withServer<T>(
  keys: string | undefined,
  use: (client: Client) => Promise<T>,
  by = laterArgs,
): Promise<T> {
  const client = createClient();
  const transport = new StdioClientTransport({
    command,
    args: by,
    cwd: fileURLToPath(folder),
    env: keys === undefined ? {} : { SAGA_KEYS: keys },
  });
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const [old, young] = [generateKey('k1'), generateKey('k2')];
const orderAndBegin = async (client: Client): Promise<SuspendedSaga> => {
  await orderUmbrellas(client);
  return await begin(client);
};
const begun = await withServer(old, orderAndBegin, args);
// Only one process runs at a time, so the new key may seal at once.
const asked = await withServer(`${young},${old}`, (client) => goOn(client, begun));
await withServer(young, (client) => end(client, asked));
console.log('Three processes in sequence, with two keys, served one saga.');

// The user is the owner of the process. Separate keys separate users.
await withServer(undefined, (other) => assert.rejects(end(other, asked), SagaGone));
console.log('A process without the key cannot continue the saga.');
