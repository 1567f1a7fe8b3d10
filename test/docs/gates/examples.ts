import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript-5';
import { repository } from '../../architecture/packages.ts';
import { entryPoints, examplesIn, sourcePaths, type Documented } from './docstrings.ts';

/** Names that examples may use without a declaration. */
const ambient = `import type { SagaHost } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
declare global {
  const host: SagaHost;
  const client: Client;
  const token: string;
  const keys: string;
  const bank: any;
  const api: any;
  const mail: any;
  const db: any;
}
`;

/** An example as a module: with imports of the names of its package, and of `z`. */
export function toModule(code: string, entries: ReadonlyMap<string, string>): string {
  const source = ts.createSourceFile('example.ts', code, ts.ScriptTarget.ESNext, true);
  const used = new Set<string>();
  const declared = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) (isDeclaration(node) ? declared : used).add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  const imports = [...used]
    .filter((name) => !declared.has(name))
    .flatMap((name) => {
      const from = name === 'z' ? 'zod' : entries.get(name);
      return from === undefined ? [] : [`import { ${name} } from '${from}';`];
    });
  return `${imports.join(' ')}\n${code}\nexport {};\n`;
}

/**
 * An identifier that declares a name of the module. Names of properties count too: no import is
 * needed for them.
 */
function isDeclaration(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    ((ts.isVariableDeclaration(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isClassDeclaration(parent) ||
      ts.isInterfaceDeclaration(parent) ||
      ts.isTypeAliasDeclaration(parent)) &&
      parent.name === node) ||
    ts.isImportSpecifier(parent) ||
    ts.isNamespaceImport(parent)
  );
}

/** Type-checks all examples in one run of the compiler. Returns what is wrong, by package. */
export async function checkExamples(
  documented: readonly Documented[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = await mkdtemp(join(repository, 'test/docs/gates/.examples-'));
  const owners = new Map<string, Documented>();
  try {
    await writeFile(join(folder, 'ambient.d.ts'), ambient);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration()));
    for (const one of documented) {
      const entries = entryPoints(one.package);
      for (const [index, code] of examplesIn(one.docstring).entries()) {
        const file = `${one.package}.${one.name}.${index + 1}.ts`;
        owners.set(file, one);
        await writeFile(join(folder, file), toModule(code, entries));
      }
    }
    const problems = new Map<string, string[]>();
    const lines = (await compile(folder)).split('\n').filter((line) => line.includes(': error '));
    for (const line of lines) {
      const file = /([^/\\(]+)\(\d+,\d+\)/.exec(line)?.[1] ?? '';
      const name = owners.get(file)?.package ?? 'unknown';
      problems.set(name, [
        ...(problems.get(name) ?? []),
        `@example: ${line.replace(/^.*[/\\]/, '')}`,
      ]);
    }
    return problems;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configuration(): object {
  return {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2023',
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      types: ['node'],
      module: 'nodenext',
      moduleResolution: 'nodenext',
      moduleDetection: 'force',
      allowImportingTsExtensions: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      paths: sourcePaths(),
    },
    include: ['*.ts'],
  };
}

function compile(folder: string): Promise<string> {
  const tsc = join(repository, 'node_modules/typescript/bin/tsc');
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [tsc, '-p', folder, '--pretty', 'false'],
      { maxBuffer: 2 ** 26 },
      (_error, stdout) => resolve(stdout),
    );
  });
}
