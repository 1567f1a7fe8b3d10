/** Functions that define a saga: the second argument is the body. */
export const definers: ReadonlySet<string> = new Set(['saga', 'promptSaga', 'resourceSaga']);

/** Commands that take branches: commands and called helpers, without `yield*`. */
export const groups: ReadonlySet<string> = new Set(['all', 'allSettled', 'race']);

/** Commands whose functions run as steps, outside of replay. */
export const effects: ReadonlySet<string> = new Set([
  'compensate',
  'elicit',
  'elicit.outcome',
  'poll',
  'step',
]);

/** Functions that return a command. A command does nothing until a saga yields it. */
export const commands: ReadonlySet<string> = new Set([
  ...groups,
  ...effects,
  'abort',
  'call',
  'checkpoint',
  'continueAs',
  'elicitUrl',
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
  'sleepUntil',
  'uuid',
]);

const packages = /^@mcp-saga\/(?:core|server)(?:\/|$)/;

/** `true` for a module that exports the functions above. `others` are modules that export them again. */
export function isSagaModule(module: string | undefined, others: readonly string[]): boolean {
  return module !== undefined && (packages.test(module) || others.includes(module));
}
