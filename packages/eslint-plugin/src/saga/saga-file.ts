import type { Rule, Scope, SourceCode } from 'eslint';
import { originOf, type Origin } from './origin.ts';
import {
  functionAround,
  functionOf,
  isCall,
  isFunction,
  isWrapper,
  unwrap,
  variableOf,
  walk,
  wrap,
  type CallNode,
  type FunctionNode,
  type Node,
} from './syntax.ts';
import { commands, definers, callers as bodyCallers, effects, isSagaModule } from './vocabulary.ts';

/** The phase of code: runs with each replay of a body, or once, as a step. */
export type Phase = 'body' | 'step';

type YieldNode = Extract<Node, { type: 'YieldExpression' }>;

// Functions calling the callback before the return.
const callers = new Set(
  'every filter find findIndex findLast flatMap forEach from map reduce some sort toSorted'.split(
    ' ',
  ),
);

/** A file with sagas: the meaning of its functions and calls. */
export class SagaFile {
  readonly calls: CallNode[] = [];
  readonly yields: YieldNode[] = [];
  readonly source: SourceCode;
  readonly #modules: readonly string[];
  readonly #bodies = new Set<FunctionNode>();
  readonly #helpers = new Map<FunctionNode, boolean>();

  constructor(source: SourceCode, modules: readonly string[]) {
    this.source = source;
    this.#modules = modules;
    walk(source, (node) => {
      if (isCall(node)) this.calls.push(node);
      else if (node.type === 'YieldExpression') this.yields.push(node);
    });
    for (const call of this.calls) {
      const [, body] = definers.has(this.#sagaName(call) ?? '') ? call.arguments : [];
      const found = body === undefined ? undefined : this.functionOf(body as Node);
      if (found !== undefined) this.#bodies.add(found);
    }
  }

  /** The origin of the called function. */
  origin(call: CallNode): Origin | undefined {
    return originOf(this.source, call.callee);
  }

  /** The name of the command created by a call. */
  command(call: CallNode): string | undefined {
    const name = this.#sagaName(call);
    return name !== undefined && commands.has(name) ? name : undefined;
  }

  /** `true` for a call of a local generator with commands. */
  isHelperCall(call: CallNode): boolean {
    if (call.type !== 'CallExpression') return false;
    const called = unwrap(call.callee);
    const found = called.type === 'Identifier' ? this.functionOf(called) : undefined;
    return found !== undefined && this.isSagaGenerator(found);
  }

  /** `true` for the body of a saga. */
  isBody(node: FunctionNode): boolean {
    return this.#bodies.has(node);
  }

  /** `true` for the body of a saga, and for a generator with commands. */
  isSagaGenerator(node: FunctionNode): boolean {
    if (!isGenerator(node)) return false;
    if (this.#bodies.has(node)) return true;
    const known = this.#helpers.get(node);
    if (known !== undefined) return known;
    // Helpers may call each other.
    this.#helpers.set(node, false);
    const found =
      this.#returnsSteps(node) || this.yields.some((one) => this.#yieldsCommand(one, node));
    this.#helpers.set(node, found);
    return found;
  }

  /** The phases in which a node runs. Empty if unknown. */
  phasesOf(node: Node): ReadonlySet<Phase> {
    const phases = new Set<Phase>();
    this.#addPhases(node, phases, new Set());
    return phases;
  }

  /** `true` for a function argument of a command, run as a step. */
  isStepFunction(node: FunctionNode): boolean {
    const taker = takerOf(node);
    return taker !== undefined && effects.has(this.command(taker) ?? '') && !isGenerator(node);
  }

  #addPhases(node: Node, phases: Set<Phase>, seen: Set<FunctionNode>): void {
    const around = functionAround(node);
    if (around === undefined || seen.has(around)) return;
    seen.add(around);
    if (this.isSagaGenerator(around)) phases.add('body');
    else if (this.isStepFunction(around)) phases.add('step');
    else if (!isGenerator(around)) {
      const outer = wrap(around);
      const taken = takerOf(around);
      if (taken !== undefined && bodyCallers.has(this.command(taken) ?? '')) {
        this.#addPhases(taken, phases, seen);
        return;
      }
      if (isCall(outer.parent) && callsAtOnce(outer.parent, outer)) {
        this.#addPhases(outer.parent, phases, seen);
        return;
      }
      for (const { identifier } of nameOf(this.source, around)?.references ?? []) {
        const use = wrap(identifier as Node);
        if (isCall(use.parent) && use.parent.callee === use)
          this.#addPhases(use.parent, phases, seen);
        const taker = takerOf(use);
        if (taker !== undefined && effects.has(this.command(taker) ?? '')) phases.add('step');
      }
    }
  }

  #sagaName(call: CallNode): string | undefined {
    if (call.type !== 'CallExpression') return undefined;
    const origin = this.origin(call);
    return isSagaModule(origin?.module, this.#modules) ? origin?.name : undefined;
  }

  /** The function of an expression, or of the variable in the expression. */
  functionOf(given: Node): FunctionNode | undefined {
    const node = unwrap(given);
    if (isFunction(node)) return node;
    return node.type === 'Identifier' ? functionOf(variableOf(this.source, node)) : undefined;
  }

  #yieldsCommand(node: YieldNode, by: FunctionNode): boolean {
    const value = node.argument ? unwrap(node.argument) : undefined;
    if (!isCall(value) || functionAround(node) !== by) return false;
    return this.command(value) !== undefined || (node.delegate && this.isHelperCall(value));
  }

