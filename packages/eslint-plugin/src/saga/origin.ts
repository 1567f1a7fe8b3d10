import type { SourceCode } from 'eslint';
import type * as ESTree from 'estree';
import { propertyOf, unwrap, variableOf, type IdentifierNode } from './syntax.ts';

/** Where a function comes from: `now` of module `@mcp-saga/core`, or the global `Date.now`. */
export interface Origin {
  /** The module. Undefined for a global. */
  readonly module: string | undefined;
  /** The exported name, with properties: `elicit.outcome`. Empty for the module itself. */
  readonly name: string;
}

const globals = new Set(['globalThis', 'global', 'window', 'self']);

/** The origin of an expression. Undefined for local values. */
export function originOf(source: SourceCode, expression: ESTree.Node): Origin | undefined {
  const node = unwrap(expression);
  if (node.type === 'Identifier') return originOfName(source, node);
  if (node.type === 'CallExpression') return originOfRequire(source, node);
  if (node.type !== 'MemberExpression') return undefined;
  const of = originOf(source, node.object);
  const property = propertyOf(node);
  if (of === undefined || property === undefined) return undefined;
  if (of.module === undefined && globals.has(of.name)) return { module: undefined, name: property };
  return below(of, property);
}

function originOfName(source: SourceCode, identifier: IdentifierNode): Origin | undefined {
  const variable = variableOf(source, identifier);
  if (variable === undefined) return { module: undefined, name: identifier.name };
  const definition = variable.defs[0];
  if (definition?.type === 'ImportBinding') {
    // `import x = require('…')` of TypeScript has no source.
    if (definition.parent?.type !== 'ImportDeclaration') return { module: '', name: '' };
    const module = String(definition.parent.source.value);
    if (definition.node.type === 'ImportNamespaceSpecifier') return { module, name: '' };
    if (definition.node.type === 'ImportDefaultSpecifier') return { module, name: 'default' };
    const { imported } = definition.node;
    return {
      module,
      name: imported.type === 'Identifier' ? imported.name : String(imported.value),
    };
  }
  if (definition?.type !== 'Variable' || definition.parent.kind !== 'const') return undefined;
  const { id, init } = definition.node;
  const of = init ? originOfRequire(source, unwrap(init)) : undefined;
  if (of === undefined || id.type === 'Identifier') return of;
  const property =
    id.type === 'ObjectPattern'
      ? id.properties.find((one) => one.type === 'Property' && one.value === definition.name)
      : undefined;
  return property?.type === 'Property' && !property.computed && property.key.type === 'Identifier'
    ? below(of, property.key.name)
    : undefined;
}

/** The module of `require('…')`. */
function originOfRequire(source: SourceCode, node: ESTree.Node): Origin | undefined {
  if (
    node.type !== 'CallExpression' ||
    node.callee.type !== 'Identifier' ||
    node.callee.name !== 'require'
  )
    return undefined;
  const [module] = node.arguments;
  const isGlobal = variableOf(source, node.callee as IdentifierNode) === undefined;
  return isGlobal && module?.type === 'Literal'
    ? { module: String(module.value), name: '' }
    : undefined;
}

function below(of: Origin, property: string): Origin {
  return { module: of.module, name: of.name === '' ? property : `${of.name}.${property}` };
}
