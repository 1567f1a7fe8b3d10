import type { Scope, SourceCode } from 'eslint';
import type * as ESTree from 'estree';

/** A node of the syntax tree. A `Program` has no parent. */
export type Node = ESTree.Node & { readonly parent: Node };

/** A function of any kind. */
export type FunctionNode = Extract<
  Node,
  { type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression' }
>;

/** A call, with `new` or without. */
export type CallNode = Extract<Node, { type: 'CallExpression' | 'NewExpression' }>;

/** An identifier. */
export type IdentifierNode = Extract<Node, { type: 'Identifier' }>;

// Type syntax around an expression, and `?.`: same value as the expression.
const wrappers = new Set([
  'ChainExpression',
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSInstantiationExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
]);

/** `true` for a function. */
export function isFunction(node: Node | null | undefined): node is FunctionNode {
  return (
    node?.type === 'FunctionDeclaration' ||
    node?.type === 'FunctionExpression' ||
    node?.type === 'ArrowFunctionExpression'
  );
}

/** `true` for a call, with `new` or without. */
export function isCall(node: Node | null | undefined): node is CallNode {
  return node?.type === 'CallExpression' || node?.type === 'NewExpression';
}

/** `true` for syntax around an expression, with the same value. */
export function isWrapper(node: Node): boolean {
  return wrappers.has(node.type);
}

/** The expression inside of type syntax. */
export function unwrap(node: ESTree.Node): Node {
  let inner = node as Node;
  while (isWrapper(inner)) inner = (inner as unknown as { readonly expression: Node }).expression;
  return inner;
}

/** The outermost expression with the same value. */
export function wrap(node: Node): Node {
  let outer = node;
  while (isWrapper(outer.parent)) outer = outer.parent;
  return outer;
}

/** The innermost function around a node. */
export function functionAround(node: Node): FunctionNode | undefined {
  for (let at = node; at.type !== 'Program'; at = at.parent)
    if (at !== node && isFunction(at)) return at;
  return undefined;
}

/** The variable of an identifier. Undefined for a global. */
export function variableOf(
  source: SourceCode,
  identifier: IdentifierNode,
): Scope.Variable | undefined {
  for (
    let scope: Scope.Scope | null = source.getScope(identifier);
    scope !== null;
    scope = scope.upper
  ) {
    const variable = scope.set.get(identifier.name);
    if (variable !== undefined) return variable.defs.length === 0 ? undefined : variable;
  }
  return undefined;
}

/** The function of a variable without other assignments. */
export function functionOf(variable: Scope.Variable | undefined): FunctionNode | undefined {
  const definition = variable?.defs.length === 1 ? variable.defs[0] : undefined;
  if (definition?.type === 'FunctionName') return definition.node as FunctionNode;
  if (definition?.type !== 'Variable' || definition.parent.kind !== 'const') return undefined;
  const { id, init } = definition.node;
  const value = id.type === 'Identifier' && init ? unwrap(init) : undefined;
  return isFunction(value) ? value : undefined;
}

/** The variable of a declarator, if assigned nowhere else. */
export function constantOf(source: SourceCode, declarator: Node): Scope.Variable | undefined {
  const [variable, ...others] = source.getDeclaredVariables(declarator);
  const isConstant = variable?.references.filter((reference) => reference.isWrite()).length === 1;
  return others.length === 0 && isConstant ? variable : undefined;
}

/** The name of a property, unless computed. */
export function propertyOf(member: ESTree.MemberExpression): string | undefined {
  if (!member.computed)
    return member.property.type === 'Identifier' ? member.property.name : undefined;
  return member.property.type === 'Literal' ? String(member.property.value) : undefined;
}

/** Calls `visit` with every node, parents first. */
export function walk({ ast, visitorKeys }: SourceCode, visit: (node: Node) => void): void {
  const enter = (node: Node): void => {
    visit(node);
    const children = node as unknown as { readonly [key: string]: Child };
    // The other properties are positions, which Oxlint computes on access.
    for (const key of visitorKeys[node.type] ?? []) {
      const child = children[key];
      for (const one of isList(child) ? child : [child]) if (one != null) enter(one);
    }
  };
  enter(ast as unknown as Node);
}

/** A property with nodes: absent for other syntax. */
type Child = Node | readonly (Node | null)[] | null | undefined;

function isList(child: Child): child is readonly (Node | null)[] {
  return Array.isArray(child);
}
