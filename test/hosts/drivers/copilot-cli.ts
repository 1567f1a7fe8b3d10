import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseEnvironment } from '../environment.ts';
import type { Host } from '../host.ts';
import type { Scenario } from '../scenarios.ts';
import { runInTerminal } from '../terminal.ts';

/** Copilot CLI, in its interactive mode, offline, with a custom model provider. */
export const copilotCli: Host = {
  name: 'copilot-cli',
  title: 'Copilot CLI',
  needsHandles: true,
  packages: ['@github/copilot@1.0.102'],
  start: async ({ installed, home, serverUrl, modelUrl, scenario, prompt }) => {
    const folder = join(home, '.copilot');
    await mkdir(folder);
    const servers = { mcpServers: { sagas: { type: 'http', url: serverUrl, tools: ['*'] } } };
    await writeFile(join(folder, 'mcp-config.json'), JSON.stringify(servers));
    await writeFile(
      join(folder, 'config.json'),
      JSON.stringify({ trusted_folders: [home], banner: 'never' }),
    );
    return await runInTerminal({
      command: join(installed, 'node_modules/.bin/copilot'),
      args: ['--allow-all-tools', '--no-auto-update', '-i', prompt],
      cwd: home,
      env: {
        ...baseEnvironment(home),
        COPILOT_HOME: folder,
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
        COPILOT_PROVIDER_API_KEY: 'scripted',
        COPILOT_MODEL: 'gpt-4.1',
      },
      keys: (screen) => answerKeys(screen, scenario),
    });
  },
};

const controlD = '\x04';

/** Returns the user's input for a dialog. */
function answerKeys(screen: string, scenario: Scenario): string | undefined {
  const [, dialog] =
    /^ sagas (?:needs information\.|wants you to visit)\n([\s\S]*)/m.exec(screen) ?? [];
  if (dialog === undefined) return undefined;
  const answer = scenario.answer(dialog);
  if (answer.action === 'decline') return controlD;
  // An Enter that comes too early adds an error after the name of the field.
  const [, field = ''] = /^ (\w+)(?: \*.*)?\n ─/m.exec(dialog) ?? [];
  const value = 'content' in answer ? answer.content[field] : undefined;
  return value !== undefined && /^ ❯ *$/m.test(dialog) ? value : '\r';
}
