/** Functions to define a saga: the second argument is the body. */
export const definers: ReadonlySet<string> = new Set(['saga', 'promptSaga', 'resourceSaga']);

/** Commands with branches: commands and called helpers, without `yield*`. */
export const groups: ReadonlySet<string> = new Set(['all', 'allSettled', 'race', 'each']);

/** Commands that call their functions at once, as a part of the body. */
export const callers: ReadonlySet<string> = new Set(['each']);

/** Commands whose functions run as steps, outside of replay. */
export const effects: ReadonlySet<string> = new Set([
  'approval',
  'elicit',
  'elicit.outcome',
  'poll',
  'step',
  'waitFor',
]);

/** Functions returning a command. A command does nothing before a saga yields the command. */
export const commands: ReadonlySet<string> = new Set([
  ...groups,
  ...effects,
  'abort',
  'call',
  'checkpoint',
  'continueAs',
  'elicitUrl',
  'elicitUrl.complete',
  'info',
  'listRoots',
  'log',
  'now',
  'patched',
  'pivot',
  'progress',
  'random',
  'sample',
  'scope',
  'sleep',
  'uuid',
]);

/** Functions that take a command to drop it on purpose. Their argument is no mistake. */
export const droppers: ReadonlySet<string> = new Set(['ignore']);

const packages = /^@mcp-saga\/(?:core|server)(?:\/|$)/;

/**
 * `true` for a module with the functions above. `others` are modules that re-export the functions.
 */
export function isSagaModule(module: string | undefined, others: readonly string[]): boolean {
  return module !== undefined && (packages.test(module) || others.includes(module));
}
