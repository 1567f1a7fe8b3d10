import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const path = fileURLToPath(new URL('../../docs/operate/hosts.md', import.meta.url));

/** Writes the page with the tables. */
export async function writePage(tables: string, date: Date): Promise<void> {
  const day = date.toISOString().slice(0, 10);
  await writeFile(
    path,
    `---
title: Hosts
description: 'How real MCP hosts run sagas: Claude Code, Codex, Gemini CLI, Qwen Code, opencode, and Copilot CLI.'
order: 70
---

# Hosts

These are results of real hosts, driven by \`pnpm hosts --long --write\` on ${day}, without a network. A scripted model calls one tool after another,
follows the instructions in each result, and stops. A script answers dialogs with keys in a pseudo-terminal, or through the host's own
protocol.

The server is \`serveSagas\` in two processes behind a proxy that alternates between them. "Yes" means that
the server recorded each effect exactly once, and that the model read the result.

Both processes share a \`store\`. Copilot CLI shows asterisks instead of a token to its model, so its servers return short tokens.

For "lost first response", the proxy drops the response to the first call after the server has acted. "Calls once" says that the host did
not repeat the call by itself, and "calls again" that it did. If a host sends an ID of the call in \`_meta\` that the server knows, a
[repeated call](../reference/wire.md#a-repeated-call) acts once.

${tables}

\`pnpm hosts NAME …\` drives some hosts and prints their tables. Versions are pinned in \`test/hosts/drivers\`.
`,
  );
  await run('npx', ['oxfmt', path], { shell: process.platform === 'win32' });
}
