import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import { baseEnvironment } from '../environment.ts';
import type { Host } from '../host.ts';

/** Qwen Code without a terminal, so it shows no dialogs. */
export const qwenCode: Host = {
  name: 'qwen-code',
  title: 'Qwen Code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  start: async ({ installed, home, serverUrl, modelUrl, prompt }) => {
    await mkdir(join(home, '.qwen'));
    const settings = {
      mcpServers: { sagas: { httpUrl: serverUrl, trust: true } },
      security: { auth: { selectedType: 'openai' } },
      tools: { toolSearch: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
    };
    await writeFile(join(home, '.qwen/settings.json'), JSON.stringify(settings));
    return runCommand({
      command: join(installed, 'node_modules/.bin/qwen'),
      args: ['--yolo', '-p', prompt],
      cwd: home,
      env: {
        ...baseEnvironment(home),
        OPENAI_API_KEY: 'scripted',
        OPENAI_BASE_URL: `${modelUrl}/v1`,
        OPENAI_MODEL: 'scripted',
      },
    });
  },
};
