/**
 * Tells bundlers of users that they may drop each value of a module: `const all = { ...some }`
 * becomes `const all = /* @__PURE__ *\/ (() => ({ ...some }))()`.
 *
 * `sideEffects: false` says the same of a whole module only. In a module of many sources, a bundler
 * would keep a value whose expression it does not trust, such as a spread or a call, with all that
 * it refers to: `memoryStore` alone would take 79 kB instead of 2.6 kB.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript-5';

const begin = '/* @__PURE__ */ (() => (';
const end = '))()';

/**
 * A plugin of esbuild.
 *
 * @param isEffect - says whether the import of a source, by its path, has an effect, so that the
 * source must stay as it is
 */
export function droppableValues(isEffect) {
  return {
    name: 'droppable-values',
    setup: ({ onLoad }) =>
      onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) =>
        isEffect(path)
          ? undefined
          : { contents: withDroppableValues(readFileSync(path, 'utf8')), loader: 'ts' },
      ),
  };
}

/** Adds no line, so that source maps stay true. */
function withDroppableValues(text) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);
  const inserted = source.statements.flatMap((statement) => {
    if (ts.isClassDeclaration(statement) && statement.name && !isDroppableClass(statement)) {
      const keyword = statement
        .getChildren()
        .find(({ kind }) => kind === ts.SyntaxKind.ClassKeyword);
      const { text: name } = statement.name;
      return [
        [keyword.getStart(), `const ${name} = ${begin}`],
        [statement.end, `${end};`],
      ];
    }
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ initializer }) =>
      initializer === undefined || isDroppable(initializer)
        ? []
        : [
            [initializer.getStart(), begin],
            [initializer.end, end],
          ],
    );
  });
  return inserted
    .toReversed()
    .reduce((all, [at, part]) => all.slice(0, at) + part + all.slice(at), text);
}

/** `true` if every bundler sees that an expression has no effect. */
function isDroppable(node) {
  if (ts.isFunctionLike(node)) return true;
  if (ts.isClassExpression(node)) return isDroppableClass(node);
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const isPure = /\/\* @__PURE__ \*\/\s*$/.test(
      node.getFullText().slice(0, node.getLeadingTriviaWidth()),
    );
    return isPure && (node.arguments ?? []).every(isDroppable);
  }
  // A spread iterates, an access may call a getter, and a template or an operator calls `toString`
  // or `valueOf`. esbuild does not trust `64 * 1024` either.
  if (
    ts.isSpreadElement(node) ||
    ts.isSpreadAssignment(node) ||
    ts.isComputedPropertyName(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isTemplateExpression(node) ||
    ts.isTaggedTemplateExpression(node) ||
    ts.isBinaryExpression(node)
  )
    return false;
  return ts.forEachChild(node, (child) => !isDroppable(child) || undefined) === undefined;
}

function isDroppableClass({ members, heritageClauses = [] }) {
  const bases = heritageClauses.flatMap(({ token, types }) =>
    token === ts.SyntaxKind.ExtendsKeyword ? types : [],
  );
  return (
    bases.every(({ expression }) => ts.isIdentifier(expression)) &&
    members.every(
      (member) =>
        !ts.isClassStaticBlockDeclaration(member) &&
        (member.name === undefined || !ts.isComputedPropertyName(member.name)) &&
        (member.initializer === undefined || !isStatic(member) || isDroppable(member.initializer)),
    )
  );
}

function isStatic({ modifiers = [] }) {
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
}
