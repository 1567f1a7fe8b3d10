import type { Rule } from 'eslint';
import { sagaFileOf, type SagaFile } from '../saga/saga-file.ts';
import { constantOf, isCall, unwrap, wrap, type Node } from '../saga/syntax.ts';

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
