import { expect, it } from 'vitest';
import { describedFolders, importsOfFolders, sourceFolders } from './folders.ts';

it('has one row in the table of AGENTS.md for each folder', () => {
  expect([...describedFolders().keys()].toSorted()).toEqual([...sourceFolders().keys()].toSorted());
});

it('imports only from folders further down in the table', () => {
  const order = [...describedFolders().keys()];
  const upwards = importsOfFolders().filter(
    ([, from, to]) => order.indexOf(from) > order.indexOf(to),
  );
  expect(upwards.map(([file, , to]) => `${file} -> ${to}`)).toEqual([]);
});
