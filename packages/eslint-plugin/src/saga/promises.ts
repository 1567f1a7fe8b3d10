import type { SagaFile } from './saga-file.ts';
import { isCall, propertyOf, unwrap, type Node } from './syntax.ts';

/** `true` if an expression is certainly a promise. */
export function isPromise(file: SagaFile, node: Node): boolean {
  if (node.type === 'ImportExpression') return true;
  if (!isCall(node)) return false;
  const origin = file.origin(node);
  if (origin !== undefined && origin.module === undefined)
    return node.type === 'NewExpression'
      ? origin.name === 'Promise'
      : origin.name === 'fetch' || /^Promise\.(?!withResolvers$)/.test(origin.name);
  if (origin?.module !== undefined && /^(?:node:)?(?:dns|fs|timers)\/promises$/.test(origin.module))
    return true;
  const callee = unwrap(node.callee);
  if (callee.type === 'MemberExpression') {
    const name = propertyOf(callee);
    return name === 'then' || name === 'catch' || name === 'finally';
  }
  const called = file.functionOf(callee);
  return called?.async === true && called.generator !== true;
}
