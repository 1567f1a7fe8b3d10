import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import { baseEnvironment } from '../environment.ts';
import type { Host } from '../host.ts';

/** Gemini CLI without a terminal, so it shows no dialogs. */
export const geminiCli: Host = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  packages: ['@google/gemini-cli@0.61.0'],
  start: async ({ installed, home, serverUrl, modelUrl, prompt }) => {
    await mkdir(join(home, '.gemini'));
    const settings = {
      mcpServers: { sagas: { httpUrl: serverUrl, trust: true } },
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
    };
    await writeFile(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    return runCommand({
      command: join(installed, 'node_modules/.bin/gemini'),
      args: ['--skip-trust', '--yolo', '-m', 'gemini-2.5-pro', '-p', prompt],
      cwd: home,
      env: {
        ...baseEnvironment(home),
        GEMINI_API_KEY: 'scripted',
        GOOGLE_GEMINI_BASE_URL: modelUrl,
      },
    });
  },
};
