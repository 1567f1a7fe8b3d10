import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const path = fileURLToPath(new URL('../../docs/reference/first-response.md', import.meta.url));

/** Writes the page with the tables. */
export async function writePage(tables: string, nodeVersion: string, date: Date): Promise<void> {
  const [tools = '', happened = ''] = tables.split('\n\n');
  await writeFile(
    path,
    `---
title: A lost first response
description: 'How often money moves if the first response of a refund tool is lost: the MCP SDK, the AI SDK, LangGraph, Mastra, and mcp-saga.'
order: 23
---

# A lost first response

A client calls a tool that refunds money. The refund is made, but the client never reads the response, so it sends the call again. How often
does money move?

This page has the results of \`pnpm compare first-response\` of ${date.toISOString().slice(0, 10)}. The tool is written with five libraries, each as its
documentation shows, and served by processes of Node ${nodeVersion}. The client is the official one: it connects anew, and repeats the call with
the same arguments and the same key. It can be asked questions, so it comes back by itself when a server tells it to. The provider is a fake
that counts. It makes one refund for each idempotency key, and one for each request without a key.

## The tools

Only a SQLite file and the keys of the server outlive a process. "The author added" lists what is there for such faults, beside the tool itself.

${tools}

- The key of the client is in \`_meta\` of the call.
- \`ai\` and \`@langchain/langgraph\` serve no MCP, so the MCP SDK serves their tools.
- The checkpointer of LangGraph uses the SQLite of Node in place of \`better-sqlite3\`, which npm would have to compile.

## What happened

- **Response lost:** the server sends the whole response, and the client gets a cut connection in its place.
- **Response lost, process restarted:** then the process is killed, and a new one gets the second call.
- **Process dies after the refund:** the process is killed before it reads the reply of the provider. A new one gets the second call.

\`2 / 1, re_1\` means that two requests reached the provider, that it made one refund, and that the second call got the ID of the first refund.

${happened}

## How to read it

- **A provider with idempotency keys needs little.** A plain handler that passes the key of the client on moves the money once. Each repeated
  call asks the provider again, so this fails with a provider that has no keys, or has forgotten them.
- **A store answers without the provider.** mcp-saga, LangGraph, and Mastra find the result of the first call by its key. mcp-saga does so by
  itself. With the others, the author looks for the thread or the run.
- **Nobody knows what a dead process did.** So in the last column, each tool that uses the key asks the provider again, with the same key. A
  provider without keys would refund twice. For such a provider, a step of mcp-saga declares [\`once\`](effects/run.md): it asks no
  second time, the call fails, and a person has to look.
- **mcp-saga waits for a dead process**, until its lease is over: [\`limits.lease\`](host-options.md#limits), half a minute by default. The tools of
  LangGraph and Mastra go on at once, because nothing in them knows whether the first process still runs.
- **Without a key**, mcp-saga protects the first response only. It holds a token, and [nothing has happened
  yet](wire.md#a-call-without-a-key). If a later response is lost, the client has to repeat its last request, with the token. A client that starts
  over refunds twice.
- **Without a key, an undo, or \`once\`**, nothing waits, and the refund is made twice.
- **Whose key it is** was not measured. mcp-saga tells the keys of users apart. The other tools take each key as it comes.

The tools ask nothing. For tools that ask, see [\`requestState\`](../guides/from-request-state.md), [LangGraph](../guides/from-langgraph.md), and
[AWS durable functions](../guides/from-aws-durable-functions.md).

The code of each tool is in \`test/compare/contenders\`.
`,
  );
  await run('npx', ['oxfmt', path], { shell: process.platform === 'win32' });
}
