import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';

/** Processor times of starts, as npm installs the packages: for people, since times vary. */
const starts = {
  'an empty process': '',
  "import '@mcp-saga/server'": `import '@mcp-saga/server';`,
  "import '@mcp-saga/xstate'": `import '@mcp-saga/xstate';`,
  "import '@mcp-saga/testing'": `import '@mcp-saga/testing';`,
  'first answer of a saga': `
    import { elicit, generateKey, saga } from '@mcp-saga/server';
    import { serveSagas } from '@mcp-saga/server/serve';
    import { z } from 'zod';
    const note = saga({ name: 'note', version: '1', input: z.object({ text: z.string() }) }, function* ({ text }) {
      const { sure } = yield* elicit('sure', { message: 'Keep it?', schema: z.object({ sure: z.boolean() }) });
      return sure ? text : 'Not kept.';
    });
    const server = serveSagas({ name: 'notes', version: '1', sagas: [note], keys: generateKey(), testing: { environment: 'production' } });
    await answer((request) => server.fetch(request));`,
  'first answer of the tool by hand': `
    import { randomBytes } from 'node:crypto';
    import { acceptedContent, createMcpHandler, createRequestStateCodec, inputRequired, McpServer } from '@modelcontextprotocol/server';
    import { z } from 'zod';
    const Sure = z.object({ sure: z.boolean() });
    const codec = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: 3600, bind: (ctx) => ctx.mcpReq.method });
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'notes', version: '1' }, { requestState: { verify: (state, ctx) => codec.verify(state, ctx) } });
      server.registerTool('note', { inputSchema: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
        const given = acceptedContent(ctx.mcpReq.inputResponses, 'sure', Sure);
        if (given !== undefined) return { content: [{ type: 'text', text: given.sure ? text : 'Not kept.' }] };
        return inputRequired({
          inputRequests: { sure: inputRequired.elicit({ message: 'Keep it?', requestedSchema: Sure }) },
          requestState: await codec.mint({}, ctx),
        });
      });
      return server;
    });
    await answer((request) => handler.fetch(request));`,
} as const;

/** Sends the first call, as a client of MCP 2026-07-28 that shows forms. */
const answer = `
async function answer(fetch) {
  const key = 'io.modelcontextprotocol/';
  const params = { name: 'note', arguments: { text: 'Buy milk' }, _meta: {
    [key + 'protocolVersion']: '2026-07-28',
    [key + 'clientInfo']: { name: 'client', version: '1' },
    [key + 'clientCapabilities']: { elicitation: { form: {} } },
  } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const headers = {
    'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)),
    accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call', 'mcp-name': 'note',
  };
  const response = await fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
  const text = await response.text();
  if (!text.includes('requestState')) throw new Error(text);
}
`;

const report = `
const { user, system } = process.cpuUsage();
console.log(String((user + system) / 1000));
`;

/**
 * Starts each process in turn, several times.
 *
 * @param folder - project that installed the packages
 * @param rounds - number of starts of each, whose median counts
 * @returns milliseconds of processor time of each start; of all but the first, beyond the first
 */
export async function startCosts(
  folder: string,
  rounds: number = 7,
): Promise<ReadonlyMap<string, number>> {
  const scripts = join(folder, 'starts');
  await mkdir(scripts);
  const names = Object.keys(starts) as (keyof typeof starts)[];
  for (const [index, name] of names.entries())
    await writeFile(join(scripts, `${index}.mjs`), `${starts[name]}\n${answer}\n${report}`);
  const times = names.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, all] of times.entries()) {
      const printed = await run(process.execPath, [join(scripts, `${index}.mjs`)], folder);
      all.push(Number(printed.trim().split('\n').at(-1)));
    }
  }
  const medians = times.map(
    (all) => all.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? Number.NaN,
  );
  const [empty = 0] = medians;
  return new Map(
    medians.map((ms, index) => [names[index] as string, index === 0 ? ms : ms - empty]),
  );
}
