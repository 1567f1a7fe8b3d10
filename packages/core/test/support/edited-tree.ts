/** Sagas as trees. Each node has a number that edits keep. */

/** Kinds of compensation. */
export type UndoKind = 'none' | 'function' | 'generator' | 'named' | 'unknown';

/** A server step. */
export interface StepNode {
  readonly kind: 'step';
  readonly node: number;
  readonly id: string;
  /** `register`: all outcomes of the branch so far. `item`: the item of the loop. */
  readonly input: 'none' | 'own' | 'register' | 'item';
  /** Number of changes of the input. */
  readonly inputVersion: number;
  readonly key: 'none' | 'own' | 'item';
  readonly keep: boolean;
  readonly once: boolean;
  readonly undo: UndoKind;
  readonly label: string | undefined;
  /** Number of failures before success, and of attempts. */
  readonly failures: number;
  readonly attempts: number;
  readonly timeout: number | undefined;
  /** Version of its function. */
  readonly code: number;
}

/** A form for the user. */
export interface AskNode {
  readonly kind: 'ask';
  readonly node: number;
  readonly id: string;
  /** Parts of the message. Some have a long middle. */
  readonly head: string;
  readonly middle: string;
  readonly tail: string;
  /** `true` if the message contains the register. */
  readonly live: boolean;
  /** Version of its schema. */
  readonly schema: number;
  readonly asOutcome: boolean;
  readonly ttl: number | undefined;
}

/** A URL for the user, or a question for the client's model. */
export interface OpenNode {
  readonly kind: 'url' | 'sample';
  readonly node: number;
  readonly id: string;
  readonly text: string;
  /** The URL, or the system prompt. */
  readonly more: string;
}

/** A poll. */
export interface PollNode {
  readonly kind: 'poll';
  readonly node: number;
  readonly id: string;
  readonly asks: number;
  readonly every: number;
}

/** A sleep. */
export interface SleepNode {
  readonly kind: 'sleep';
  readonly node: number;
  readonly ms: number;
}

/** A command without parameters, or a statement. */
export interface PlainNode {
  readonly kind:
    | 'checkpoint'
    | 'now'
    | 'random'
    | 'progress'
    | 'throw'
    | 'abort'
    | 'return'
    | 'continueAs';
  readonly node: number;
}

/** A pivot. */
export interface PivotNode {
  readonly kind: 'pivot';
  readonly node: number;
  readonly id: string;
}

/** A command or a statement. */
export type Leaf = StepNode | AskNode | OpenNode | PollNode | SleepNode | PlainNode;

/** Nodes in order. */
export interface SequenceNode {
  readonly kind: 'sequence';
  readonly node: number;
  readonly nodes: readonly Node[];
}

/** A scope, or a call of another saga. */
export interface NestNode {
  readonly kind: 'scope' | 'call';
  readonly node: number;
  readonly id: string;
  readonly argument: number;
  readonly body: Node;
}

/** A branch of a group. */
export interface BranchNode {
  readonly key: string;
  /** `true` for a command without a helper. */
  readonly single: boolean;
  readonly body: Node;
}

/** A group of branches. */
export interface GroupNode {
  readonly kind: 'all' | 'allSettled' | 'race';
  readonly node: number;
  readonly shape: 'record' | 'array';
  readonly branches: readonly BranchNode[];
}

/** A `try` with `catch`, `finally`, or both. */
export interface TryNode {
  readonly kind: 'try';
  readonly node: number;
  readonly body: Node;
  readonly catches: boolean;
  readonly finally: Node | undefined;
}

/** A loop over items. */
export interface LoopNode {
  readonly kind: 'loop';
  readonly node: number;
  readonly items: readonly string[];
  readonly body: Node;
}

/** A choice by the register. */
export interface IfNode {
  readonly kind: 'if';
  readonly node: number;
  readonly even: Node;
  readonly odd: Node;
}

