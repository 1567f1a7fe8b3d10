import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declarations, typeMistakes } from './type-mistakes.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const core = join(repository, 'packages/core/src/index.ts');
const server = join(repository, 'packages/server/src/index.ts');
const serve = join(repository, 'packages/server/src/serve.ts');
const xstate = join(repository, 'packages/xstate/src/index.ts');

const helper = "function* helper() { return yield* step('x', () => 1); }";
const body = (code: string): string =>
  `${helper}\nsaga({ name: 'a', version: '1' }, function* () { ${code} });`;

/** Bodies that must not compile, and what the error has to say. */
const refused: Readonly<Record<string, { readonly code: string; readonly says: RegExp }>> = {
  promise: {
    code: body("yield Promise.resolve(1); return 'x';"),
    says: /write: yield\* step\('id', async/,
  },
  'promise-among-commands': {
    code: body("yield* helper(); yield fetch('x'); yield* helper(); return 'x';"),
    says: /write: yield\* step\('id', async .* Promise<Response>/,
  },
  'bare-value': { code: body("yield 5; return 'x';"), says: /A saga yields commands: .* number\]/ },
  nothing: { code: body("yield; return 'x';"), says: /A saga yields commands: .* undefined\]/ },
  'helper-without-star': { code: body("yield helper(); return 'x';"), says: /yield\* helper\(…\)/ },
  'typed-input': {
    code: `declare const input: { readonly '~standard': { readonly version: 1; readonly vendor: 'v';
      readonly types?: { readonly input: { a: string }; readonly output: { a: string } };
      readonly validate: (value: unknown) => { readonly value: { a: string } } } };
      saga({ name: 'a', version: '1', input }, function* ({ a }) { yield Promise.resolve(a); return a; });`,
    says: /write: yield\* step\('id', async .* Promise<string>/,
  },
  'async-generator': {
    code: "saga({ name: 'a', version: '1' }, async function* () { return 'x'; });",
    says: /AsyncGenerator/,
  },
  'wrong-result': {
    code: body('yield* helper(); return 5;'),
    says: /The body must return.* string \| ToolResult/,
  },
};

/** Sagas that compensate, pivot, or run a step once, on a host without a store. */
const withoutStore: typeof refused = Object.fromEntries(
  [
    ['compensate', "yield* step('a', () => 1, { compensate: ({ result }) => void result });"],
    [
      'undo-of-unknown',
      "yield* step('a', () => 1, { compensate: () => undefined, unknown: 'compensate' });",
    ],
    ['once', "yield* step('a', () => 1, { once: true });"],
    ['not-kept', "yield* step('a', () => 1, { keep: false, compensate: () => undefined });"],
    ['pivot', "yield* pivot('sent');"],
    ['in-a-helper', 'yield* pay();'],
    ['in-a-group', "yield* all({ a: step('a', () => 1), b: step('b', () => 1, { once: true }) });"],
    ['in-a-list', "yield* allSettled([step('a', () => 1), pay()]);"],
    ['in-an-each', "yield* each(['a'], () => step('a', () => 1, { once: true }));"],
    ['in-a-race', 'yield* race({ a: sleep(1), b: all([pay()]) });'],
    ['in-a-scope', "yield* scope('s', pay());"],
    ['in-a-called-saga', 'yield* call(paid, {});'],
    ['in-a-condition', "if ((yield* random()) < 0.5) yield* pivot('sent');"],
  ].map(([name, code]) => [
    name,
    {
      code: `const paid = saga({ name: 'paid', version: '1' }, function* () { yield* pay(); return 'x'; });
        function* pay() { return yield* step('pay', () => 1, { compensate: () => undefined }); }
        const a = saga({ name: 'a', version: '1' }, function* () { yield* sleep(1); ${code} return 'x'; });
        const b = saga({ name: 'b', version: '1' }, function* () { return 'x'; });
        createSagaHost({ sagas: [b, a], name: 'shop' });`,
      says: /Property 'store' is missing .*required in type '\{ readonly store: SagaStore; \}'/,
    },
  ]),
);

const order = 'class Order { total() { return 1; } }';

/** Steps that must not compile, and what the error has to say. */
const refusedSteps: typeof refused = {
  'instance-result': {
    code: `${order} step('x', async () => new Order());`,
    says: /A step must return plain data, Date, Map, Set, URL, Uint8Array or Error, not", Order\]/,
  },
  'response-result': {
    code: "step('x', () => fetch('x'));",
    says: /A step must return plain data.* Response\]/,
  },
  'inner-result': {
    code: `${order} step('x', () => ({ id: 1, order: new Order() }));`,
    says: /A step must return plain data.* \{ order: Order; \}\]/,
  },
  'generator-result': {
    code: "step('x', function* () { return 1; });",
    says: /A step is a function or an async function\. It must not be a generator/,
  },
  'poll-result': {
    code: `${order} poll('x', () => new Order(), { every: 1, timeout: 2 });`,
    says: /A poll must return plain data.* Order\]/,
  },
  'undo-word': {
    code: "step('x', () => 1, { compensate: async function* () {} });",
    says: /It must not be an async generator/,
  },
};

