import { createHostCore, type SagaHostCore } from './requests/host.ts';
import type { SagaHostOptions } from './model/host-options.ts';
import { attachSagas, type AttachOptions } from './mcp/attach.ts';
import type { McpServerLike } from './mcp/sdk.ts';

/** Runs sagas and keeps nothing: between two requests all there is of a saga is the token its client holds. */
export interface SagaHost extends SagaHostCore {
  /**
   * Registers the sagas on an `McpServer` of the MCP SDK, version 2 or 1: the tools, the methods `tools/callSaga`,
   * `tools/resumeSaga` and `tools/cancelSaga`, and the capability that announces them. Before it is connected.
   *
   * @throws TypeError when it is no McpServer, or has sagas already
   */
  attach(server: McpServerLike, options?: AttachOptions): void;
}

/**
 * Makes a host: sagas, keys, and the rules by which they meet.
 *
 * @throws TypeError, RangeError or SealError where the options cannot be meant: two sagas of one name, no keys, …
 */
export function createSagaHost(options: SagaHostOptions): SagaHost {
  const core = createHostCore(options);
  return { ...core, attach: (server, attachOptions) => attachSagas(core, server, attachOptions) };
}
