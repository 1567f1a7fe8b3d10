import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOfFolders, listedFolders, sourceFolders, upwardImports } from './folders.ts';
import { repository, sources } from './packages.ts';

const allImports = importsOfFolders();
const allFolders = [...sourceFolders().keys()];

describe.each(sources)('the README of the source of %s', (name) => {
  const isOwn = (folder: string): boolean => folder.split('/')[0] === name;

  it('lists each folder once', () => {
    const folders = allFolders.filter(isOwn);
    expect(folders.length).toBeGreaterThan(0);
    expect(listedFolders(name).toSorted()).toEqual(folders.toSorted());
  });

  it('lists each folder above those that it imports from', () => {
    const imports = allImports.filter(({ from }) => isOwn(from));
    const upwards = upwardImports(listedFolders(name), imports);
    expect(upwards.map(({ file, to }) => `${file} -> ${to}`)).toEqual([]);
  });
});

describe.each(['core', 'seal', 'server', 'redis', 'sql', 'cloudflare'])(
  'each folder of the source of %s',
  (name) => {
    it('has a file that opens with a preface', () => {
      const all = [...sourceFolders()].filter(([folder]) => folder.split('/')[0] === name);
      // Beside other folders, the root holds the entry points only.
      const folders = all.filter(([folder]) => all.length === 1 || folder !== `${name}/src`);
      expect(folders.length).toBeGreaterThan(0);
      const bare = folders.filter(([folder, files]) => !files.some((file) => opens(folder, file)));
      expect(bare.map(([folder]) => folder)).toEqual([]);
    });
  },
);

/** `true` for a file that begins with a comment of at least three lines before its imports. */
function opens(folder: string, file: string): boolean {
  const text = readFileSync(join(repository, 'packages', folder, file), 'utf8');
  const [, comment = ''] = /^\/\*\*\n([^]*?) \*\/\n(?:import|export|\n)/.exec(text) ?? [];
  return comment.split('\n').length > 2;
}

it('the order of folders forbids imports of a folder above, of an unlisted one, and of another package', () => {
  const order = listedFolders(
    'some',
    '# Source\n\n- `.` holds.\n- `a` uses `b`.\n- `b` is.\n\n## More\n\n- `c`\n',
  );
  expect(order).toEqual(['some/src', 'some/src/a', 'some/src/b']);
  const to = (from: string, target: string) => ({ file: 'file.ts', from, to: target });
  const allowed = [to('some/src', 'some/src/b'), to('some/src/a', 'some/src/b')];
  const forbidden = [
    to('some/src/b', 'some/src/a'),
    to('some/src/a', 'some/src/c'),
    to('some/src/a', 'other/src'),
  ];
  expect(upwardImports(order, [...allowed, ...forbidden])).toEqual(forbidden);
});
