import { relative, resolve } from 'node:path';
import { cancel, intro, log, note, outro } from '@clack/prompts';
import { CreateError } from './errors.ts';
import { readFlags, usage } from './flags.ts';
import { ownManifest } from './package-json.ts';
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
  const isAsking = isInteractive && !flags.yes;
  if (isAsking) intro('A multi-step MCP tool');
  const options = isAsking ? await askOptions(flags) : withDefaults(flags);
  if (options === undefined) {
    cancel('Nothing was created.');
    return undefined;
  }
  // In a clone, pnpm runs this program, but a newcomer has pnpm only through `npx`.
  const agent = options.packages === undefined ? (userAgent ?? '') : '';
  const manager = /^(pnpm|yarn|bun)\//.exec(agent)?.[1] ?? 'npm';
  if (options.packages !== undefined) {
    const progress = `Packages of ${resolve(options.packages)}: a clone packs them first, in about a minute.`;
    if (isAsking) log.step(progress);
    else print(progress);
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
  { template, language }: ProjectOptions,
  { dir, files }: CreatedProject,
  manager: string,
): string[] {
  const path = relative(process.cwd(), dir);
  const enter = path === '' ? [] : [`cd ${path.includes(' ') ? `"${path}"` : path}`];
  const install = [...enter, `${manager} install`];
  if (template !== 'existing-server')
    return [
      ...install,
      `${manager} run test`,
      `${manager} run start   (or dev, with a page)`,
      `${manager} run call   (in another terminal)`,
    ];
  const host = files.find((file) => file.startsWith('sagas/host.')) ?? '';
  const module = `'./${host.replace(/ts$/, 'js')}'`;
  return [
    ...install,
    // The scripts of the project may run other tools.
    'npx vitest run sagas',
    'npx oxlint sagas',
    '',
    'Set SAGA_KEYS to the output of this command:',
    '',
    `node -p "'k1:' + require('node:crypto').randomBytes(32).toString('base64url')"`,
    '',
    'Then add the sagas to your McpServer before it connects:',
    '',
    language === 'javascript' && host.endsWith('.mjs')
      ? `const { sagas } = require(${module});`
      : `import { sagas } from ${module};`,
    'sagas.attach(server);',
  ];
}
