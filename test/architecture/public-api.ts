import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript-5';
import { repository } from './packages.ts';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
}

interface Exported {
  readonly name: string;
  /** File and name of its declaration. */
  readonly origin: string;
  readonly signature: string;
}

/** The public names of a package with their signatures, as the file under `etc` holds them. */
export function publicApi(folder: string): string {
  const { name, exports } = readManifest(folder);
  const sections = Object.entries(exports)
    .filter(([, file]) => file.endsWith('.ts'))
    .map(([entry, file]) => {
      const exported = exportsOf(join(folder, file)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const specifier = `${name}${entry.slice(1)}`;
      return `## \`${specifier}\`: ${exported.length} names\n\n\`\`\`ts\n${exported
        .map(({ signature }) => signature)
        .join('\n\n')}\n\`\`\`\n`;
    });
  return `# ${name}\n\nWritten by \`pnpm api\`. A change here is a change for users.\n\n${sections.join('\n')}`;
}

/** The names that the main entry of a package exports, each with the place of its declaration. */
export function publicNames(folder: string): ReadonlyMap<string, string> {
  const main = readManifest(folder).exports['.'] ?? '';
  return new Map(exportsOf(join(folder, main)).map(({ name, origin }) => [name, origin]));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** All exports of a module: its own, and those of other modules. */
function exportsOf(file: string): Exported[] {
  const source = declarationsOf(file);
  return source.statements.flatMap((statement): Exported[] => {
    if (ts.isExportDeclaration(statement)) return reexports(statement, file);
    if (!isExported(statement)) return [];
    return namesOf(statement).map((name) => ({
      name,
      origin: `${file}#${name}`,
      signature: signatureOf(statement, source),
    }));
  });
}

function reexports({ exportClause, moduleSpecifier }: ts.ExportDeclaration, file: string): Exported[] {
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
  const from = moduleSpecifier.text;
  const target = exportsOf(from.startsWith('.') ? join(dirname(file), from) : entryOf(from));
  const asNamed = ({ name, origin, signature }: Exported, as: string): Exported => ({
    name: as,
    origin,
    signature: from.startsWith('.')
      ? signature
      : `export { ${name === as ? name : `${name} as ${as}`} } from '${from}';`,
  });
  if (exportClause === undefined || !ts.isNamedExports(exportClause))
    return target.map((exported) => asNamed(exported, exported.name));
  return exportClause.elements.flatMap(({ name, propertyName }) => {
    const source = (propertyName ?? name).text;
    const found = target.filter((exported) => exported.name === source);
    if (found.length === 0) throw new Error(`${file} exports ${source}, which ${from} does not have`);
    return found.map((exported) => asNamed(exported, name.text));
  });
}

/** The source file of an entry of one of our packages: `@mcp-saga/core`, `@mcp-saga/core/internal`. */
function entryOf(specifier: string): string {
  const [, name = '', entry = ''] = /^@mcp-saga\/([^/]+)(.*)$/.exec(specifier) ?? [];
  const folder = join(repository, 'packages', name);
  return join(folder, readManifest(folder).exports[`.${entry}`] ?? '');
}

const parsed = new Map<string, ts.SourceFile>();

/** What the declaration file of a module holds, without comments: the types are explicit on all exports. */
function declarationsOf(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    fileName: file,
    compilerOptions: {
      isolatedDeclarations: true,
      removeComments: true,
      stripInternal: true,
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.NodeNext,
    },
  });
  const source = ts.createSourceFile(file, outputText, ts.ScriptTarget.ESNext, true);
  parsed.set(file, source);
  return source;
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.getText()];
}

function signatureOf(statement: ts.Statement, source: ts.SourceFile): string {
  return statement
    .getText(source)
    .replaceAll('export declare ', 'export ')
    .replaceAll(/^ {4}(?:#private|private \S+);\n/gm, '')
    .replaceAll(/^( +)/gm, (indent) => ' '.repeat(indent.length / 2));
}

/** How many members the interface of that name has, wherever it stands below the folder; 0 where there is none. */
export function memberCount(folder: string, name: string): number {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = ts.createSourceFile(
      file,
      readFileSync(join(folder, file), 'utf8'),
      ts.ScriptTarget.ESNext,
    );
    const found = source.statements.find(
      (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name,
    );
    if (found !== undefined) return (found as ts.InterfaceDeclaration).members.length;
  }
  return 0;
}
