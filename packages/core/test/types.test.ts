import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../../../', import.meta.url));
const core = join(repository, 'packages/core/src/index.ts');
const fixtures = join(repository, 'packages/core/test/types');

const helper = "function* helper() { return yield* step('x', () => 1); }";
const body = (code: string): string =>
  `${helper}\nsaga({ name: 'a', version: '1' }, function* () { ${code} });`;

/** Bodies that must not compile, and what the error has to say. */
const refused: Readonly<Record<string, { readonly code: string; readonly says: RegExp }>> = {
  promise: { code: body("yield Promise.resolve(1); return 'x';"), says: /write: yield\* step\('id', async/ },
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
  const folder = mkdtempSync(join(tmpdir(), 'saga-types-'));
  let compiled: Compilation;

  const project = (name: string, include: readonly string[]): string => {
    const file = join(folder, `${name}.json`);
    const compilerOptions = { typeRoots: [join(repository, 'node_modules/@types')] };
    const settings = { extends: join(repository, 'test/tsconfig.json'), compilerOptions, include };
    writeFileSync(file, JSON.stringify(settings));
    return file;
  };

  beforeAll(async () => {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const [name, { code }] of Object.entries(refused)) {
      writeFileSync(
        join(folder, `${name}.ts`),
        `import { saga, step } from '${core}';\nvoid [saga, step];\n${code}\nexport {};\n`,
      );
    }
    compiled = await compile(compiler, project('tsconfig', [`${folder}/*.ts`, `${fixtures}/*.ts`]));
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('gives each word its exact type, and refuses what cannot be meant', () => {
    expect(compiled.lines.filter((line) => /(?:positive|negative|equal)\.ts\(/.test(line))).toEqual([]);
    // Nothing else is wrong, such as a compiler that does not start.
    const wrong = compiled.lines.filter((line) => !line.startsWith(' '));
    expect(wrong).toHaveLength(Object.keys(refused).length);
  });

  it.each(Object.keys(refused))('refuses a body in at most two lines that say what to write: %s', (name) => {
    const start = compiled.lines.findIndex((line) => line.includes(`${name}.ts(`));
    expect(start).toBeGreaterThanOrEqual(0);
    const rest = compiled.lines.slice(start + 1);
    const length = rest.findIndex((line) => !line.startsWith(' '));
    const diagnostic = [compiled.lines[start], ...rest.slice(0, length === -1 ? rest.length : length)];
    expect(diagnostic.length).toBeLessThanOrEqual(2);
    expect(diagnostic.at(-1)).toMatch(refused[name]?.says as RegExp);
    expect(compiled.lines.filter((line) => line.includes(`${name}.ts(`))).toHaveLength(1);
  });
});
