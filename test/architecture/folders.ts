import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { repository, sources } from './packages.ts';

/** Source files of the packages by folder: `core/src/turn`. */
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

/** The page that lists the folders of a package. */
export function sourcePage(name: string): string {
  return readFileSync(join(repository, 'packages', name, 'src/README.md'), 'utf8');
}

/** The folders that the page of a package lists, top layer first: `core/src/turn`. */
export function listedFolders(name: string, page: string = sourcePage(name)): readonly string[] {
  // What follows the list has headings of its own.
  const [list = ''] = page.split(/^## /m);
  return [...list.matchAll(/^- `([^`]+)`/gm)].map(([, folder = '']) =>
    folder === '.' ? `${name}/src` : `${name}/src/${folder}`,
  );
}

/** An import within the packages from one folder to another. */
export interface FolderImport {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Each relative import of the packages that leaves its folder. */
export function importsOfFolders(): readonly FolderImport[] {
  return [...sourceFolders()].flatMap(([from, files]) =>
    files.flatMap((name) => {
      const file = join(repository, 'packages', from, name);
      return [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)]
        .map(([, specifier = '']) => folderOf(join(dirname(file), specifier)))
        .filter((to) => to !== from)
        .map((to) => ({ file: `${from}/${name}`, from, to }));
    }),
  );
}

/** The imports that do not lead from a folder of a list to one further down. */
export function upwardImports(
  order: readonly string[],
  imports: readonly FolderImport[],
): readonly FolderImport[] {
  return imports.filter(({ from, to }) => order.indexOf(from) >= order.indexOf(to));
}

function folderOf(file: string): string {
  return relative(join(repository, 'packages'), dirname(file)).split(sep).join('/');
}
