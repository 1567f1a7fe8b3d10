import { optionError } from '@mcp-saga/core/shared';
import type { Program } from '@mcp-saga/core';
import type { McpServer } from '@modelcontextprotocol/server';

/**
 * Calls `extend` with a stand-in for a server, to reject names of tools and prompts that are
 * registered twice without loading the SDK. The SDK reports all other errors.
 * @throws TypeError naming the tool or prompt
 */
export function tryExtend(sagas: readonly Program[], extend: (server: McpServer) => void): void {
  const namesOf = (kind: Program['serves']): Set<unknown> =>
    new Set(sagas.filter(({ serves = 'tool' }) => serves === kind).map(({ name }) => name));
  let taken: TypeError | undefined;
  const registered = new Map([
    ['registerTool', namesOf('tool')],
    ['registerPrompt', namesOf('prompt')],
  ]);
  const server = standIn((method, name) => {
    const names = registered.get(method);
    if (names?.has(name) === true)
      throw (taken = optionError(
        `extend: ${method}('${String(name)}') registers a name twice. Rename one use.`,
      ));
    names?.add(name);
  });
  try {
    extend(server as McpServer);
  } catch (error) {
    if (error === taken) throw error;
  }
}

/** Makes a function with every property. Each property is a function of the same kind. */
function standIn(onCall: (property: string, argument: unknown) => void, called = ''): unknown {
  return new Proxy(() => undefined, {
    // Not a promise.
    get: (_, property) => (property === 'then' ? undefined : standIn(onCall, String(property))),
    apply: (_, __, [argument]: unknown[]) => {
      onCall(called, argument);
      return standIn(onCall);
    },
  });
}
