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
  /** Declaration with its docstrings. */
  readonly declaration: string;
}

/** The public names of a package with their signatures, as the file under `etc` holds them. */
export function publicApi(folder: string): string {
  const { name, exports } = readManifest(folder);
  const sections = Object.entries(exports)
    .filter(([, file]) => file.endsWith('.ts'))
    .map(([entry, file]) => {
      const exported = sortedExports(folder, file);
      const specifier = `${name}${entry.slice(1)}`;
      return `## \`${specifier}\`: ${exported.length} names\n\n\`\`\`ts\n${exported
        .map(({ declaration }) => withoutDocstrings(declaration))
        .join('\n\n')}\n\`\`\`\n`;
    });
  return `# ${name}\n\nWritten by \`pnpm generate api\`. A change here is a change for users.\n\n${sections.join('\n')}`;
}

/** An entry point for authors and operators, with its declarations in TypeScript. */
export interface EntryPoint {
  /** Specifier of the import: `@mcp-saga/server/serve`. */
  readonly entry: string;
  /**
   * Declarations with their docstrings, and one line for each package whose names the entry point
   * exports again.
   */
  readonly declarations: string;
}

/** The entry points of a package with their docstrings, for readers of `llms-full.txt`. */
export function documentedApi(folder: string): readonly EntryPoint[] {
  return entriesForUsers(folder).map(([entry, file]) => {
    const declarations: string[] = [];
    const again = new Map<string, string[]>();
    for (const { declaration } of sortedExports(folder, file)) {
      const [, name, from] = /^export \{ (.+) \} from '(.+)';$/.exec(declaration) ?? [];
      if (name === undefined || from === undefined) declarations.push(declaration);
      else again.set(from, [...(again.get(from) ?? []), name]);
    }
    const lines = [...again].map(
      ([from, names]) => `export { ${names.join(', ')} } from '${from}';`,
    );
    return { entry, declarations: [...lines, ...declarations].join('\n\n') };
  });
}

function sortedExports(folder: string, file: string): readonly Exported[] {
  return exportsOf(join(folder, file)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names that the main entry of a package exports, each with the place of its declaration. */
export function publicNames(folder: string): ReadonlyMap<string, string> {
  const main = readManifest(folder).exports['.'] ?? '';
  return new Map(exportsOf(join(folder, main)).map(({ name, origin }) => [name, origin]));
}

/**
 * An export of a package: the specifier of the entry point, the name, and the place of the
 * declaration.
 */
export interface PublicExport {
  readonly entry: string;
  readonly name: string;
  readonly origin: string;
}

/** The exports of the entry points for authors and operators. */
export function publicExports(folder: string): readonly PublicExport[] {
  return entriesForUsers(folder).flatMap(([entry, file]) =>
    exportsOf(join(folder, file)).map(({ name, origin }) => ({ entry, name, origin })),
  );
}

/** The number of names that all entry points of a package export. */
export function countNames(folder: string): number {
  const files = Object.values(readManifest(folder).exports).filter((file) => file.endsWith('.ts'));
  return files.reduce((sum, file) => sum + exportsOf(join(folder, file)).length, 0);
}

/**
 * Specifiers and files of the entry points for authors and operators. `./program` is for makers of
 * programs and hosts, and `./shared` for the packages of this repository.
 */
function entriesForUsers(folder: string): readonly (readonly [specifier: string, file: string])[] {
  const { name, exports } = readManifest(folder);
  return Object.entries(exports)
    .filter(
      ([entry, file]) =>
        file.endsWith('.ts') && !['./internal', './program', './shared'].includes(entry),
    )
    .map(([entry, file]) => [`${name}${entry.slice(1)}`, file]);
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
      declaration: declarationOf(statement, source),
    }));
  });
}

function reexports(
  { exportClause, moduleSpecifier }: ts.ExportDeclaration,
  file: string,
): Exported[] {
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
  const from = moduleSpecifier.text;
  const target = exportsOf(from.startsWith('.') ? join(dirname(file), from) : entryOf(from));
  const asNamed = ({ name, origin, declaration }: Exported, as: string): Exported => ({
    name: as,
    origin,
    declaration: from.startsWith('.')
      ? declaration
      : `export { ${name === as ? name : `${name} as ${as}`} } from '${from}';`,
  });
  if (exportClause === undefined || !ts.isNamedExports(exportClause))
    return target.map((exported) => asNamed(exported, exported.name));
  return exportClause.elements.flatMap(({ name, propertyName }) => {
    const source = (propertyName ?? name).text;
    const found = target.filter((exported) => exported.name === source);
    if (found.length === 0)
      throw new Error(`${file} exports ${source}, which ${from} does not have`);
    return found.map((exported) => asNamed(exported, name.text));
  });
}

/**
 * The source file of an entry of one of our packages: `@mcp-saga/core`, `@mcp-saga/core/internal`.
 */
function entryOf(specifier: string): string {
  const [, name = '', entry = ''] = /^@mcp-saga\/([^/]+)(.*)$/.exec(specifier) ?? [];
  const folder = join(repository, 'packages', name);
  return join(folder, readManifest(folder).exports[`.${entry}`] ?? '');
}

const parsed = new Map<string, ts.SourceFile>();

/** What the declaration file of a module holds: the types are explicit on all exports. */
function declarationsOf(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    fileName: file,
    compilerOptions: {
      isolatedDeclarations: true,
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

function declarationOf(statement: ts.Statement, source: ts.SourceFile): string {
  const docstrings = ts.getJSDocCommentsAndTags(statement).filter((node) => ts.isJSDoc(node));
  return (
    [...docstrings, statement]
      .map((node) => node.getText(source))
      .join('\n')
      .replaceAll('export declare ', 'export ')
      .replaceAll(/^ {4}(?:#private|private \S+);\n/gm, '')
      // Four spaces become two. The stars of a docstring have one more.
      .replaceAll(/^(?: {2})+/gm, (indent) => ' '.repeat(indent.length / 2))
  );
}

function withoutDocstrings(declaration: string): string {
  return declaration.replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, '');
}

/** A member of an interface. */
export interface Member {
  readonly name: string;
  /** The names in its type. */
  readonly types: readonly string[];
}

/** The members of the interface with this name in a folder; none if there is no such interface. */
export function membersOf(folder: string, name: string): readonly Member[] {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(join(folder, file), 'utf8');
    if (!text.includes(`interface ${name}`)) continue;
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
    const found = source.statements.find(
      (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name,
    );
    if (found !== undefined)
      return (found as ts.InterfaceDeclaration).members.map((member) => ({
        name: member.name?.getText(source) ?? '',
        types: namesOfType(member),
      }));
  }
  return [];
}

function namesOfType(node: ts.Node): readonly string[] {
  const names: string[] = [];
  const visit = (child: ts.Node): void => {
    if (ts.isTypeReferenceNode(child)) names.push(child.typeName.getText());
    ts.forEachChild(child, visit);
  };
  visit(node);
  return names;
}
