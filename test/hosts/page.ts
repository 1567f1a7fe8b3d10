import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const path = fileURLToPath(new URL('../../docs/hosts.md', import.meta.url));

/** Writes the page with the tables. */
export async function writePage(tables: string, date: Date): Promise<void> {
  const day = date.toISOString().slice(0, 10);
  await writeFile(
    path,
    `# Hosts

Real hosts, driven by \`pnpm hosts --long --write\` on ${day}, without a network. A scripted model calls one tool after the other,
answers what a result asks of it, and stops. Dialogs are answered by keys in a pseudo-terminal, or through the host's own protocol.

The server is \`serveSagas\` in two processes behind a proxy, which sends every request to the other process. "Yes" means that
the server recorded each effect exactly once, and that the model read the result.

Copilot CLI shows its model asterisks in place of a token. Its servers have \`handles: { store }\`, and give out handles instead.

${tables}

\`pnpm hosts NAME …\` drives some hosts and prints their tables. Versions are pinned in \`test/hosts/drivers\`.
`,
  );
  await run('npx', ['oxfmt', path], { shell: process.platform === 'win32' });
}
