import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CreateError } from './errors.ts';
import { readTemplate, type Files } from './files.ts';
import { extendManifest, newManifest } from './manifest.ts';
import type { Manifest } from './package-json.ts';
import { copyTarballs, versionOf, withTarballs, type Tarballs } from './tarballs.ts';
import type { Language, TemplateName } from './templates.ts';

/** Options of {@link createProject}. */
export interface ProjectOptions {
  readonly template: TemplateName;
  readonly language: Language;
  /** Folder of the project: new or empty, or with a `package.json` for `existing-server`. */
  readonly dir: string;
  /** Name of the package and of the MCP server. @default the name of the folder */
  readonly name?: string;
  /** Writes settings for pnpm. @default false */
  readonly isForPnpm?: boolean;
  /**
   * Folder of a clone of mcp-saga, or of the tarballs of its packages. The project gets copies of
   * the packages, and installs them from there.
   * @default the packages on npm
   */
  readonly packages?: string;
}

/** A new project. */
export interface CreatedProject {
  /** Absolute path of the project. */
  readonly dir: string;
  readonly name: string;
  /** Paths of the new files, relative to `dir`. */
  readonly files: readonly string[];
}

/**
 * Creates a project from a template. Never replaces a file: if a file exists, nothing is written.
 *
 * @throws Error with a `code`: `invalid_name`, `folder_not_empty`, `file_exists`,
 * `no_package`, or `no_packages`
 * @example
 * ```ts
 * const { files } = await createProject({ template: 'node', language: 'typescript', dir: 'invoices' });
 * console.log(files);
 * ```
 */
export async function createProject(options: ProjectOptions): Promise<CreatedProject> {
  const { packages } = options;
  if (packages === undefined) return await createFrom(options, new Map());
  return await withTarballs(packages, (tarballs) => createFrom(options, tarballs));
}

async function createFrom(options: ProjectOptions, tarballs: Tarballs): Promise<CreatedProject> {
  const { template, language, isForPnpm = false } = options;
  const dir = resolve(options.dir);
  const name = options.name ?? nameOf(dir);
  assertName(name);
  if (template === 'existing-server') {
    const existing = await readManifest(dir);
    const files = await readTemplate(template, language, name, existing['type'] !== 'module');
    const manifest = extendManifest(existing, template, tarballs);
    assertFree(dir, files);
    await write(dir, files, 'wx');
    await write(dir, new Map([['package.json', toJson(manifest)]]), 'w');
    const copied = await copyTarballs(dir, manifest, tarballs);
    return { dir, name, files: [...files.keys(), 'package.json', ...copied] };
  }
  const files = new Map(await readTemplate(template, language, name));
  await assertEmpty(dir);
  const manifest = newManifest(template, language, name, tarballs);
  files.set('package.json', toJson(manifest));
  if (isForPnpm) files.set('pnpm-workspace.yaml', pnpmSettings(tarballs));
  await write(dir, files, 'wx');
  return { dir, name, files: [...files.keys(), ...(await copyTarballs(dir, manifest, tarballs))] };
}

/**
 * pnpm refuses to install until each build script is allowed or denied. The projects need no build
 * script. It asks npm for the dependencies of a tarball, unless an override names their tarballs.
 */
function pnpmSettings(tarballs: Tarballs): string {
  const overrides = [...tarballs].map(([name, tarball]) => `  '${name}': ${versionOf(tarball)}\n`);
  const builds = 'allowBuilds:\n  esbuild: false\n  sharp: false\n  workerd: false\n';
  return overrides.length === 0 ? builds : `${builds}overrides:\n${overrides.join('')}`;
}

/** Makes a name from the name of a folder. */
function nameOf(dir: string): string {
  const name = basename(dir)
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^[-\d]+|-+$/g, '');
  return name === '' ? 'my-sagas' : name;
}

/** Checks a name by the rules for Workers, which are the strictest. */
function assertName(name: string): void {
  if (/^[a-z][a-z\d-]{0,62}$/.test(name)) return;
  throw new CreateError(
    'invalid_name',
    `'${name}' cannot be the name of a project. Use up to 63 lower-case letters, digits, and dashes, and begin with a letter.`,
  );
}

async function assertEmpty(dir: string): Promise<void> {
  const found = existsSync(dir) ? await readdir(dir) : [];
  // Files of a new repository.
  const inTheWay = found.filter((file) => file !== '.git' && file !== 'LICENSE');
  if (inTheWay.length === 0) return;
  throw new CreateError(
    'folder_not_empty',
    `The folder ${dir} is not empty. Choose another folder, or add a saga to it with --template existing-server.`,
  );
}

function assertFree(dir: string, files: Files): void {
  const taken = [...files.keys()].filter((file) => existsSync(join(dir, file)));
  if (taken.length === 0) return;
  throw new CreateError(
    'file_exists',
    `${taken.join(', ')} already exists in ${dir}. Nothing was written.`,
  );
}

async function readManifest(dir: string): Promise<Manifest> {
  try {
    return JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as Manifest;
  } catch {
    throw new CreateError(
      'no_package',
      `No readable package.json in ${dir}. Name the folder of your server, or choose another template.`,
    );
  }
}

async function write(dir: string, files: Files, flag: 'w' | 'wx'): Promise<void> {
  await Promise.all(
    [...files].map(async ([path, text]) => {
      const file = join(dir, path);
      await mkdir(dirname(file), { recursive: true });
      // Only the owner of the files may read the keys.
      await writeFile(file, text, {
        flag,
        mode: /^\.(?:env|dev\.vars)$/.test(path) ? 0o600 : 0o666,
      });
    }),
  );
}

function toJson(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
