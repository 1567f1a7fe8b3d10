import * as core from '../../packages/core/src/index.ts';
import * as server from '../../packages/server/src/index.ts';
import { expect, it } from 'vitest';
import { commands, definers, droppers } from '../../packages/eslint-plugin/src/saga/vocabulary.ts';
import { entryTypes } from '../../packages/core/src/journal/entry-types.ts';

/** Functions that make no command, so forgetting `yield*` before them is no mistake. */
const others = ['compensator', 'duration', 'toUuid', 'withJsonSchema'];

/** Functions of core that authors call. */
const functions = Object.entries(core)
  .filter(([name, value]) => typeof value === 'function' && /^[a-z]/.test(name))
  .map(([name]) => name);

it('exports each function of authors from the server package', () => {
  expect(functions.filter((name) => !(name in server))).toEqual([]);
});

it('has each function of authors in the vocabulary of the lint rules', () => {
  const known = new Set([...definers, ...commands, ...droppers, ...others]);
  expect(functions.filter((name) => !known.has(name))).toEqual([]);
});

it('assigns each letter to one entry type', () => {
  const letters = Object.values(entryTypes).map(([letter]) => letter);
  expect(new Set(letters).size).toBe(letters.length);
});
