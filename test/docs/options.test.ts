import { describe, expect, it } from 'vitest';
import { read } from './markdown.ts';

const server = 'packages/server/src';
const tables = [
  ['host-options.md', '## Host', 'SagaHostOptions', `${server}/model/host-options.ts`],
  ['host-options.md', '## `keys`', 'KeySource', `${server}/model/host-options.ts`],
  ['host-options.md', '## `auth`\n', 'AuthOptions', `${server}/model/host-options.ts`],
  ['host-options.md', '### `page`', 'PageOptions', `${server}/model/host-options.ts`],
  ['host-options.md', '## `answerers`', 'AnswererOptions', `${server}/model/host-options.ts`],
  ['host-options.md', '## `anonymous`', 'AnonymousOptions', `${server}/model/host-options.ts`],
  ['host-options.md', '## `steps`', 'StepDefaults', `${server}/model/host-options.ts`],
  ['host-options.md', '## `limits`', 'HostLimits', `${server}/model/host-limits.ts`],
  ['host-options.md', '## `testing`', 'TestingOptions', `${server}/model/host-options.ts`],
  ['host-options.md', '## Server', 'ServeSagasOptions', `${server}/http/serve-options.ts`],
  [
    'host-options.md',
    '## `auth` of a server',
    'ServeAuthOptions',
    `${server}/http/serve-options.ts`,
  ],
  ['host-options.md', '## `http`', 'HttpOptions', `${server}/http/serve-options.ts`],
  ['hooks.md', '# Hooks', 'HostHooks', `${server}/model/hooks.ts`],
  ['saga-options.md', '# Saga options', 'SagaOptions', 'packages/core/src/author/sagas/saga.ts'],
  ['token.md', '## Claims', 'Claims', 'packages/seal/src/token/claims.ts'],
] as const;

/** Options that an interface has of another one, from another file. */
const inherited: { readonly [name: string]: readonly [name: string, file: string] } = {
  SagaOptions: ['ToolFields', 'packages/core/src/model/tool-fields.ts'],
};

/** Returns the names of the members of an interface, as its source has them. */
function membersOf(name: string, file: string): readonly string[] {
  const [, body = ''] =
    new RegExp(`^export interface ${name}\\b[^{]*?\\{\\n(.*?)^\\}`, 'ms').exec(
      withoutTypeArguments(read(file)),
    ) ?? [];
  const of = inherited[name];
  const members = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, member = '']) => member);
  return [...members, ...(of === undefined ? [] : membersOf(...of))];
}

const withoutTypeArguments = (text: string): string => text.replaceAll(/extends Omit<[^>]*>/g, '');

/** Returns the rows of the first table under a heading: the name, and the other cells. */
function rowsUnder(page: string, heading: string): readonly (readonly string[])[] {
  const [, rest = ''] = read(`docs/reference/${page}`).split(`\n${heading}`);
  const [table = ''] = /(?:^\|[^\n]*\n)+/m.exec(rest) ?? [];
  return table
    .split('\n')
    .filter((row) => row.startsWith('| `'))
    .map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));
}

describe('the reference of options', () => {
  it.each(tables)('lists in %s under "%s" each member of %s', (page, heading, name, file) => {
    const members = membersOf(name, file);
    expect(members.length).toBeGreaterThan(0);
    const rows = rowsUnder(page, heading);
    const listed = rows.map(([cell = '']) => cell.replaceAll('`', ''));
    expect(listed.toSorted()).toEqual([...new Set(members)].toSorted());
    // A claim has a meaning only; an option has a type and a default as well.
    for (const cells of rows) expect(cells.filter(Boolean)).toHaveLength(name === 'Claims' ? 2 : 4);
  });
});
