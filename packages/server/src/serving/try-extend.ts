import type { Program } from '@mcp-saga/core';
import type { McpServer } from '@modelcontextprotocol/server';

/** Error for a name that is registered twice. */
class NameTaken extends TypeError {
  override readonly name = 'TypeError';
}

/**
 * Calls `extend` with a stand-in for a server, which takes every call and notes the names of tools and prompts. A name that is
 * registered twice is refused at the start, without loading the SDK. The SDK reports all other errors.
 *
 * @throws TypeError naming the tool or prompt
 */
export function tryExtend(sagas: readonly Program[], extend: (server: McpServer) => void): void {
  const namesOf = (kind: Program['serves']): Set<unknown> =>
    new Set(sagas.filter(({ serves = 'tool' }) => serves === kind).map(({ name }) => name));
  const taken = new Map([
    ['registerTool', namesOf('tool')],
    ['registerPrompt', namesOf('prompt')],
  ]);
  const server = standIn((method, name) => {
    const names = taken.get(method);
    if (names?.has(name) === true)
      throw new NameTaken(
        `extend: ${method}('${String(name)}') registers a name twice. Rename one of the two.`,
      );
    names?.add(name);
  });
  try {
    extend(server as McpServer);
  } catch (error) {
    if (error instanceof NameTaken) throw error;
  }
}

/** A value with every property, each of which is such a value and can be called. */
function standIn(onCall: (property: string, argument: unknown) => void, called = ''): unknown {
  return new Proxy(() => undefined, {
    // Nothing awaits it.
    get: (_, property) => (property === 'then' ? undefined : standIn(onCall, String(property))),
    apply: (_, __, [argument]: unknown[]) => {
      onCall(called, argument);
      return standIn(onCall);
    },
  });
}
