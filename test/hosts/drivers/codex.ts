import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseEnvironment } from '../environment.ts';
import type { Host } from '../host.ts';
import { startRpc, type RpcMessage } from '../rpc.ts';
import type { Scenario } from '../scenarios.ts';

/** Codex through its app-server, the interface of IDE extensions and the desktop application. */
export const codex: Host = codexWith('codex', 'Codex app-server', '');

/** Codex with its client for MCP 2026-07-28, which is behind a feature flag. */
export const codexModern: Host = codexWith(
  'codex-2026',
  'Codex app-server, `mcp_2026_07_28` on',
  '[features]\nmcp_2026_07_28 = true',
);

function codexWith(name: string, title: string, features: string): Host {
  return {
    name,
    title,
    packages: ['@openai/codex@0.169.0'],
    start: async ({ installed, home, serverUrl, modelUrl, scenario, prompt }) => {
      const folder = join(home, '.codex');
      await mkdir(folder);
      await writeFile(join(folder, 'config.toml'), `${configOf(serverUrl, modelUrl)}${features}\n`);
      const rpc = startRpc({
        command: join(installed, 'node_modules/.bin/codex'),
        args: ['app-server'],
        cwd: home,
        env: { ...baseEnvironment(home), CODEX_HOME: folder },
        answer: (request) => answerOf(request, scenario),
      });
      const clientInfo = { name: 'mcp-saga-hosts', title: null, version: '1.0.0' };
      await rpc.request('initialize', {
        clientInfo,
        capabilities: { experimentalApi: true, requestAttestation: false },
      });
      rpc.notify('initialized');
      const started = (await rpc.request('thread/start', {
        cwd: home,
        approvalPolicy: 'on-request',
      })) as Started;
      const input = [{ type: 'text', text: prompt, text_elements: [] }];
      await rpc.request('turn/start', { threadId: started.thread.id, input });
      return rpc;
    },
  };
}

interface Started {
  readonly thread: { readonly id: string };
}

function configOf(serverUrl: string, modelUrl: string): string {
  return `
model = "scripted"
model_provider = "scripted"
sandbox_mode = "read-only"
[analytics]
enabled = false
[model_providers.scripted]
name = "Scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
[mcp_servers.sagas]
url = "${serverUrl}"
tool_timeout_sec = 600
default_tools_approval_mode = "approve"
`;
}

function answerOf({ method, params = {} }: RpcMessage, scenario: Scenario): object {
  if (method !== 'mcpServer/elicitation/request') return { decision: 'approved' };
  return { content: null, _meta: null, ...scenario.answer(String(params['message'])) };
}
