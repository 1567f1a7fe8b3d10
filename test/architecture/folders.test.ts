import { describe, expect, it } from 'vitest';
import { importsOfFolders, listedFolders, sourceFolders, upwardImports } from './folders.ts';
import { sources } from './packages.ts';

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
