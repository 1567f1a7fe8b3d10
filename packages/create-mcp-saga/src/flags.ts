import { parseArgs } from 'node:util';
import { CreateError } from './errors.ts';
import { templateNames, type Language, type TemplateName } from './templates.ts';

/** The command line, checked. Undefined options are asked for, or have a default. */
export interface Flags {
  readonly template: TemplateName | undefined;
  readonly language: Language | undefined;
  readonly dir: string | undefined;
  readonly name: string | undefined;
  readonly packages: string | undefined;
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** Help text of the command line. */
export const usage: string = `Creates a project with a multi-step MCP tool, its test, and its server.

  npm create mcp-saga@latest [dir] -- [options]

  -t, --template <name>   ${templateNames.join(', ')}
  -l, --language <name>   typescript or javascript
  -d, --dir <folder>      folder of the project, also as the first argument
  -n, --name <name>       name of the package and of the MCP server (default: the name of the folder)
  -p, --packages <folder> packages from a clone of mcp-saga (default: from npm)
  -y, --yes               asks no questions; uses the defaults node, typescript, and my-sagas
  -h, --help              shows this text
  -v, --version           shows the version

Without a terminal, no questions are asked either.`;

const languages: { readonly [name: string]: Language } = {
  typescript: 'typescript',
  ts: 'typescript',
  javascript: 'javascript',
  js: 'javascript',
};

/**
 * Reads the command line.
 *
 * @throws CreateError with the code `invalid_option`
 */
export function readFlags(args: readonly string[]): Flags {
  const { values, positionals } = parse(args);
  if (positionals.length > 1)
    throw new CreateError(
      'invalid_option',
      `Expected one folder, not ${positionals.join(' and ')}.`,
    );
  const { template, language } = values;
  if (template !== undefined && !isTemplate(template))
    throw new CreateError(
      'invalid_option',
      `Unknown template '${template}'. Use ${templateNames.join(', ')}.`,
    );
  if (language !== undefined && languages[language] === undefined)
    throw new CreateError(
      'invalid_option',
      `Unknown language '${language}'. Use typescript or javascript.`,
    );
  return {
    template,
    language: languages[language ?? ''],
    dir: values.dir ?? positionals[0],
    name: values.name,
    packages: values.packages,
    yes: values.yes,
    help: values.help,
    version: values.version,
  };
}

function isTemplate(name: string): name is TemplateName {
  return (templateNames as readonly string[]).includes(name);
}

function parse(args: readonly string[]): ReturnType<typeof parseArgs<typeof config>> {
  try {
    // Some package managers pass on the dashes in front of options.
    return parseArgs({ ...config, args: args.filter((arg) => arg !== '--') });
  } catch (error) {
    throw new CreateError('invalid_option', error instanceof Error ? error.message : String(error));
  }
}

const config = {
  allowPositionals: true,
  options: {
    template: { type: 'string', short: 't' },
    language: { type: 'string', short: 'l' },
    dir: { type: 'string', short: 'd' },
    name: { type: 'string', short: 'n' },
    packages: { type: 'string', short: 'p' },
    yes: { type: 'boolean', short: 'y', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    version: { type: 'boolean', short: 'v', default: false },
  },
} as const;