const shape = 'declare const text: { readonly parse: (given: unknown) => string };';
const wrap = /not assignable to type '"Wrap the fields in z\.object\(\{ … \}\)"'/;

/** The fields of a schema in the place of one. */
const looseFields: typeof refused = {
  'input-fields': {
    code: `${shape} saga({ name: 'a', version: '1', input: { text } }, function* () { return 'x'; });`,
    says: wrap,
  },
  'output-fields': {
    code: `${shape} saga({ name: 'a', version: '1', output: { text } }, function* () { return {}; });`,
    says: wrap,
  },
  'form-fields': { code: `${shape} elicit('q', { message: 'm', schema: { text } });`, says: wrap },
};

/** The same with options, where compilers tell of each way to call it. */
const refusedWithOptions: typeof refused = {
  'result-with-options': {
    code: `${order} step('x', ({ input }) => [input, new Order()].slice(1) as Order[], { input: 1, retry: 3 });`,
    says: /A step must return plain data.* Order\[\]\]/,
  },
  'undo-option': {
    code: "step('x', () => 1, { compensate: async function* () {} });",
    says: /An undo is a function, an async function or function\*\. It must not be an async generator/,
  },
};

/** A schema whose answer is a `T`. */
const schemaOf = `interface SchemaOf<T> { readonly '~standard': { readonly version: 1; readonly vendor: 'v';
  readonly types?: { readonly input: T; readonly output: T }; readonly validate: (value: unknown) => { readonly value: T } } }`;

/** Questions for what no form has, and what the error has to say. */
const refusedForms: typeof refused = Object.fromEntries(
  Object.entries({
    'nested-field': '{ name: string; address: { street: string } }',
    'nested-optional': '{ name: string; address?: { street: string } | undefined }',
    'list-of-objects': '{ orders: { id: string }[] }',
    'list-of-numbers': '{ sizes: number[] }',
    'date-field': '{ day: Date }',
    'bigint-field': '{ size: bigint }',
  }).map(([name, type]) => [
    name,
    {
      code: `${schemaOf}\ndeclare const schema: SchemaOf<${type}>; elicit('q', { message: 'm', schema });`,
      says: /A form has fields of text, number, boolean/,
    },
  ]),
);

const machine = (code: string): string => `machineSaga({ name: 'a', version: '1' }, ${code});`;

/** Machines and their steps that must not compile, and what the error has to say. */
const refusedMachines: typeof refused = {
  'no-machine-input': {
    code: machine(
      'setup({ types: { input: {} as { topic: string }, output: {} as string } }).createMachine({})',
    ),
    says: /the machine takes another input than the saga gives it/,
  },
  'no-machine-output': {
    code: machine('setup({}).createMachine({})'),
    says: /Property 'result' is missing/,
  },
  'response-of-a-machine-step': {
    code: "step(() => fetch('x'));",
    says: /A step must return plain data, Date, Map, Set, URL, Uint8Array or Error, not", Response\]/,
  },
  'undo-of-a-machine-step': {
    code: 'step(() => 5, { compensate: async function* () {} });',
    says: /An undo is a function, an async function or function\*\. It must not be an async generator/,
  },
};

const inWords = { ...refused, ...refusedSteps, ...looseFields, ...refusedForms };
const bodies = { ...inWords, ...refusedWithOptions, ...withoutStore };
const all = { ...bodies, ...refusedMachines };

const names =
  'all, allSettled, approval, call, compensator, each, elicit, ignore, listRoots, log, pivot, poll, race, random, ' +
  'saga, scope, sleep, step, uuid, waitFor';