  #returnsSteps(node: FunctionNode): boolean {
    const { returnType } = node as { readonly returnType?: { readonly typeAnnotation?: unknown } };
    const { typeName } = Object(returnType?.typeAnnotation) as { readonly typeName?: Node };
    if (typeName?.type !== 'Identifier' || typeName.name !== 'Steps') return false;
    return isSagaModule(originOf(this.source, typeName)?.module, this.#modules);
  }
}

const files = new WeakMap<object, SagaFile | null>();

/** The file of a rule. Undefined for a file without imports of sagas. */
export function sagaFileOf({ sourceCode, settings }: Rule.RuleContext): SagaFile | undefined {
  const known = files.get(sourceCode.ast);
  if (known !== undefined) return known ?? undefined;
  const { modules } = Object(settings['mcp-saga']) as { readonly modules?: unknown };
  const others = Array.isArray(modules) ? modules.map(String) : [];
  const names = ['@mcp-saga/', ...others];
  const file = names.some((name) => sourceCode.text.includes(name))
    ? new SagaFile(sourceCode, others)
    : null;
  files.set(sourceCode.ast, file);
  return file ?? undefined;
}

/** `true` for `function*`, but not for `async function*`. */
export function isGenerator(node: FunctionNode): boolean {
  return node.generator === true && node.async !== true;
}

/** The variable of a named function. */
function nameOf(source: SourceCode, node: FunctionNode): Scope.Variable | undefined {
  if (node.type === 'FunctionDeclaration') return source.getDeclaredVariables(node)[0];
  const { parent } = wrap(node);
  if (parent.type !== 'VariableDeclarator' || parent.id.type !== 'Identifier') return undefined;
  const [variable] = source.getDeclaredVariables(parent);
  return functionOf(variable) === node ? variable : undefined;
}

/** The call with a node among the arguments, or in an object argument. */
export function takerOf(node: Node): CallNode | undefined {
  let at = wrap(node);
  for (;;) {
    const { parent } = at;
    if (isCall(parent)) return parent.callee === at ? undefined : parent;
    if (parent.type === 'ConditionalExpression' ? parent.test === at : !isContainer(parent))
      return undefined;
    at = parent;
  }
}

function isContainer(node: Node): boolean {
  return node.type === 'Property' || node.type === 'ObjectExpression' || isWrapper(node);
}

/** `true` for an immediate call: of the function, or of a callback. */
function callsAtOnce(call: CallNode, given: Node): boolean {
  if (call.callee === given) return true;
  const called = unwrap(call.callee);
  if (call.type === 'NewExpression')
    return called.type === 'Identifier' && called.name === 'Promise';
  return (
    called.type === 'MemberExpression' &&
    called.property.type === 'Identifier' &&
    callers.has(called.property.name)
  );
}
