/**
 * Variables of a body that a step gives a value. A replay takes the result of the step from the
 * journal and does not run its function, so such a variable keeps its first value.
 */
import type { Scope, SourceCode } from 'eslint';
import type { SagaFile } from './saga-file.ts';
import {
  functionAround,
  isCall,
  propertyOf,
  unwrap,
  variableOf,
  walk,
  type FunctionNode,
  type IdentifierNode,
  type Node,
} from './syntax.ts';

/** Methods that change a list, a map, or a set. */
const changers: ReadonlySet<string> = new Set([
  'add',
  'clear',
  'delete',
  'push',
  'set',
  'splice',
  'unshift',
]);

/** The variables of bodies that get a value in a step, each at the place where it gets it. */
export function lostValuesIn(file: SagaFile): readonly IdentifierNode[] {
  const found: IdentifierNode[] = [];
  walk(file.source, (node) => {
    for (const identifier of changedBy(file.source, node)) {
      const variable = variableOf(file.source, identifier);
      if (variable !== undefined && isLost(file, node, variable)) found.push(identifier);
    }
  });
  return found;
}

/** The variables that a node assigns, or whose list or object it changes. */
function changedBy(source: SourceCode, node: Node): readonly IdentifierNode[] {
  const target =
    node.type === 'AssignmentExpression'
      ? node.left
      : node.type === 'UpdateExpression'
        ? node.argument
        : undefined;
  if (target !== undefined) return targetsOf(source, target as Node);
  if (!isCall(node)) return [];
  const callee = unwrap(node.callee);
  if (callee.type !== 'MemberExpression' || !changers.has(propertyOf(callee) ?? '')) return [];
  return holderOf(source, callee.object as Node);
}

function targetsOf(source: SourceCode, target: Node): readonly IdentifierNode[] {
  const node = unwrap(target);
  if (node.type === 'Identifier') return [node];
  if (node.type === 'MemberExpression') return holderOf(source, node.object as Node);
  if (node.type === 'ArrayPattern')
    return node.elements.flatMap((one) => (one === null ? [] : targetsOf(source, one as Node)));
  if (node.type === 'ObjectPattern')
    return node.properties.flatMap((one) =>
      targetsOf(source, (one.type === 'Property' ? one.value : one.argument) as Node),
    );
  return [];
}

/** The variable at the root of a member, if its own code made the list or the object in it. */
function holderOf(source: SourceCode, object: Node): readonly IdentifierNode[] {
  const node = unwrap(object);
  if (node.type === 'MemberExpression') return holderOf(source, node.object as Node);
  if (node.type !== 'Identifier') return [];
  const definition = variableOf(source, node)?.defs[0];
  const made = definition?.type === 'Variable' ? definition.node.init : undefined;
  const isOwn =
    made?.type === 'ArrayExpression' ||
    made?.type === 'ObjectExpression' ||
    made?.type === 'NewExpression';
  return isOwn ? [node] : [];
}

/** `true` if a variable of a body is changed in a step, and read outside of that step. */
function isLost(file: SagaFile, node: Node, { defs, references }: Scope.Variable): boolean {
  const [definition] = defs;
  const owner = definition && functionAround(definition.name as Node);
  if (owner === undefined || !file.isSagaGenerator(owner)) return false;
  const around = functionBelow(owner, node);
  if (around === undefined) return false;
  const phases = file.phasesOf(node);
  if (!phases.has('step') || phases.has('body')) return false;
  return references.some(
    (reference) =>
      reference.isRead() && functionBelow(owner, reference.identifier as Node) !== around,
  );
}

/** The outermost function around a node that is inside of `owner`. Undefined in `owner` itself. */
function functionBelow(owner: FunctionNode, node: Node): FunctionNode | undefined {
  const around = functionAround(node);
  if (around === undefined || around === owner) return undefined;
  return functionBelow(owner, around) ?? around;
}
