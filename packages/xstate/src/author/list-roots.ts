import type { Root } from '@mcp-saga/core';
import { clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/**
 * Asks which roots the client offers: MCP's `roots/list`, as actor logic.
 *
 * @example
 * setup({ actors: { folders: listRoots() } });
 */
export function listRoots(): ClientStepLogic<readonly Root[], undefined> {
  return clientStepLogic({ kind: 'roots', toSpec: (id) => ({ kind: 'roots', id }) });
}
