import type { Rule } from 'eslint';
import { sagaFileOf, type SagaFile } from '../saga/saga-file.ts';
import {
  constantOf,
  isCall,
  propertyOf,
  unwrap,
  variableOf,
  wrap,
  type CallNode,
  type Node,
} from '../saga/syntax.ts';

/** What decides in the answer of each question. A form has fields of its own. */
const decides: Readonly<Record<string, string | undefined>> = {
  approval: 'approved',
  elicit: undefined,
  'elicit.outcome': 'action',
};

/**
 * Requires conditions to read the answer to a question. The answer is an object, so a condition on
 * itself is always true: a denied payment would be made.
 */
export const readAnswers: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: {
      description: 'Require conditions to read the answers to questions',
      url: 'https://www.npmjs.com/package/@mcp-saga/eslint-plugin#read-answers',
    },
    schema: [],
    messages: {
      decision:
        'The answer of `{{question}}(…)` is an object, also after a refusal. Read its `{{member}}`.',
      accepted:
        '`elicit(…)` returns the content of the form, and throws if the user refuses. Read its fields, or use `elicit.outcome(…)`.',
      form: 'The answer of `{{question}}(…)` is an object, whatever was answered. Read its fields.',
    },
  },
  create: (context) => ({
    'Program:exit'() {
      const file = sagaFileOf(context);
      if (file === undefined) return;
      for (const node of file.yields) {
        const call = node.argument ? unwrap(node.argument) : undefined;
        const question = node.delegate && isCall(call) ? (file.command(call) ?? '') : '';
        if (!Object.hasOwn(decides, question)) continue;
        if (question === 'elicit' && isCall(call))
          for (const member of resultMembersOf(file, node, call))
            context.report({ node: member, messageId: 'accepted' });
        const member = decides[question];
        for (const condition of conditionsOn(file, node))
          context.report({
            node: condition,
            messageId: member === undefined ? 'form' : 'decision',
            data: { question, ...(member === undefined ? {} : { member }) },
          });
      }
    },
  }),
};

/** The conditions on the value of a node, or of the constant that holds it. */
function conditionsOn(file: SagaFile, node: Node): readonly Node[] {
  const outer = wrap(node);
  const { parent } = outer;
  if (isCondition(outer, parent)) return [outer];
  if (parent.type !== 'VariableDeclarator' || parent.id.type !== 'Identifier') return [];
  const reads = constantOf(file.source, parent)?.references.filter((one) => one.isRead()) ?? [];
  return reads
    .map(({ identifier }) => wrap(identifier as Node))
    .filter((read) => isCondition(read, read.parent));
}

/** Members of a result of MCP's `elicitation/create`, which `elicit` does not return. */
const resultMembers: ReadonlySet<string> = new Set(['action', 'content']);

/** Reads of such members of the content of a form that certainly has no such field. */
function resultMembersOf(file: SagaFile, node: Node, question: CallNode): readonly Node[] {
  const outer = wrap(node);
  const { parent } = outer;
  const fields = fieldsOf(file, question);
  const isWrong = (name: string | undefined): boolean =>
    name !== undefined && resultMembers.has(name) && fields?.has(name) === false;
  if (isMemberOf(parent, outer)) return isWrong(propertyOf(parent)) ? [parent] : [];
  if (parent.type !== 'VariableDeclarator') return [];
  if (parent.id.type === 'ObjectPattern')
    return parent.id.properties.filter(
      (one) => one.type === 'Property' && one.key.type === 'Identifier' && isWrong(one.key.name),
    ) as Node[];
  const reads = constantOf(file.source, parent)?.references ?? [];
  return reads
    .map(({ identifier }) => wrap(identifier as Node))
    .filter((read) => isMemberOf(read.parent, read) && isWrong(propertyOf(read.parent)))
    .map((read) => read.parent);
}

function isMemberOf(
  node: Node,
  object: Node,
): node is Extract<Node, { readonly type: 'MemberExpression' }> {
  return node.type === 'MemberExpression' && node.object === object;
}

/** Names of the fields of a form, if the file says them all: `schema: z.object({ … })`. */
function fieldsOf(file: SagaFile, question: CallNode): ReadonlySet<string> | undefined {
  const options = valueOf(file, question.arguments[1] as Node | undefined);
  const schema = membersOf(options)?.get('schema');
  const made = valueOf(file, schema);
  const isObject =
    isCall(made) &&
    made.callee.type === 'MemberExpression' &&
    /^(?:object|strictObject)$/.test(propertyOf(made.callee) ?? '');
  if (!isObject) return undefined;
  const fields = membersOf(made.arguments[0] as Node | undefined);
  return fields && new Set(fields.keys());
}

/** An expression, or that of the constant that it names. */
function valueOf(file: SagaFile, node: Node | undefined): Node | undefined {
  const value = node && unwrap(node);
  if (value?.type !== 'Identifier') return value;
  const definition = variableOf(file.source, value)?.defs[0];
  const isConstant = definition?.type === 'Variable' && definition.parent.kind === 'const';
  const init = isConstant ? definition.node.init : undefined;
  return init ? unwrap(init) : undefined;
}

/** Values of an object by their names. Undefined for another node, and if a name is not known. */
function membersOf(node: Node | undefined): ReadonlyMap<string, Node> | undefined {
  if (node?.type !== 'ObjectExpression') return undefined;
  const members = node.properties.map((one) =>
    one.type === 'Property' && !one.computed && one.key.type === 'Identifier'
      ? ([one.key.name, one.value as Node] as const)
      : undefined,
  );
  const known = members.filter((one) => one !== undefined);
  return known.length === members.length ? new Map(known) : undefined;
}

/** Statements and operators with a test. */
const tests: ReadonlySet<string> = new Set([
  'IfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'ForStatement',
  'ConditionalExpression',
]);

/** `true` if a node decides what its parent does, or is compared with a constant. */
function isCondition(node: Node, parent: Node): boolean {
  if (parent.type === 'BinaryExpression') {
    const other = parent.left === node ? parent.right : parent.left;
    return /^[!=]==?$/.test(parent.operator) && other.type === 'Literal' && other.value !== null;
  }
  if (parent.type === 'UnaryExpression') return parent.operator === '!';
  if (parent.type === 'LogicalExpression') return parent.left === node;
  return tests.has(parent.type) && (parent as { readonly test?: unknown }).test === node;
}
