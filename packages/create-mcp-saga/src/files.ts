import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { templates, type Language, type TemplateName } from './templates.ts';

/** Contents by path, relative to the project. */
export type Files = ReadonlyMap<string, string>;

const folder = fileURLToPath(new URL('../templates', import.meta.url));
const placeholder = /mcp-saga-project/g;
/** Settings that would apply to the templates themselves under their own names. */
const hidden = /(?<=^|\/)(gitignore|oxlintrc\.json)$/;

/**
 * Reads the files of a template in a language, with the name of the project filled in.
 *
 * @param isCommonJs - `true` if the package.json of the project makes its files CommonJS modules,
 * so that only the name of a file can make it a module with imports
 */
export async function readTemplate(
  template: TemplateName,
  language: Language,
  name: string,
  isCommonJs = false,
): Promise<Files> {
  const shared = await readFolder(join(folder, 'shared'));
  const own = await readFolder(join(folder, template));
  const all =
    template === 'existing-server' ? [...ofExistingServer(shared), ...own] : [...shared, ...own];
  // TypeScript files with types also have a JavaScript version.
  const inLanguage =
    language === 'typescript' ? all.filter(([path]) => !path.endsWith('.js')) : javaScript(all);
  const named = isCommonJs ? inLanguage.map(asModule) : inLanguage;
  const files = new Map(
    named.map(([path, text]) => [path.replace(hidden, '.$1'), text.replace(placeholder, name)]),
  );
  const { keysFile } = templates[template];
  // NODE_ENV shows errors of steps while you develop.
  if (keysFile !== undefined)
    files.set(keysFile, `SAGA_KEYS=${generateKeys()}\nNODE_ENV=development\n`);
  return files;
}

type Entry = readonly [path: string, text: string];

async function readFolder(root: string): Promise<readonly Entry[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return await Promise.all(
    paths.toSorted().map(async (path): Promise<Entry> => {
      const text = await readFile(join(root, path), 'utf8');
      return [path.split(sep).join('/'), text.replaceAll('\r\n', '\n')];
    }),
  );
}

/**
 * Selects the files for an existing server, which has settings and clients already. Oxlint finds the
 * settings in the folder of the sagas, and applies them to no other file.
 */
function ofExistingServer(shared: readonly Entry[]): readonly Entry[] {
  return shared
    .filter(([path]) => /^(?:send-invoice|oxlintrc)/.test(path))
    .map(([path, text]) => [`sagas/${path}`, text]);
}

/**
 * Makes JavaScript from TypeScript templates. Sources with types have a JavaScript version.
 * Renaming is enough for all others, because imports end in `.js`.
 */
function javaScript(entries: readonly Entry[]): readonly Entry[] {
  const paths = new Set(entries.map(([path]) => path));
  const sources = [...paths].filter((path) => path.endsWith('.ts'));
  return entries
    .filter(
      ([path]) => path !== 'tsconfig.json' && (!path.endsWith('.ts') || !paths.has(renamed(path))),
    )
    .map(([path, text]) => {
      if (/\.(?:ts|js)$/.test(path)) return [renamed(path), text];
      const lines = text.split('\n').filter((line) => !line.includes('`npm run check`'));
      // Settings name the source files.
      return [
        path,
        sources.reduce(
          (result, source) => result.replaceAll(source, renamed(source)),
          lines.join('\n'),
        ),
      ];
    });
}

/** Names a file `.mts` or `.mjs`, and those that it imports. */
function asModule([path, text]: Entry): Entry {
  return [
    path.replace(/\.([tj]s)$/, '.m$1'),
    text.replaceAll(/(?<=from '\.[^']*)\.js(?=')/g, '.mjs'),
  ];
}

function renamed(path: string): string {
  return path.replace(/\.ts$/, '.js');
}

/** Generates a key ring with one key, in the form of `SAGA_KEYS`. */
function generateKeys(): string {
  return `k1:${randomBytes(32).toString('base64url')}`;
}
