import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-5';
import { packages, repository } from '../../architecture/packages.ts';
import { publicExports } from '../../architecture/public-api.ts';

/** A public name of a package, with its docstring. */
export interface Documented {
  readonly package: string;
  readonly name: string;
  readonly isFunction: boolean;
  /** Text of the docstring without stars; empty if there is none. */
  readonly docstring: string;
}

/**
 * The public names of a package. A name that several entry points or packages export appears at its
 * declaration only.
 */
export function documentedNames(name: string): readonly Documented[] {
  const folder = join(repository, 'packages', name);
  const seen = new Set<string>();
  return publicExports(folder).flatMap(({ name: exported, origin }) => {
    const [file = '', declared = ''] = origin.split('#');
    if (seen.has(origin) || !file.startsWith(join(folder, 'src'))) return [];
    seen.add(origin);
    return [{ package: name, name: exported, ...declarationIn(file, declared) }];
  });
}

/** Public names without a docstring, and public functions without an example. */
export function undocumented(documented: readonly Documented[]): readonly string[] {
  return documented.flatMap(({ name, docstring, isFunction: needsExample }) => {
    if (docstring === '') return [`no docstring: ${name}`];
    return needsExample && examplesIn(docstring).length === 0 ? [`no @example: ${name}`] : [];
  });
}

/** The code of the `@example`s of a docstring. */
export function examplesIn(docstring: string): readonly string[] {
  return docstring
    .split(/^@example\b/m)
    .slice(1)
    .flatMap((part) => {
      const code = /```ts\n([\s\S]*?)```/.exec(part)?.[1];
      return code === undefined ? [] : [code];
    });
}

/** The names that the entry points of a package export, with the first entry point of each. */
export function entryPoints(name: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const { name: exported, entry } of publicExports(join(repository, 'packages', name)))
    if (!entries.has(exported)) entries.set(exported, entry);
  return entries;
}

/** The source files of all entry points, by specifier. */
export function sourcePaths(): Readonly<Record<string, string[]>> {
  return Object.fromEntries(
    packages.flatMap((name) => {
      const folder = join(repository, 'packages', name);
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
        name: string;
        exports: Record<string, string>;
      };
      return Object.entries(manifest.exports)
        .filter(([, file]) => file.endsWith('.ts'))
        .map(
          ([entry, file]) => [`${manifest.name}${entry.slice(1)}`, [join(folder, file)]] as const,
        );
    }),
  );
}

const parsed = new Map<string, ts.SourceFile>();

function declarationIn(file: string, name: string): Pick<Documented, 'isFunction' | 'docstring'> {
  let source = parsed.get(file);
  if (source === undefined) {
    source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true);
    parsed.set(file, source);
  }
  const declarations = source.statements.filter((statement) => namesOf(statement).includes(name));
  const comments = declarations.flatMap((statement) =>
    ts.getJSDocCommentsAndTags(statement).filter((node) => ts.isJSDoc(node)),
  );
  return {
    isFunction: declarations.some((statement) => isFunction(statement, name)),
    docstring: comments.map((comment) => withoutStars(comment.getText())).join('\n'),
  };
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.getText()];
}

/** A function, or a constant that can be called, such as `elicit` with its `elicit.outcome`. */
function isFunction(statement: ts.Statement, name: string): boolean {
  if (ts.isFunctionDeclaration(statement)) return true;
  if (!ts.isVariableStatement(statement) || !/^[a-z]/.test(name)) return false;
  const initializer = statement.declarationList.declarations.find(
    (declaration) => declaration.name.getText() === name,
  )?.initializer;
  return (
    initializer !== undefined &&
    (ts.isArrowFunction(initializer) ||
      ts.isFunctionExpression(initializer) ||
      initializer.getText().startsWith('Object.assign('))
  );
}

function withoutStars(comment: string): string {
  return comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .replaceAll(/^[ \t]*\* ?/gm, '')
    .trim();
}
