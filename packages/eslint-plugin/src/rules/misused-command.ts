import type { Origin } from '../saga/origin.ts';
import { isGenerator, takerOf, type SagaFile } from '../saga/saga-file.ts';
import {
  constantOf,
  functionAround,
  isCall,
  isWrapper,
  propertyOf,
  type CallNode,
  type Node,
} from '../saga/syntax.ts';
import { groups } from '../saga/vocabulary.ts';

/** A mistake: how a command is used in place of its result. */
export type Misuse = 'awaited' | 'dropped' | 'inStep' | 'read' | 'returned' | 'yielded';

// Global functions of values. Commands are useless as arguments.
const readers =
  /^(?:BigInt|Boolean|Date|Number|Promise|String|parseFloat|parseInt|structuredClone)$|^(?:JSON|Math|Promise|console)\./;

// Methods to drive a generator by hand.
const iteration = new Set(['next', 'return', 'throw', 'Symbol.iterator']);

/**
 * The misuse of a command or of a called helper. Undefined if yielded, given to a group, or passed
 * on.
 */
export function misuseOf(file: SagaFile, call: CallNode): Misuse | undefined {
  const around = functionAround(call);
  if (around !== undefined && file.isStepFunction(around)) return 'inStep';
  const misuse = misuseOfValue(file, call, 'value');
  // Elsewhere a call may be a check of the arguments.
  return misuse === 'dropped' && !isInSaga(file, call) ? undefined : misuse;
}

/** `true` in a generator, in the body of a saga, and in nested functions. */
function isInSaga(file: SagaFile, node: Node): boolean {
  const around = functionAround(node);
  if (around === undefined) return false;
  return isGenerator(around) || file.isBody(around) || isInSaga(file, around);
}

/** The place of a command: alone, optional, or in a list or an object. */
type Place = 'value' | 'maybe' | 'part';

function misuseOfValue(file: SagaFile, node: Node, place: Place): Misuse | undefined {
  const { parent } = node;
  const { type } = parent;
  const inner = place === 'part' ? place : 'maybe';
  if (isWrapper(parent)) return misuseOfValue(file, parent, place);
  if (type === 'ArrayExpression' || type === 'ObjectExpression')
    return misuseOfValue(file, parent, 'part');
  if (type === 'Property')
    return parent.parent.type === 'ObjectExpression'
      ? misuseOfValue(file, parent.parent, 'part')
      : undefined;
  if (type === 'ConditionalExpression')
    return parent.test === node ? 'read' : misuseOfValue(file, parent, inner);
  if (type === 'LogicalExpression')
    return parent.left === node ? 'read' : misuseOfValue(file, parent, inner);
  if (type === 'SequenceExpression')
    return parent.expressions.at(-1) === node ? misuseOfValue(file, parent, place) : 'dropped';
  if (type === 'ExpressionStatement' || (type === 'UnaryExpression' && parent.operator === 'void'))
    return 'dropped';
  if (type === 'VariableDeclarator') return misuseOfVariable(file, parent, place);
  if (type === 'ReturnStatement') return misuseOfReturned(file, node, place);
  if (type === 'ArrowFunctionExpression') return isIteratee(parent) ? 'dropped' : undefined;
  if (isCall(parent)) return misuseOfArgument(file, parent, node);
  return place === 'part' ? undefined : misuseOfRead(node, parent);
}

// Statements and operators reading a value.
const reading = new Set([
  'DoWhileStatement',
  'IfStatement',
  'SwitchStatement',
  'ThrowStatement',
  'UpdateExpression',
  'WhileStatement',
]);

function misuseOfRead(node: Node, parent: Node): Misuse | undefined {
  const { type } = parent;
  if (type === 'AwaitExpression') return 'awaited';
  if (type === 'YieldExpression') return parent.delegate ? undefined : 'yielded';
  const isRead =
    reading.has(type) ||
    (type === 'UnaryExpression' && parent.operator !== 'typeof') ||
    (type === 'BinaryExpression' && parent.operator !== 'in' && parent.operator !== 'instanceof') ||
    (type === 'TemplateLiteral' && parent.parent.type !== 'TaggedTemplateExpression') ||
    (type === 'MemberExpression' &&
      parent.object === node &&
      !iteration.has(nameOfProperty(parent))) ||
    (type === 'AssignmentExpression' && parent.left.type.endsWith('Pattern'));
  return isRead ? 'read' : undefined;
}

function nameOfProperty(member: Extract<Node, { type: 'MemberExpression' }>): string {
  const { property } = member;
  return property.type === 'MemberExpression'
    ? `Symbol.${propertyOf(property)}`
    : (propertyOf(member) ?? '');
}

function misuseOfVariable(
  file: SagaFile,
  declarator: Extract<Node, { type: 'VariableDeclarator' }>,
  place: Place,
): Misuse | undefined {
  if (place === 'part') return undefined;
  if (declarator.id.type !== 'Identifier') return 'read';
  if (declarator.parent.parent.type === 'ExportNamedDeclaration' || place === 'maybe')
    return undefined;
  const variable = constantOf(file.source, declarator);
  if (variable === undefined || variable.scope.type === 'module') return undefined;
  const reads = variable.references.filter((reference) => reference.isRead());
  if (reads.length === 0) return 'dropped';
  for (const { identifier } of reads) {
    const misuse = misuseOfValue(file, identifier as Node, 'value');
    if (misuse !== undefined && misuse !== 'dropped') return misuse;
  }
  return undefined;
}

function misuseOfReturned(file: SagaFile, node: Node, place: Place): Misuse | undefined {
  const around = functionAround(node);
  if (around === undefined) return undefined;
  // A helper may return branches for a group.
  return file.isBody(around) || (place !== 'part' && file.isSagaGenerator(around))
    ? 'returned'
    : undefined;
}

function misuseOfArgument(file: SagaFile, call: CallNode, node: Node): Misuse | undefined {
  if (call.callee === node) return 'read';
  const command = file.command(call);
  if (command !== undefined) {
    return groups.has(command) || (command === 'scope' && call.arguments[1] === node)
      ? undefined
      : 'read';
  }
  return isReader(file.origin(call)) ? 'read' : undefined;
}

function isReader(origin: Origin | undefined): boolean {
  return origin !== undefined && origin.module === undefined && readers.test(origin.name);
}

/** `true` for the callback of `forEach`: the result is dropped. */
function isIteratee(node: Node): boolean {
  const callee = takerOf(node)?.callee;
  return (
    callee?.type === 'MemberExpression' && propertyOf(callee) === 'forEach' && isCall(node.parent)
  );
}
