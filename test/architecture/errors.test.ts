import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionError as ofCore } from '../../packages/core/src/values/option-error.ts';
import { optionError as ofSeal } from '../../packages/seal/src/model/option-error.ts';
import { packages, repository } from './packages.ts';

// `seal`, `client`, and `queues` load no engine, and `cli` prints its errors: their base classes have
// names of their own.
const bases: { readonly [name: string]: string } = {
  seal: 'SealError',
  client: 'SagaClientError',
  queues: 'QueueError',
  cli: 'CliError',
};

const names = packages.map((name) => ({
  name,
  api: readFileSync(join(repository, 'etc', `${name}.api.md`), 'utf8'),
}));
const declared = names.flatMap(({ name, api }) =>
  [
    ...api.matchAll(
      /^export (?:abstract )?class (\w+)(?:<[^\n]*>)? extends (\w+)[^\n]*\{\n(.*?)^\}/gms,
    ),
  ].map(([, error = '', base = '', members = '']) => ({ name, error, base, members })),
);
const errors = declared.filter(({ error }) => (ancestry(error).at(-1) ?? '').endsWith('Error'));

/** The class names from an error up to the first class that no package declares. */
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
    for (const [, codes = ''] of api.matchAll(
      /^export type \w+(?:Code|RefusalReason) = ([^;]*);/gm,
    ))
      assertSnakeCase(codes);
  }
});

/** Errors inside the library or of an SDK, by file. They are not about an option. */
const internal: { readonly [file: string]: number } = {
  'client/src/steps/fulfill-steps.ts': 1,
  'core/src/effects/end-task.ts': 2,
  'core/src/journal/read-history.ts': 1,
  'core/src/undo/ending.ts': 1,
  'create-mcp-saga/src/manifest.ts': 1,
  'redis/src/redis-entries.ts': 2,
  'redis/src/redis-lists.ts': 1,
  'server/src/dialects/saga-methods.ts': 1,
  'server/src/dialects/tasks/task-turn.ts': 1,
  'server/src/mcp/attach-saga-methods.ts': 1,
  'server/src/mcp/prompts.ts': 1,
  'server/src/mcp/resources.ts': 1,
  'server/src/mcp/sdk.ts': 1,
  'server/src/mcp/tools.ts': 1,
  'server/src/queue/bounded-body.ts': 1,
  'server/src/serving/sdk-serving.ts': 1,
  'server/src/store/store-guard.ts': 1,
  'server/src/turn/turn-runtime.ts': 1,
  'sql/src/sql-lists.ts': 1,
  'testing/src/explore/fork-everywhere.ts': 1,
  'testing/src/record/replay/replay-turn.ts': 1,
  'xstate/src/effects/undo-machine.ts': 2,
  'xstate/src/machine/machine-saga.ts': 1,
  'xstate/src/machine/machine-questions.ts': 1,
};

it('has a code for each error about an option', () => {
  const found = packages.flatMap((name) =>
    readdirSync(join(repository, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const path = `${name}/src/${file}`;
        const { length } = readFileSync(join(repository, 'packages', path), 'utf8').split(
          /new (?:TypeError|RangeError)\(/,
        );
        return length > 1 ? [[path, length - 1] as const] : [];
      }),
  );
  expect(Object.fromEntries(found)).toEqual(internal);
});

// `seal` imports no other package. All others share the error of `core`.
it.each([ofCore, ofSeal])(
  'links errors about options of `core` and of `seal` to the same page',
  (optionError) => {
    expect(optionError('Wrong.')).toMatchObject({
      name: 'TypeError',
      code: 'invalid_option',
      message: 'Wrong.\nSee docs/reference/errors.md#invalid_option',
    });
    expect(optionError('Wrong.', { type: RangeError })).toBeInstanceOf(RangeError);
  },
);

it('finds the errors of all packages that export errors', () => {
  const found = [...new Set(errors.map(({ name }) => name))];
  expect(found).toEqual(['cli', 'client', 'core', 'queues', 'seal', 'server', 'testing', 'xstate']);
  for (const base of ['SagaError', ...Object.values(bases)])
    expect(errors.find(({ error }) => error === base)?.members).toMatch(/\bcode: /);
});

function assertSnakeCase(codes: string): void {
  for (const [, code] of codes.matchAll(/["']([^"']*)["']/g))
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
}