/** Name of the file of a mistake. */
const fileOf = (mistake: string): string => mistake.replaceAll(/\W+/g, '-');

interface Compilation {
  readonly lines: readonly string[];
}

function compile(compiler: string, folder: string): Promise<Compilation> {
  const tsc = join(repository, 'node_modules', compiler, 'bin/tsc');
  return new Promise((resolve) => {
    // It ends with an error status, since the snippets must not compile.
    execFile(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], (_, stdout) =>
      resolve({ lines: stdout.split('\n').filter((line) => line !== '') }),
    );
  });
}

describe.each(['typescript', 'typescript-5'])('the types of sagas, compiled by %s', (compiler) => {
  // Where zod and XState are found.
  const folder = mkdtempSync(join(repository, 'node_modules/types-'));
  let compiled: Compilation;

  beforeAll(async () => {
    const settings = {
      extends: join(repository, 'test/tsconfig.json'),
      include: [
        `${folder}/*.ts`,
        ...['core', 'xstate'].map((name) => join(repository, 'packages', name, 'test/types/*.ts')),
      ],
      exclude: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const head = `import { ${names} } from '${core}';\nimport { createSagaHost, memoryStore } from '${server}';\nimport { serveSagas } from '${serve}';\nvoid [${names}, createSagaHost, memoryStore, serveSagas];`;
    for (const [name, { code }] of Object.entries(bodies))
      writeFileSync(join(folder, `${name}.ts`), `${head}\n${code}\nexport {};\n`);
    const machines = `import { machineSaga, step } from '${xstate}';\nimport { setup } from 'xstate';\nvoid [machineSaga, setup, step];`;
    for (const [name, { code }] of Object.entries(refusedMachines))
      writeFileSync(join(folder, `${name}.ts`), `${machines}\n${code}\n`);
    for (const [name, { code }] of Object.entries(typeMistakes)) {
      const file = `${head}\nimport { z } from 'zod';\n${declarations}\nvoid [refund, text];\n${code}\nexport {};\n`;
      writeFileSync(join(folder, `${fileOf(name)}.ts`), file);
    }
    compiled = await compile(compiler, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives each effect its exact type, and rejects wrong uses', () => {
    expect(
      compiled.lines.filter((line) => /(?:positive|negative|equal|sagas)\.ts\(/.test(line)),
    ).toEqual([]);
    // Nothing else is wrong, such as a compiler that does not start.
    const wrong = compiled.lines.filter((line) => !line.startsWith(' '));
    expect(wrong).toHaveLength(Object.keys({ ...all, ...typeMistakes }).length);
  });

  const diagnosticOf = (name: string): readonly (string | undefined)[] => {
    const start = compiled.lines.findIndex((line) => line.includes(`/${name}.ts(`));
    expect(start).toBeGreaterThanOrEqual(0);
    const rest = compiled.lines.slice(start + 1);
    const length = rest.findIndex((line) => !line.startsWith(' '));
    return [compiled.lines[start], ...rest.slice(0, length === -1 ? rest.length : length)];
  };

  it.each(Object.entries(inWords))(
    'refuses it in a few lines, and the last one contains the fix: %s',
    (name, { says }) => {
      const diagnostic = diagnosticOf(name);
      const most = name in refusedForms ? 1 : name === 'undo-word' ? 3 : 2;
      expect(diagnostic.length).toBeLessThanOrEqual(most);
      expect(diagnostic.at(-1)).toMatch(says);
      expect(compiled.lines.filter((line) => line.includes(`/${name}.ts(`))).toHaveLength(1);
    },
  );

  it.each(Object.entries({ ...refusedWithOptions, ...withoutStore, ...refusedMachines }))(
    'has the fix in the last line: %s',
    (name, { says }) => {
      expect(diagnosticOf(name).at(-1)).toMatch(says);
    },
  );

  it.each(Object.entries(typeMistakes))(
    'tells of a mistake first, in words, at its line: %s',
    (name, { says }) => {
      const diagnostic = diagnosticOf(fileOf(name));
      const written = readFileSync(join(folder, `${fileOf(name)}.ts`), 'utf8').split('\n');
      const wrongLine = written.findIndex((line) => line.endsWith('// <-')) + 1;
      expect(diagnostic[0]).toMatch(new RegExp(`\\.ts\\(${wrongLine},\\d+\\): error`));
      expect(diagnostic.join('\n')).toMatch(says);
    },
  );
});
