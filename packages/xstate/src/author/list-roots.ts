import type { Root } from '@mcp-saga/core';
import { clientStepLogic, type ClientStepLogic } from './step-logic.ts';

/**
 * Lists the roots of the client, as actor logic: MCP's `roots/list`.
 * @example
 * ```ts
 * import { setup } from 'xstate';
 *
 * const { createMachine } = setup({ actors: { folders: listRoots() } });
 * ```
 */
export function listRoots(): ClientStepLogic<readonly Root[], undefined> {
  return clientStepLogic({ kind: 'roots', toSpec: (id) => ({ kind: 'roots', id }) });
}
