import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { assertKnownOptions, optionNames } from '@mcp-saga/core/program';
import { restoredOrder } from '../adapter/xstate-nodes.ts';
import { linesOf, transitionsOf } from './mermaid-labels.ts';
import { MermaidIds, mermaidText } from './mermaid-text.ts';

/** What a picture shows beside the machine. */
export interface ToMermaidOptions {
  /** The state of a machine under way, as in `snapshot.value`: its leaves are highlighted. */
  readonly value?: StateValue;
}

const names = /* @__PURE__ */ optionNames<ToMermaidOptions>({ value: true });

/**
 * Draws a machine as a Mermaid `stateDiagram-v2`, which GitHub and most readers of Markdown show as a picture: nested and
 * parallel states, history (`H`, `H*`), final states; on the arrows events, `done`, `error`, `after 5 min`, `always`, and
 * guards in brackets; in the states what they invoke, by kind; and what actions spawn. A machine that another one invokes is
 * drawn by itself.
 *
 * @returns lines without a fence, with a line break at the end
 * @throws TypeError if the machine has no state for `value`
 */
export function toMermaid(machine: AnyStateMachine, options: ToMermaidOptions = {}): string {
  assertKnownOptions('toMermaid', undefined, options, names);
  return new Picture(machine, options.value).text();
}

class Picture {
  readonly #root: AnyStateNode;
  readonly #active: ReadonlySet<unknown>;
  readonly #ids = new Map<AnyStateNode, string>();
  readonly #names = new MermaidIds();
  /** Arrows from one state into the inside of another: in a block, they would move the states there. */
  readonly #across: string[] = [];
  readonly #highlighted: string[] = [];

  constructor(machine: AnyStateMachine, value: StateValue | undefined) {
    this.#root = machine.root;
    this.#active = new Set(value === undefined ? [] : nodesAt(machine, value));
  }

  text(): string {
    const root = this.#root;
    // A machine that is itself in a state worth telling is a box around its states.
    const isBox = root.type !== 'compound' || transitionsOf(root).length > 0 || linesOf(root).length > 0;
    const body = isBox ? this.#state(root) : this.#inside(root);
    const highlights =
      this.#highlighted.length === 0
        ? []
        : [
            'classDef active fill:#ffd54f,stroke:#b8860b,color:#1a1a1a',
            `class ${this.#highlighted.join(',')} active`,
          ];
    const lines = [...body, ...this.#across, ...highlights];
    return `stateDiagram-v2\n${indent(lines).join('\n')}\n`;
  }

  #state(node: AnyStateNode): readonly string[] {
    const id = this.#idOf(node);
    const lines = linesOf(node);
    const name = this.#nameOf(node);
    const isLeaf = Object.keys(node.states).length === 0;
    if (isLeaf && this.#active.has(node)) this.#highlighted.push(id);
    this.#addArrowsAcross(node);
    if (isLeaf) return [`state "${name}" as ${id}`, ...lines.map((line) => `${id} : ${line}`)];
    // What is in a box has one line for its title.
    const title = lines.length === 0 ? name : `${name} (${lines.join(', ')})`;
    return [`state "${title}" as ${id} {`, ...indent(this.#inside(node)), '}'];
  }

  /** The states of a state, and the arrows between them. */
  #inside(node: AnyStateNode): readonly string[] {
    const children = Object.values(node.states) as readonly AnyStateNode[];
    if (node.type === 'parallel') {
      const histories = children.filter(({ type }) => type === 'history');
      const regions = children.filter(({ type }) => type !== 'history').map((child) => this.#state(child));
      return [
        ...regions.flatMap((lines, index) => (index === 0 ? lines : ['--', ...lines])),
        ...histories.flatMap((child) => this.#state(child)),
      ];
    }
    const [initial] = (node.initial?.target ?? []) as readonly AnyStateNode[];
    const first = initial === undefined ? undefined : children.find((child) => isIn(child, initial));
    return [
      ...(first === undefined ? [] : [`[*] --> ${this.#idOf(first)}`]),
      ...children.flatMap((child) => this.#state(child)),
      ...children.flatMap((child) => this.#arrows(child, (target) => target.parent === node)),
      ...children.filter(({ type }) => type === 'final').map((child) => `${this.#idOf(child)} --> [*]`),
    ];
  }

  #addArrowsAcross(node: AnyStateNode): void {
    const { parent } = node;
    const isBeside = (target: AnyStateNode): boolean =>
      target.parent === parent && parent !== undefined && parent.type !== 'parallel';
    this.#across.push(...this.#arrows(node, (target) => !isBeside(target)));
  }

  #arrows(node: AnyStateNode, isWanted: (target: AnyStateNode) => boolean): readonly string[] {
    return transitionsOf(node).flatMap(({ label, targets }) =>
      targets.filter(isWanted).map((target) => `${this.#idOf(node)} --> ${this.#idOf(target)} : ${label}`),
    );
  }

  #idOf(node: AnyStateNode): string {
    let id = this.#ids.get(node);
    if (id === undefined) {
      id = this.#names.idFor(node === this.#root ? [node.machine.id] : node.path);
      this.#ids.set(node, id);
    }
    return id;
  }

  #nameOf(node: AnyStateNode): string {
    if (node.type === 'history') return node.history === 'deep' ? 'H#42;' : 'H';
    const name = mermaidText(node === this.#root ? node.machine.id : node.key);
    // Mermaid shows the id of a state without a name.
    return name === '' ? '#160;' : name;
  }
}

function nodesAt(machine: AnyStateMachine, value: StateValue): readonly unknown[] {
  try {
    if (typeof value !== 'string' && typeof value !== 'object') throw new TypeError('It is no state value.');
    return restoredOrder(machine, value as never);
  } catch (error) {
    throw new TypeError(
      `The machine '${machine.id}' has no state for the value ${JSON.stringify(value)}. ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function isIn(node: AnyStateNode, inner: AnyStateNode): boolean {
  return inner === node || (inner.parent !== undefined && isIn(node, inner.parent as AnyStateNode));
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
