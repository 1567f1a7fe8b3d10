import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import { baseEnvironment } from '../environment.ts';
import type { Host } from '../host.ts';

/** opencode without a terminal, so it shows no dialogs. */
export const opencode: Host = {
  name: 'opencode',
  title: 'opencode',
  packages: ['opencode-ai@1.18.33'],
  start: async ({ installed, home, serverUrl, modelUrl, prompt }) => {
    const config = {
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'scripted' },
          models: { scripted: { name: 'Scripted' } },
        },
      },
      mcp: { sagas: { type: 'remote', url: serverUrl, oauth: false, timeout: 60_000 } },
    };
    await writeFile(join(home, 'opencode.json'), JSON.stringify(config));
    return runCommand({
      command: join(installed, 'node_modules/.bin/opencode'),
      args: ['run', '--auto', '--title', 'Sagas', prompt],
      cwd: home,
      env: {
        ...baseEnvironment(home),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
      },
    });
  },
};
