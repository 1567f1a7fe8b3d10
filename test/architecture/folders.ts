import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { repository, sources } from './packages.ts';

/**
 * Source files of the packages by folder, with the names that AGENTS.md has for them:
 * `core/src/turn`.
 */
export function sourceFolders(): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, string[]>();
  for (const name of sources) {
    const root = join(repository, 'packages', name, 'src');
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue;
      const folder = folderOf(join(entry.parentPath, entry.name));
      folders.set(folder, [...(folders.get(folder) ?? []), entry.name]);
    }
  }
  return folders;
}

/** The folders of the table in AGENTS.md, top layer first, with their descriptions. */
export function describedFolders(): ReadonlyMap<string, string> {
  const rows = readFileSync(join(repository, 'AGENTS.md'), 'utf8').matchAll(
    /^\| `([a-z-]+\/src(?:\/[a-z-]+)*)` +\| (.*?) *\|$/gm,
  );
  return new Map([...rows].map(([, folder = '', holds = '']) => [folder, holds]));
}

/**
 * Each import within a package from one folder to another:
 * `[file, folder of the file, folder imported]`.
 */
export function importsOfFolders(): readonly (readonly [file: string, from: string, to: string])[] {
  return [...sourceFolders()].flatMap(([from, files]) =>
    files.flatMap((name) => {
      const file = join(repository, 'packages', from, name);
      return [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)]
        .map(([, specifier = '']) => folderOf(join(dirname(file), specifier)))
        .filter((to) => to !== from)
        .map((to) => [`${from}/${name}`, from, to] as const);
    }),
  );
}

function folderOf(file: string): string {
  return relative(join(repository, 'packages'), dirname(file)).split(sep).join('/');
}
