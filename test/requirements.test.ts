import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requirements } from './requirements.ts';

const root = new URL('..', import.meta.url);

const range = (letter: string, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

/** The ids that titles of tests cite, with one file each. */
function citations(): Map<string, string> {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  const cited = new Map<string, string>();
  for (const file of listed.split('\n').filter(Boolean)) {
    const source = readFileSync(new URL(file, root), 'utf8');
    // Titles stand first in a call of it, test or describe, or of their `each` and `prop` forms.
    for (const [, title] of source.matchAll(
      /\b(?:it|test|describe)\b[^\n'"`]*\(\s*['"`]([^\n]*)/g,
    )) {
      for (const [, ids] of (title ?? '').matchAll(/\[([A-Z]\d+(?:, ?[A-Z]\d+)*)\]/g)) {
        for (const id of (ids ?? '').split(/, ?/)) cited.set(id, file);
      }
    }
  }
  return cited;
}

describe('requirements', () => {
  const cited = citations();

  it.each(requirements)('$id is cited by a test: $says', ({ id }) => {
    expect([...cited.keys()]).toContain(id);
  });

  it('include every ID that tests cite', () => {
    const known = new Set(requirements.map(({ id }) => id));
    expect([...cited].filter(([id]) => !known.has(id))).toEqual([]);
  });

  it('have unique IDs, U1 to T15', () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids).toEqual([
      ...range('U', 4),
      ...range('R', 6),
      ...range('E', 10),
      ...range('W', 7),
      ...range('P', 2),
      ...range('T', 15),
    ]);
  });
});
