import type { Command, CommandOptions, ListedCommand } from '../model/command.ts';

/** Options of every command. */
export const commonOptions: CommandOptions = {
  json: { help: 'prints the result as JSON' },
  help: { short: 'h', help: 'shows this text' },
};

/**
 * All commands, in the order of the help. Only the command that runs is loaded, with the packages
 * that it needs: all of them would take half a second.
 */
export const commands: readonly ListedCommand[] = [
  {
    name: 'new',
    summary: 'creates a project from a template, and asks for missing options',
    load: async () => (await import('./new.ts')).newProject,
  },
  {
    name: 'dev',
    summary: 'serves the sagas of a file over MCP and as a page, and reloads changed code',
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'call',
    summary: 'calls a tool of any MCP server, and answers its questions',
    load: async () => (await import('./call.ts')).call,
  },
  {
    name: 'inspect',
    summary:
      'shows the claims, timeline, and sizes of a saga token; - reads the token from standard input',
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    name: 'doctor',
    summary: 'checks keys, a running server, its clock, its clients, its store, and old versions',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'keys new',
    summary: 'prints a new key for SAGA_KEYS',
    load: async () => (await import('./keys.ts')).newKey,
  },
  {
    name: 'keys rotate',
    summary: 'prints SAGA_KEYS for the next phase of a rotation',
    load: async () => (await import('./keys.ts')).rotateKeys,
  },
  {
    name: 'keys check',
    summary: 'finds weak, duplicate, malformed, and published keys',
    load: async () => (await import('./keys.ts')).checkKeys,
  },
  {
    name: 'test',
    summary: 'tries every crash, failure, refusal, and fork of the sagas or scripts in a file',
    load: async () => (await import('./test-and-crash.ts')).test,
  },
  {
    name: 'crash',
    summary: 'kills the process before and after each effect of the sagas or scripts in a file',
    load: async () => (await import('./test-and-crash.ts')).crashes,
  },
  {
    name: 'replay',
    summary: 'replays recordings with the current code',
    load: async () => (await import('./replay.ts')).replay,
  },
  {
    name: 'graph',
    summary: 'draws a machine, or one run of a saga, as Mermaid or SVG',
    load: async () => (await import('./graph.ts')).graph,
  },
  {
    name: 'completion',
    summary: 'prints a script with which bash, zsh, or fish completes commands and options',
    load: async () => (await import('./completion.ts')).completion,
  },
];

/** Finds the command that the first words of the command line name. */
export function commandIn(args: readonly string[]): ListedCommand | undefined {
  return commands.find(({ name }) => name === args.slice(0, name.split(' ').length).join(' '));
}

/** Returns `true` if a command loads code of the user: always, or by one of its arguments. */
export function loadsUserCode(
  { runsUserCode = false, options }: Command,
  args: readonly string[],
): boolean {
  const names = Object.keys(options).filter((name) => options[name]?.runsUserCode);
  const isGiven = (name: string): boolean =>
    args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  return runsUserCode || names.some(isGiven);
}
