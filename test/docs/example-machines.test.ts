import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { read } from './markdown.ts';

const folder = 'packages/xstate/test/examples';

/** Returns the names of the examples in the titles of tests, by what the tests show of them. */
function shown(): { readonly served: readonly string[]; readonly changed: readonly string[] } {
  const titles = readdirSync(new URL(`../../${folder}`, import.meta.url)).flatMap((file) =>
    [...read(`${folder}/${file}`).matchAll(/^ {2}it\('(serves|refuses) ([\w-]+)(.*)/gm)].map(
      ([, verb, name = '', rest = '']) => ({
        name,
        isChanged: verb === 'refuses' || rest.includes(' in place of '),
      }),
    ),
  );
  const named = (changed: boolean): readonly string[] =>
    titles.flatMap(({ name, isChanged }) => (isChanged === changed ? [name] : [])).toSorted();
  return { served: named(false), changed: named(true) };
}

describe('the guide to machines', () => {
  it('lists each example machine of XState whose shape has a test, as the test shows it', () => {
    const [, section = ''] = read('docs/guides/xstate.md').split(
      '## The example machines of XState',
    );
    const tables = section
      .split('\n\n')
      .map((block) => [...block.matchAll(/^\| `([\w-]+)`/gm)].map(([, name = '']) => name))
      .filter(({ length }) => length > 0);
    const { served, changed } = shown();
    expect(tables.map((names) => names.toSorted())).toEqual([served, changed]);
    expect(section).toContain(`the same ${served.length + changed.length} shapes`);
    expect(section).toContain(`${served.length} are served as they are`);
  });
});
