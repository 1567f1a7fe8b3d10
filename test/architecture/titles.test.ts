import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packages, repository } from './packages.ts';

const title = /\b(?:it|test)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g;

it('gives each test of the packages a title of its own, so that a failure names one test', () => {
  const places = new Map<string, string[]>();
  for (const name of packages) {
    const folder = join('packages', name, 'test');
    for (const entry of readdirSync(join(repository, folder), {
      recursive: true,
      encoding: 'utf8',
    })) {
      if (!entry.endsWith('.test.ts')) continue;
      const file = join(folder, entry);
      for (const [, single, double] of readFileSync(join(repository, file), 'utf8').matchAll(
        title,
      )) {
        const text = single ?? double ?? '';
        places.set(text, [...(places.get(text) ?? []), file]);
      }
    }
  }
  expect(places.size).toBeGreaterThan(1000);
  const repeated = [...places].filter(([, files]) => files.length > 1);
  expect(repeated.map(([text, files]) => `${text}: ${files.join(', ')}`)).toEqual([]);
});
