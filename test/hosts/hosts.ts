import { claudeCode } from './drivers/claude-code.ts';
import { codex, codexModern } from './drivers/codex.ts';
import { copilotCli } from './drivers/copilot-cli.ts';
import { geminiCli } from './drivers/gemini-cli.ts';
import { opencode } from './drivers/opencode.ts';
import { qwenCode } from './drivers/qwen-code.ts';
import type { Host } from './host.ts';

/** The hosts, in the order of the table. */
export const hosts: readonly Host[] = [
  claudeCode,
  codex,
  codexModern,
  geminiCli,
  qwenCode,
  opencode,
  copilotCli,
];
