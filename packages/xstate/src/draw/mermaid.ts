import type { AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { assertKnownOptions } from '@mcp-saga/core/program';
import { type NamesOf, optionError } from '@mcp-saga/core/shared';
import { orderedNodes } from '../adapter/xstate-actors.ts';
import { activitiesOf, isUndone, transitionsOf, type LabelledTransition } from './labels.ts';
import { MermaidIds, mermaidText } from './mermaid-text.ts';

/** Options of {@link toMermaid}. */
export interface ToMermaidOptions {
  /** Active states as in `snapshot.value`, highlighted in the diagram. */
  readonly value?: StateValue;
}

const names: NamesOf<ToMermaidOptions> = { value: true };

/**
 * Draws a machine as a Mermaid `stateDiagram-v2`: states with invokes and history (`H`, `H*`), and
 * arrows with events, `done`, `error`, `after 5 min`, `always`, guards in brackets, and spawned
 * actors. Draw invoked machines separately.
 * @returns lines without a Markdown fence, with a final line break
 * @throws TypeError if the machine has no state for `value`
 * @example
 * ```ts
 * import { createMachine } from 'xstate';
 *
 * const door = createMachine({ initial: 'shut', states: { shut: { on: { OPEN: 'open' } }, open: {} } });
 * const diagram = toMermaid(door, { value: 'shut' });
 * ```
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
  /** Arrows into the inside of another state. In a block, an arrow would move the states. */
  readonly #across: string[] = [];
  readonly #highlighted: string[] = [];

  constructor(machine: AnyStateMachine, value: StateValue | undefined) {
    this.#root = machine.root;
    this.#active = new Set(value === undefined ? [] : nodesAt(machine, value));
  }

  text(): string {
    const root = this.#root;
    // A root with transitions or activity is a box around its states.
    const isBox =
      root.type !== 'compound' || transitionsOf(root).length > 0 || linesOf(root).length > 0;
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
    // A box has one line for its title.
    const title = lines.length === 0 ? name : `${name} (${lines.join(', ')})`;
    return [`state "${title}" as ${id} {`, ...indent(this.#inside(node)), '}'];
  }

  /** Draws inner states, and the arrows between them. */
  #inside(node: AnyStateNode): readonly string[] {
    const children = Object.values(node.states) as readonly AnyStateNode[];
    if (node.type === 'parallel') {
      const histories = children.filter(({ type }) => type === 'history');
      const regions = children
        .filter(({ type }) => type !== 'history')
        .map((child) => this.#state(child));
      return [
        ...regions.flatMap((lines, index) => (index === 0 ? lines : ['--', ...lines])),
        ...histories.flatMap((child) => this.#state(child)),
      ];
    }
    const [initial] = (node.initial?.target ?? []) as readonly AnyStateNode[];
    const first =
      initial === undefined ? undefined : children.find((child) => isIn(child, initial));
    return [
      ...(first === undefined ? [] : [`[*] --> ${this.#idOf(first)}`]),
      ...children.flatMap((child) => this.#state(child)),
      ...children.flatMap((child) => this.#arrows(child, (target) => target.parent === node)),
      ...children
        .filter(({ type }) => type === 'final')
        .map((child) => `${this.#idOf(child)} --> [*]`),
    ];
  }

  #addArrowsAcross(node: AnyStateNode): void {
    const { parent } = node;
    const isBeside = (target: AnyStateNode): boolean =>
      target.parent === parent && parent !== undefined && parent.type !== 'parallel';
    this.#across.push(...this.#arrows(node, (target) => !isBeside(target)));
  }

  #arrows(node: AnyStateNode, isWanted: (target: AnyStateNode) => boolean): readonly string[] {
    return transitionsOf(node).flatMap((transition) =>
      transition.targets
        .filter(isWanted)
        .map((target) => `${this.#idOf(node)} --> ${this.#idOf(target)} : ${labelOf(transition)}`),
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
    // Mermaid would show the ID of a state without a name.
    return name === '' ? '#160;' : name;
  }
}

/** Returns the activity of a state as escaped lines. */
function linesOf(node: AnyStateNode): readonly string[] {
  const stays = transitionsOf(node)
    .filter(({ targets }) => targets.length === 0)
    .map((transition) => `${labelOf(transition)} (stays)`);
  return [
    ...activitiesOf(node).map(mermaidText),
    ...stays,
    ...(isUndone(node) ? ['compensate'] : []),
  ];
}

/** Returns the escaped label of an arrow. */
function labelOf({ event, guard, spawns }: LabelledTransition): string {
  const label = mermaidText(event) + (guard === undefined ? '' : ` [${mermaidText(guard)}]`);
  return [label, ...spawns.map(mermaidText)].join(' / ');
}

function nodesAt(machine: AnyStateMachine, value: StateValue): readonly unknown[] {
  try {
    if (typeof value !== 'string' && typeof value !== 'object')
      throw new Error('A state value is a string or an object.');
    return orderedNodes(machine.resolveState({ value, context: {} }) as never);
  } catch (error) {
    throw optionError(
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
