import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseEnvironment } from '../environment.ts';
import type { Host } from '../host.ts';
import type { Scenario } from '../scenarios.ts';
import { runInTerminal } from '../terminal.ts';

const down = '\x1b[B';
const left = '\x1b[D';
const right = '\x1b[C';
const key = 'sk-ant-scripted-model-0000000000';

/** Claude Code, in its interactive mode, because the other mode shows no dialogs. */
export const claudeCode: Host = {
  name: 'claude-code',
  title: 'Claude Code',
  packages: ['@anthropic-ai/claude-code@2.1.330'],
  start: async ({ installed, home, serverUrl, modelUrl, scenario, prompt, isListed }) => {
    const config = join(home, 'mcp.json');
    await writeFile(
      config,
      JSON.stringify({ mcpServers: { sagas: { type: 'http', url: serverUrl } } }),
    );
    await writeFile(
      join(home, '.claude.json'),
      JSON.stringify({
        hasCompletedOnboarding: true,
        customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
        projects: { [home]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    );
    return await runInTerminal({
      command: join(installed, 'node_modules/.bin/claude'),
      args: ['--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__sagas'],
      cwd: home,
      env: {
        ...baseEnvironment(home),
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        ENABLE_TOOL_SEARCH: 'false',
      },
      keys: (screen) => {
        // Typing the prompt before the tools are listed would start a turn without tools.
        if (/^❯\s*$/m.test(screen) && isListed() && !screen.includes(prompt)) return prompt;
        if (screen.includes(`❯ ${prompt}`) && !screen.includes('●')) return '\r';
        return answerKeys(screen, scenario);
      },
    });
  },
};

/** Returns the user's input for an elicitation dialog. */
function answerKeys(screen: string, scenario: Scenario): string | undefined {
  const [, dialog] = /requests your input\n([\s\S]*)/.exec(screen) ?? [];
  if (dialog === undefined) return undefined;
  const answer = scenario.answer(dialog);
  if (answer.action === 'accept' && 'content' in answer) {
    const [, field = ''] = /❯\W*(\w+): Type something/.exec(dialog) ?? [];
    const value = answer.content[field];
    if (value !== undefined) return value;
  }
  if (/❯\s*Accept/.test(dialog)) return answer.action === 'accept' ? '\r' : right;
  if (/❯\s*Decline/.test(dialog)) return answer.action === 'accept' ? left : '\r';
  return down;
}
