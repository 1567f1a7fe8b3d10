import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import plugin from '../../src/index.ts';

const run = promisify(execFile);
const manifest = createRequire(import.meta.url).resolve('oxlint/package.json');

interface Report {
  readonly diagnostics: readonly {
    readonly message: string;
    readonly code?: string;
    readonly filename: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

/** Runs Oxlint with the rules of the plugin, and gives the messages by file. */
export async function oxlint(
  folder: string,
  files: readonly string[],
  settings: object = {},
): Promise<ReadonlyMap<string, readonly string[]>> {
  const config = join(folder, 'oxlintrc.json');
  const jsPlugins = [fileURLToPath(new URL('plugin.mjs', import.meta.url))];
  const { rules } = plugin.configs.recommended;
  const categories = { correctness: 'off' };
  await writeFile(config, JSON.stringify({ jsPlugins, plugins: [], categories, settings, rules }));
  const args = [join(dirname(manifest), 'bin/oxlint'), '-c', config, '-f', 'json', ...files];
  // It exits with 1 where it reports something.
  const { stdout } = await run(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 }).catch(
    (error: { readonly stdout: string }) => error,
  );
  const messages = new Map<string, string[]>();
  for (const { filename, message } of (JSON.parse(stdout) as Report).diagnostics)
    messages.set(filename, [...(messages.get(filename) ?? []), message]);
  return messages;
}
