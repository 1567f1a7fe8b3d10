import type { Rule } from 'eslint';
import { isPromise } from '../saga/promises.ts';
import { sagaFileOf, type SagaFile } from '../saga/saga-file.ts';
import {
  constantOf,
  functionAround,
  isCall,
  isFunction,
  propertyOf,
  unwrap,
  walk,
  wrap,
  type CallNode,
  type Node,
} from '../saga/syntax.ts';

/**
 * Requires a step to await the promises in its function: a later effect is unknown to the saga, and
 * is never undone.
 */
export const awaitInStep: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: {
      description: 'Require steps to wait for their promises',
      url: 'https://www.npmjs.com/package/@mcp-saga/eslint-plugin#await-in-step',
    },
    schema: [],
    messages: {
      floating:
        'The step ends before `{{call}}`, so a failure goes unnoticed. Await or return the call.',
      forEach:
        '`forEach` does not wait for an async callback. Write `await Promise.all(….map(async …))`.',
      list: 'A step cannot return a list of promises. Write `Promise.all({{call}})`.',
    },
  },
  create: (context) => ({
    'Program:exit'() {
      const file = sagaFileOf(context);
      if (file === undefined) return;
      const report = (node: Node, messageId: string): void => {
        const callee = isCall(node)
          ? context.sourceCode.getText(node.callee).replaceAll(/\s+/g, ' ')
          : 'import';
        context.report({ node, messageId, data: { call: `${callee}(…)` } });
      };
      walk(context.sourceCode, (node) => {
        if (node.type !== 'ImportExpression' && !isCall(node)) return;
        const messageId = mistakeOf(file, node);
        if (messageId !== undefined && file.phasesOf(node).has('step')) report(node, messageId);
      });
    },
  }),
};

function mistakeOf(file: SagaFile, node: Node): 'floating' | 'forEach' | 'list' | undefined {
  const listed = isCall(node) ? asyncIteration(node) : undefined;
  if (listed === 'forEach') return 'forEach';
  if (listed === 'map')
    return isDropped(file, node) ? 'floating' : isReturned(file, node) ? 'list' : undefined;
  return isPromise(file, node) && isDropped(file, node) ? 'floating' : undefined;
}

/** The method called with an async function for each item of a list. */
function asyncIteration(call: CallNode): string | undefined {
  const callee = unwrap(call.callee);
  const [callback] = call.arguments;
  const name = callee.type === 'MemberExpression' ? propertyOf(callee) : undefined;
  const given = callback === undefined ? undefined : unwrap(callback);
  return (name === 'forEach' || name === 'map') && isFunction(given) && given.async === true
    ? name
    : undefined;
}

/** `true` for an unused value. `void` marks an intended one. */
function isDropped(file: SagaFile, node: Node): boolean {
  const outer = wrap(node);
  const { parent } = outer;
  if (parent.type === 'ExpressionStatement') return true;
  if (parent.type === 'LogicalExpression' || parent.type === 'ConditionalExpression')
    return (
      (parent.type === 'LogicalExpression' ? parent.left : parent.test) !== outer &&
      isDropped(file, parent)
    );
  if (parent.type === 'SequenceExpression')
    return parent.expressions.at(-1) !== outer || isDropped(file, parent);
  if (parent.type !== 'VariableDeclarator' || parent.id.type !== 'Identifier') return false;
  const variable = constantOf(file.source, parent);
  return variable !== undefined && !variable.references.some((reference) => reference.isRead());
}

/** `true` for the returned value of the function of a step. */
function isReturned(file: SagaFile, node: Node): boolean {
  const { parent } = wrap(node);
  if (parent.type === 'ArrowFunctionExpression') return file.isStepFunction(parent);
  if (parent.type !== 'ReturnStatement') return false;
  const around = functionAround(node);
  return around !== undefined && file.isStepFunction(around);
}
