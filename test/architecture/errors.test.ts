import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packages, repository } from './packages.ts';

// `seal` and `client` depend on no other package, so their base classes have names of their own.
const bases: { readonly [name: string]: string } = { seal: 'SealError', client: 'SagaClientError' };

const names = packages.map((name) => ({
  name,
  api: readFileSync(join(repository, 'etc', `${name}.api.md`), 'utf8'),
}));
const declared = names.flatMap(({ name, api }) =>
  [...api.matchAll(/^export (?:abstract )?class (\w+)(?:<[^\n]*>)? extends (\w+)[^\n]*\{\n(.*?)^\}/gms)].map(
    ([, error = '', base = '', members = '']) => ({ name, error, base, members }),
  ),
);
const errors = declared.filter(({ error }) => (ancestry(error).at(-1) ?? '').endsWith('Error'));

/** The classes from one up to the one that no package declares. */
function ancestry(name: string): readonly string[] {
  const found = declared.find(({ error }) => error === name);
  return found === undefined ? [name] : [name, ...ancestry(found.base)];
}

describe.each(errors)('the error $error of $name', ({ name, error, members }) => {
  it('extends the one base class of its package', () => {
    expect(ancestry(error)).toContain(bases[name] ?? 'SagaError');
  });

  it('has codes in snake_case', () => {
    assertSnakeCase(/(?<=\bcode: )[^;]*/.exec(members)?.[0] ?? '');
  });
});

it('has codes and reasons in snake_case', () => {
  for (const { api } of names) {
    for (const [, codes = ''] of api.matchAll(/^export type \w+(?:Code|RefusalReason) = ([^;]*);/gm))
      assertSnakeCase(codes);
  }
});

it('finds the errors of all packages that export some', () => {
  const found = [...new Set(errors.map(({ name }) => name))];
  expect(found).toEqual(['client', 'core', 'seal', 'server', 'testing', 'xstate']);
  for (const base of ['SagaError', ...Object.values(bases)])
    expect(errors.find(({ error }) => error === base)?.members).toMatch(/\bcode: /);
});

function assertSnakeCase(codes: string): void {
  for (const [, code] of codes.matchAll(/["']([^"']*)["']/g)) expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
}
