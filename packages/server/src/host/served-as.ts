import type { Program } from '@mcp-saga/core';

/** What of MCP's a program serves. */
export function servedAs({
  serves = 'tool',
}: Partial<Pick<Program, 'serves'>>): 'tool' | 'prompt' | 'resource' {
  return serves;
}
