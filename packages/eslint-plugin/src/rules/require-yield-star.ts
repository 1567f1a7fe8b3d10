import type { Rule } from 'eslint';
import { isPromise } from '../saga/promises.ts';
import { isGenerator, sagaFileOf, type SagaFile } from '../saga/saga-file.ts';
import {
  functionAround,
  isCall,
  propertyOf,
  unwrap,
  type CallNode,
  type Node,
} from '../saga/syntax.ts';
import { misuseOf } from './misused-command.ts';

/** Requires `yield*` before commands and helpers: without `yield*`, nothing happens. */
export const requireYieldStar: Rule.RuleModule = {
  meta: {
    type: 'problem',
    docs: {
      description: 'Require `yield*` before commands and helpers of a saga',
      url: 'https://www.npmjs.com/package/@mcp-saga/eslint-plugin#require-yield-star',
    },
    hasSuggestions: true,
    schema: [],
    messages: {
      awaited: '`await` does not run `{{call}}`. Write `yield* {{call}}` in the body of the saga.',
      dropped: '`{{call}}` does nothing until the saga yields it. Write `yield* {{call}}`.',
      inStep:
        '`{{call}}` does nothing in a step. Move it to the body of the saga: `yield* {{call}}`.',
      forEach:
        '`{{method}}` does not run a generator. Write `for (const item of items) yield* …`, or `yield* each(items, …)`.',
      promise: '`yield*` does not wait for a promise. Write `yield* step(id, () => {{call}})`.',
      read: '`{{call}}` is used in place of its result. Write `yield* {{call}}`.',
      returned: '`{{call}}` is returned in place of its result. Write `return yield* {{call}}`.',
      uncalled: '`{{call}}` is not called. Write `yield* {{call}}(…)`.',
      yielded:
        '`yield` without `*` does not give the result of `{{call}}`. Write `yield* {{call}}`.',
      yieldedOther:
        'A saga yields commands and helpers. Write `yield*` before a helper, and run promises in a step.',
      suggestion: 'Write `yield*`.',
    },
  },
  create: (context) => ({
    'Program:exit'() {
      const file = sagaFileOf(context);
      if (file === undefined) return;
      for (const call of file.calls) {
        check(context, file, call);
        const method = methodOfGenerator(file, call);
        if (method !== undefined)
          context.report({ node: call, messageId: 'forEach', data: { method } });
      }
      for (const node of file.yields) {
        const around = functionAround(node);
        if (around === undefined || !file.isSagaGenerator(around)) continue;
        const value = node.argument ? unwrap(node.argument) : undefined;
        if (node.delegate) {
          checkDelegate(context, file, value);
          continue;
        }
        // Calls of commands and helpers are reported above. A variable or another call may hold a
        // command.
        const isKnown =
          isCall(value) && (file.command(value) !== undefined || file.isHelperCall(value));
        if (!isKnown) context.report({ node, messageId: 'yieldedOther' });
      }
    },
  }),
};

/** Reports `yield*` of a promise, of an async generator, and of a generator that is not called. */
function checkDelegate(context: Rule.RuleContext, file: SagaFile, node: Node | undefined): void {
  if (node === undefined) return;
  const text = (of: Node): string => context.sourceCode.getText(of).replaceAll(/\s+/g, ' ');
  const isAsync = isCall(node) && file.functionOf(node.callee as Node)?.async === true;
  if (isPromise(file, node) || isAsync)
    context.report({
      node,
      messageId: 'promise',
      data: { call: isCall(node) ? `${text(node.callee as Node)}(…)` : text(node) },
    });
  else if (node.type === 'Identifier' && file.functionOf(node)?.generator === true)
    context.report({ node, messageId: 'uncalled', data: { call: node.name } });
}

/** Methods that call a function for each item, and drop the generator that it returns. */
const droppers: ReadonlySet<string> = new Set(['every', 'filter', 'find', 'forEach', 'some']);

/** The name of such a method that is called with a generator of commands. Undefined for others. */
function methodOfGenerator(file: SagaFile, call: CallNode): string | undefined {
  const callee = unwrap(call.callee);
  const name = callee.type === 'MemberExpression' ? (propertyOf(callee) ?? '') : '';
  const [given] = call.arguments;
  const callback = given === undefined ? undefined : file.functionOf(given as Node);
  const drops = callback !== undefined && droppers.has(name) && file.isSagaGenerator(callback);
  return drops ? name : undefined;
}

function check(context: Rule.RuleContext, file: SagaFile, call: CallNode): void {
  if (file.command(call) === undefined && !file.isHelperCall(call)) return;
  const misuse = misuseOf(file, call);
  if (misuse === undefined) return;
  const name = `${context.sourceCode.getText(call.callee)}(…)`;
  const around = functionAround(call);
  const canYield = around !== undefined && isGenerator(around);
  context.report({
    node: call,
    messageId: misuse,
    data: { call: name },
    suggest: canYield
      ? [{ messageId: 'suggestion', fix: (fixer) => toYieldStar(context, fixer, call) }]
      : [],
  });
}

function toYieldStar(context: Rule.RuleContext, fixer: Rule.RuleFixer, call: CallNode): Rule.Fix {
  const text = `yield* ${context.sourceCode.getText(call)}`;
  const { parent } = call;
  if (parent.type === 'AwaitExpression' || parent.type === 'YieldExpression')
    return fixer.replaceText(parent, text);
  const isBare =
    parent.type === 'ExpressionStatement' ||
    parent.type === 'VariableDeclarator' ||
    parent.type === 'ReturnStatement' ||
    parent.type === 'AssignmentExpression';
  return fixer.replaceText(call, isBare ? text : `(${text})`);
}
