import { relative } from 'node:path';
import { cancel, intro, note, outro } from '@clack/prompts';
import { CreateError } from './errors.ts';
import { readFlags, usage } from './flags.ts';
import { ownManifest } from './manifest.ts';
import { createProject, type CreatedProject, type ProjectOptions } from './project.ts';
import { askOptions, withDefaults } from './prompts.ts';

/** Input and output for {@link createFromFlags}. */
export interface CreateTerminal {
  /** `true` if a person can be asked: input and output are terminals. */
  readonly isInteractive: boolean;
  /** Prints the next steps. */
  readonly print: (text: string) => void;
  /** The variable `npm_config_user_agent`, with the name of the package manager. */
  readonly userAgent: string | undefined;
}

type Terminal = CreateTerminal & { readonly printError: (text: string) => void };

/**
 * Runs the command line.
 *
 * @returns the exit code: 0 after success, 1 if the project cannot be created, 2 for a wrong
 * option, 130 if the user stops
 */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const flags = readFlags(args);
    if (flags.help) terminal.print(usage);
    else if (flags.version) terminal.print(ownManifest().version ?? '');
    else if ((await createFromFlags(args, terminal)) === undefined) return 130;
    return 0;
  } catch (error) {
    if (!(error instanceof CreateError)) throw error;
    const hint = error.code === 'invalid_option' ? `\n\n${usage}` : '';
    terminal.printError(`${error.message}${hint}`);
    return error.code === 'invalid_option' ? 2 : 1;
  }
}

/**
 * Creates a project from the flags of the command line. In a terminal, asks for missing ones.
 *
 * @returns undefined if the user leaves a question
 * @throws Error with a `code`: `invalid_option`, or a code of `createProject`
 * @example
 * ```ts
 * await createFromFlags(['invoices'], {
 *   isInteractive: false,
 *   print: console.log,
 *   userAgent: undefined,
 * });
 * ```
 */
export async function createFromFlags(
  args: readonly string[],
  { isInteractive, print, userAgent }: CreateTerminal,
): Promise<CreatedProject | undefined> {
  const flags = readFlags(args);
  const manager = /^(pnpm|yarn|bun)\//.exec(userAgent ?? '')?.[1] ?? 'npm';
  const isAsking = isInteractive && !flags.yes;
  if (isAsking) intro('A multi-step MCP tool');
  const options = isAsking ? await askOptions(flags) : withDefaults(flags);
  if (options === undefined) {
    cancel('Nothing was created.');
    return undefined;
  }
  const created = await createProject({ ...options, isForPnpm: manager === 'pnpm' });
  const summary = `Created ${created.files.length} files in ${created.dir}`;
  const steps = nextSteps(options, created, manager).join('\n');
  if (isAsking) {
    note(steps, 'Next steps');
    outro(summary);
  } else print(`${summary}\n\n${steps}`);
  return created;
}

function nextSteps(
  { template }: ProjectOptions,
  { dir }: CreatedProject,
  manager: string,
): string[] {
  const path = relative(process.cwd(), dir);
  const enter = path === '' ? [] : [`cd ${path.includes(' ') ? `"${path}"` : path}`];
  const shared = [...enter, `${manager} install`, `${manager} run test`];
  if (template !== 'existing-server')
    return [
      ...shared,
      `${manager} run start   (or dev, with a page)`,
      `${manager} run call   (in another terminal)`,
    ];
  return [
    ...shared,
    '',
    'Set SAGA_KEYS to the output of generateKey() of @mcp-saga/server.',
    'Then add the sagas to your McpServer before it connects:',
    '',
    'import { sagas } from "./sagas/host.js";',
    'sagas.attach(server);',
  ];
}
