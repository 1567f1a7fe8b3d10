import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { register as registerRequire } from 'tsx/cjs/api';
import type { register } from 'tsx/esm/api';
import { CliError } from '../model/errors.ts';

type Module = Readonly<Record<string, unknown>>;

/**
 * Imports a module of the user, also in TypeScript. Throws `no_file`, or what the module throws.
 */
export async function loadModule(file: string): Promise<Module> {
  const { href } = urlOf(file);
  const tsx = await loadTsx();
  const endRequire = tsx.registerRequire();
  const endImport = tsx.register();
  try {
    return namesIn((await import(href)) as Module);
  } finally {
    endRequire();
    await endImport();
  }
}

/** Loads tsx, which brings a compiler: a command without a module of the user does not need it. */
async function loadTsx(): Promise<{
  readonly register: typeof register;
  readonly registerRequire: typeof registerRequire;
}> {
  const [forImport, forRequire] = [await import('tsx/esm/api'), await import('tsx/cjs/api')];
  return { register: forImport.register, registerRequire: forRequire.register };
}

/** Imports a package that is installed for a file. */
export async function importFrom<T>(file: string, specifier: string): Promise<T> {
  return (await import(pathToFileURL(createRequire(resolve(file)).resolve(specifier)).href)) as T;
}

/** Throws `no_file` if the server package of a file does not find the MCP SDK, an optional peer. */
export function assertSdk(file: string): void {
  const sdk = '@modelcontextprotocol/server';
  try {
    createRequire(createRequire(resolve(file)).resolve('@mcp-saga/server/serve')).resolve(sdk);
  } catch (cause) {
    if (!String(cause).includes(`Cannot find module '${sdk}'`)) return;
    const message = `To serve sagas, install the MCP SDK in your project: npm install ${sdk}`;
    throw new CliError('no_file', message, { cause });
  }
}

/** Module after a repeated import. */
export interface LoadedAnew {
  readonly loaded: Module;
  /** Imports a package as the module does. */
  readonly importFor: <T>(specifier: string) => Promise<T>;
}

/**
 * Imports a module of the user again, together with its imports. Throws `no_file`, or the error of
 * a module.
 */
export async function loadAnew(
  file: string,
  onImport: (url: string) => void = () => undefined,
): Promise<LoadedAnew> {
  const { href } = urlOf(file);
  // Each namespace is a separate module graph. It stays registered for imports at run time.
  const namespace = randomUUID();
  const { cache } = createRequire(href);
  const tsx = await loadTsx();
  // Node resolves a required file to a cached module of an earlier namespace.
  for (const path of Object.keys(cache)) if (path.includes('?namespace=')) delete cache[path];
  const { require } = tsx.registerRequire({ namespace });
  const { import: load } = tsx.register({ namespace, onImport });
  const module = (await load(href, href)) as Module;
  for (const path of Object.keys(cache))
    if (isAbsolute(path) && path.includes(namespace))
      onImport(pathToFileURL(path.replace(/\?.*/, '')).href);
  const loaded = namesIn(module);
  // A CommonJS module requires its own packages.
  const importFor = loaded === module ? load : require;
  return {
    loaded,
    importFor: async <T>(specifier: string) => (await importFor(specifier, href)) as T,
  };
}

/**
 * Returns the exports by name. Node does not find all names of a CommonJS module, which is the
 * default export.
 */
function namesIn(module: Module): Module {
  const whole = module['default'] as Module | undefined;
  return whole?.['__esModule'] === true ? whole : module;
}

export function urlOf(file: string): URL {
  const path = resolve(file);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder !== false) throw new CliError('no_file', `There is no file ${file}.`);
  return pathToFileURL(path);
}

/**
 * Finds the exports of a kind, or only one, by name; lists count as their members. Throws
 * `no_export` with `what` is missing.
 */
export function exportsOf<T>(
  file: string,
  loaded: Module,
  what: string,
  is: (value: unknown) => value is T,
  wanted?: string,
): ReadonlyMap<string, T> {
  const found = new Map<string, T>();
  for (const [name, value] of Object.entries(loaded))
    for (const [index, member] of (Array.isArray(value) ? value : [value]).entries())
      if (is(member) && ![...found.values()].includes(member))
        found.set(Array.isArray(value) ? `${name}[${index}]` : name, member);
  if (found.size === 0) throw new CliError('no_export', `${file} exports no ${what}.`);
  if (wanted === undefined) return found;
  const [one] = [...found].filter(([name]) => name === wanted);
  if (one !== undefined) return new Map([one]);
  const names = [...found.keys()].join(', ');
  throw new CliError('no_export', `There is no export '${wanted}'. There are: ${names}.`);
}