/** A body behind `patched`, and an alternative. */
export interface PatchedNode {
  readonly kind: 'patched';
  readonly node: number;
  readonly id: string;
  readonly enabled: boolean;
  readonly body: Node;
  readonly otherwise: Node | undefined;
}

/** A piece of a saga. */
export type Node =
  | Leaf
  | PivotNode
  | SequenceNode
  | NestNode
  | GroupNode
  | TryNode
  | LoopNode
  | IfNode
  | PatchedNode;

/** A source of random choices. */
export interface Draw {
  /** A whole number from 0, less than `length`. */
  int(length: number): number;
  /** `true` in `percent` of 100 cases. */
  chance(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Makes choices from random numbers in [0, 1). */
export function drawOf(random: () => number): Draw {
  const int = (length: number): number => Math.floor(random() * length);
  return {
    int,
    chance: (percent) => random() * 100 < percent,
    pick: <T>(list: readonly T[]): T => list[int(list.length)] as T,
  };
}

/** `true` if a node can be a branch without a helper. */
export function isCommand(node: Node): node is Leaf {
  return ['step', 'ask', 'url', 'sample', 'poll', 'sleep', 'checkpoint', 'random'].includes(
    node.kind,
  );
}

/** The children of a node. */
export function childrenOf(node: Node): readonly Node[] {
  if (node.kind === 'sequence') return node.nodes;
  if ('branches' in node) return node.branches.map(({ body }) => body);
  if (node.kind === 'try')
    return node.finally === undefined ? [node.body] : [node.body, node.finally];
  if (node.kind === 'if') return [node.even, node.odd];
  if (node.kind === 'patched')
    return node.otherwise === undefined ? [node.body] : [node.body, node.otherwise];
  return 'body' in node ? [node.body] : [];
}

/** All nodes of a tree, from the top. */
export function nodesOf(tree: Node): readonly Node[] {
  return [tree, ...childrenOf(tree).flatMap(nodesOf)];
}

/** Replaces each node by the result of `change`, from the bottom. */
export function mapTree(tree: Node, change: (node: Node) => Node): Node {
  const inner = (node: Node): Node => mapTree(node, change);
  if (tree.kind === 'sequence') return change({ ...tree, nodes: tree.nodes.map(inner) });
  if ('branches' in tree) {
    const branches = tree.branches.map((branch) => ({ ...branch, body: inner(branch.body) }));
    return change({ ...tree, branches });
  }
  if (tree.kind === 'try') {
    return change({
      ...tree,
      body: inner(tree.body),
      finally: tree.finally && inner(tree.finally),
    });
  }
  if (tree.kind === 'if') {
    return change({ ...tree, even: inner(tree.even), odd: inner(tree.odd) });
  }
  if (tree.kind === 'patched') {
    return change({
      ...tree,
      body: inner(tree.body),
      otherwise: tree.otherwise && inner(tree.otherwise),
    });
  }
  return 'body' in tree ? change({ ...tree, body: inner(tree.body) }) : change(tree);
}

/** Makes random nodes with new numbers. */
export class Maker {
  readonly draw: Draw;
  #last: number;

  constructor(draw: Draw, last: number = 0) {
    this.draw = draw;
    this.#last = last;
  }

  /** Returns a new number. */
  number(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Makes a saga. */
  saga(): Node {
    return this.sequence(3, 2 + this.draw.int(4));
  }

  sequence(depth: number, length: number): SequenceNode {
    return {
      kind: 'sequence',
      node: this.number(),
      nodes: Array.from({ length }, () => this.any(depth)),
    };
  }

  any(depth: number): Node {
    const { draw } = this;
    if (depth === 0 || draw.chance(55)) return this.leaf();
    const node = this.number();
    const body = (): Node => this.sequence(depth - 1, 1 + draw.int(2));
    const kind = draw.int(100);
    if (kind < 45) return this.group(node, depth);
    if (kind < 55)
      return { kind: 'scope', node, id: this.id('scope', node), argument: 0, body: body() };
    if (kind < 63)
      return { kind: 'call', node, id: this.id('called', node), argument: 1, body: body() };
    if (kind < 78) {
      const cleans = draw.chance(50);
      return {
        kind: 'try',
        node,
        body: body(),
        catches: !cleans || draw.chance(50),
        finally: cleans ? this.step() : undefined,
      };
    }
    if (kind < 88) {
      return { kind: 'loop', node, items: ['a', 'b', 'c'].slice(0, 1 + draw.int(3)), body: body() };
    }
    if (kind < 95) return { kind: 'if', node, even: body(), odd: body() };
    return {
      kind: 'patched',
      node,
      id: `p${node}`,
      enabled: draw.chance(80),
      body: body(),
      otherwise: undefined,
    };
  }

  group(node: number, depth: number): GroupNode {
    const { draw } = this;
    const kind = draw.pick(['all', 'all', 'allSettled', 'race'] as const);
    const length = 1 + draw.int(3);
    const shape = kind !== 'race' && draw.chance(50) ? 'array' : 'record';
    const branches = Array.from({ length }, (_, index): BranchNode => {
      const key = shape === 'array' ? String(index) : `b${node}x${index}`;
      const single = draw.chance(50);
      return {
        key,
        single,
        body: single ? this.leaf() : this.sequence(depth - 1, 1 + draw.int(2)),
      };
    });
    return { kind, node, shape, branches };
  }

  /** Makes an ID. Most IDs are unique. */
  id(prefix: string, node: number): string {
    return this.draw.chance(85) ? `${prefix}${node}` : prefix;
  }

  leaf(): Node {
    const { draw } = this;
    const kind = draw.int(100);
    if (kind < 42 || kind >= 97) return this.step();
    if (kind < 66) return this.ask();
    const node = this.number();
    if (kind < 71) {
      return {
        kind: 'url',
        node,
        id: this.id('open', node),
        text: `Open ${node}`,
        more: `https://x.example/${node}`,
      };
    }
    if (kind < 76) {
      return {
        kind: 'sample',
        node,
        id: this.id('sample', node),
        text: `Judge ${node}`,
        more: `Be fair ${node}`,
      };
    }
    if (kind < 80) {
      return { kind: 'poll', node, id: this.id('poll', node), asks: 1 + draw.int(3), every: 1_000 };
    }
    if (kind < 84) return { kind: 'sleep', node, ms: draw.pick([0, 500, 60_000]) };
    if (kind < 94)
      return { kind: draw.pick(['checkpoint', 'now', 'random', 'progress'] as const), node };
    if (kind < 95) return { kind: draw.pick(['throw', 'abort', 'return'] as const), node };
    return { kind: 'pivot', node, id: this.id('pivot', node) };
  }

  step(): StepNode {
    const { draw } = this;
    const node = this.number();
    const flaky = draw.chance(20);
    return {
      kind: 'step',
      node,
      id: this.id('step', node),
      input: draw.pick(['none', 'none', 'own', 'own', 'register', 'item'] as const),
      inputVersion: 0,
      key: draw.pick(['none', 'none', 'none', 'own', 'item'] as const),
      keep: draw.chance(85),
      once: draw.chance(5),
      undo: draw.pick([
        'none',
        'none',
        'function',
        'function',
        'generator',
        'named',
        'unknown',
      ] as const),
      label: undefined,
      failures: flaky ? 1 + draw.int(2) : 0,
      attempts: flaky ? 1 + draw.int(3) : 1,
      timeout: undefined,
      code: 0,
    };
  }

  ask(): AskNode {
    const { draw } = this;
    const node = this.number();
    const long = draw.chance(30);
    return {
      kind: 'ask',
      node,
      id: this.id('ask', node),
      head: `Question ${node}: `,
      middle: long
        ? `${'the customer of this order '.repeat(4)}100 euros${' and the shop'.repeat(4)}`
        : 'pay 100 euros',
      tail: '?',
      live: draw.chance(20),
      schema: 0,
      asOutcome: draw.chance(30),
      ttl: undefined,
    };
  }
}
