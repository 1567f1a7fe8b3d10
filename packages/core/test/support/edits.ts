/** Edits of a saga's code. */
import { isDeepStrictEqual } from 'node:util';
import {
  isCommand,
  mapTree,
  nodesOf,
  type AskNode,
  type GroupNode,
  type Maker,
  type Node,
  type StepNode,
} from './edited-tree.ts';

type Change = (tree: Node, maker: Maker) => Node | undefined;
type OfKind<N, K> = N extends { readonly kind: infer J } ? (K extends J ? N : never) : never;
type Of<K extends Node['kind']> = OfKind<Node, K>;

/** Replaces a random matching node. */
function some(fits: (node: Node) => boolean, change: (node: Node, maker: Maker) => Node): Change {
  return (tree, maker) => {
    const found = nodesOf(tree).filter(fits);
    if (found.length === 0) return undefined;
    const target = maker.draw.pick(found);
    return mapTree(tree, (node) => (node.node === target.node ? change(node, maker) : node));
  };
}

/** Changes a random node of a kind. */
function one<K extends Node['kind']>(
  kinds: readonly K[],
  change: (node: Of<K>, maker: Maker) => Partial<Of<K>> | undefined,
): Change {
  return some(
    ({ kind }) => (kinds as readonly string[]).includes(kind),
    (node, maker) => ({ ...node, ...change(node as Of<K>, maker) }),
  );
}

const step = (change: (node: StepNode, maker: Maker) => Partial<StepNode>): Change =>
  one(['step'], change);
const ask = (change: (node: AskNode, maker: Maker) => Partial<AskNode>): Change =>
  one(['ask'], change);
const anything = (): boolean => true;

/** Adds a node before or after a random node. */
function put(where: 'before' | 'after', make: (maker: Maker, beside: Node) => Node): Change {
  return some(anything, (beside, maker) => {
    const added = make(maker, beside);
    const nodes = where === 'before' ? [added, beside] : [beside, added];
    return { kind: 'sequence', node: maker.number(), nodes };
  });
}

/** Replaces a random node of a sequence. A branch without a helper stays as it is. */
function inRow(change: (node: Node, maker: Maker) => Node): Change {
  return (tree, maker) => {
    const row = nodesOf(tree).flatMap((node) => (node.kind === 'sequence' ? node.nodes : []));
    if (row.length === 0) return undefined;
    const target = maker.draw.pick(row);
    return mapTree(tree, (node) => (node.node === target.node ? change(node, maker) : node));
  };
}

/** Makes a step, sometimes with the ID of another node. */
function newStep(maker: Maker, beside: Node): StepNode {
  const made = maker.step();
  return 'id' in beside && maker.draw.chance(30)
    ? { ...made, id: beside.id }
    : { ...made, id: `new${made.node}` };
}

/** Removes a random matching node. */
function remove(fits: (node: Node) => boolean): Change {
  return some(fits, (_, maker) => ({ kind: 'sequence', node: maker.number(), nodes: [] }));
}

const groups = ['all', 'allSettled', 'race'] as const;

function keyed(node: GroupNode, branches: GroupNode['branches']): Partial<GroupNode> {
  if (node.shape === 'record') return { branches };
  return { branches: branches.map((branch, index) => ({ ...branch, key: String(index) })) };
}

const group = (change: (node: GroupNode, maker: Maker) => Partial<GroupNode> | undefined): Change =>
  one([...groups], change as never);

/** Exchanges two neighbors in a list. */
function swapped<T>(list: readonly T[], { draw }: Maker): readonly T[] {
  if (list.length < 2) return list;
  const index = draw.int(list.length - 1);
  return list.with(index, list[index + 1] as T).with(index + 1, list[index] as T);
}

const plain = (
  kind: 'checkpoint' | 'now' | 'random' | 'progress' | 'throw' | 'abort' | 'return' | 'continueAs',
) => ((maker) => ({ kind, node: maker.number() })) satisfies (maker: Maker) => Node;

/** Exchanges two random matching nodes. */
function exchange(fits: (node: Node) => boolean): Change {
  return (tree, { draw }) => {
    const found = nodesOf(tree).filter(fits);
    if (found.length < 2) return undefined;
    const first = draw.pick(found);
    const second = draw.pick(found.filter(({ node }) => node !== first.node));
    return mapTree(tree, (node) => {
      if (node.node === first.node) return second;
      return node.node === second.node ? first : node;
    });
  };
}

const nextKey = { none: 'own', own: 'item', item: 'none' } as const;
const nextInput = { none: 'own', own: 'register', register: 'item', item: 'none' } as const;

/**
 * A kind of edit. `isFree`: never a mismatch while the saga goes forward
 * (docs/guides/changing-code.md).
 */
export interface EditKind {
  readonly change: Change;
  readonly isFree?: true;
}

/** All kinds of edits, by name. */
export const editKinds: Readonly<Record<string, EditKind>> = {
  nothing: { isFree: true, change: (tree) => tree },
  'add a step before': { change: put('before', newStep) },
  'add a step after': { change: put('after', newStep) },
  'add a question before': { change: put('before', (maker) => maker.ask()) },
  'add a question after': { change: put('after', (maker) => maker.ask()) },
  'add a group': { change: put('after', (maker) => maker.group(maker.number(), 1)) },
  'remove a step': { change: remove(({ kind }) => kind === 'step') },
  'remove a question': { change: remove(({ kind }) => ['ask', 'url', 'sample'].includes(kind)) },
  'remove a wait': { change: remove(({ kind }) => ['sleep', 'poll', 'checkpoint'].includes(kind)) },
  'remove what is read': { change: remove(({ kind }) => ['now', 'random'].includes(kind)) },
  'remove anything': { change: remove(anything) },
  'rename a step': { change: step(({ id }) => ({ id: `${id}Renamed` })) },
  'rename a question': { change: ask(({ id }) => ({ id: `${id}Renamed` })) },
  'give a command the ID of another one': {
    change: (tree, maker) => {
      const other = maker.draw.pick(nodesOf(tree));
      return 'id' in other
        ? one(['step', 'ask', 'poll'], () => ({ id: other.id }))(tree, maker)
        : undefined;
    },
  },
  'swap two neighbors': {
    change: one(['sequence'], ({ nodes }, maker) => ({ nodes: swapped(nodes, maker) })),
  },
  'swap two steps': { change: exchange(({ kind }) => kind === 'step') },
  'swap two commands': { change: exchange(isCommand) },
  'move a command to the end': {
    change: one(['sequence'], ({ nodes }) => ({
      nodes: [...nodes.slice(1), ...nodes.slice(0, 1)],
    })),
  },
  'swap two branches of an array': {
    change: group((node, maker) =>
      node.shape === 'array' ? keyed(node, swapped(node.branches, maker)) : {},
    ),
  },
  'swap two keys of a record': {
    change: group((node, maker) =>
      node.shape === 'record' ? keyed(node, swapped(node.branches, maker)) : {},
    ),
  },
  'rename a branch': {
    change: group((node) => ({
      branches: node.branches.map((branch, index) =>
        index === 0 ? { ...branch, key: `${branch.key}x` } : branch,
      ),
    })),
  },
  'add a branch at the end': {
    change: group((node, maker) => {
      const body = newStep(maker, node);
      return keyed(node, [
        ...node.branches,
        { key: `b${body.node}`, single: maker.draw.chance(50), body },
      ]);
    }),
  },
  'add a branch at the start': {
    change: group((node, maker) => {
      const body = maker.draw.chance(50) ? newStep(maker, node) : maker.ask();
      return keyed(node, [
        { key: `b${body.node}`, single: maker.draw.chance(50), body },
        ...node.branches,
      ]);
    }),
  },
  'remove a branch': {
    change: group((node, maker) => {
      if (node.branches.length < 2) return {};
      return keyed(node, node.branches.toSpliced(maker.draw.int(node.branches.length), 1));
    }),
  },
  'change the kind of a group': {
    change: group((node) => {
      if (node.shape === 'array') return { kind: node.kind === 'all' ? 'allSettled' : 'all' };
      return {
        kind: { all: 'race', race: 'allSettled', allSettled: 'all' }[
          node.kind
        ] as GroupNode['kind'],
      };
    }),
  },
  'make a record an array': {
    change: group((node) =>
      node.kind === 'race' || node.shape === 'array'
        ? {}
        : { shape: 'array', ...keyed({ ...node, shape: 'array' }, node.branches) },
    ),
  },
  'put a helper around a branch': {
    change: group((node) => ({
      branches: node.branches.map((branch) => ({ ...branch, single: !branch.single })),
    })),
  },
  'change the kind of a command': {
    change: some(isCommand, (node, maker) => {
      const id = 'id' in node ? { id: node.id } : {};
      if (node.kind === 'step') return { ...maker.ask(), ...id };
      return node.kind === 'poll' || maker.draw.chance(50)
        ? { ...maker.step(), ...id }
        : { kind: 'poll', asks: 1, every: 1_000, id: 'polled', ...id, node: maker.number() };
    }),
  },
  'change the head of a message': { change: ask(({ head }) => ({ head: `Now ${head}` })) },
  'change the middle of a message': {
    change: ask(({ middle }) => ({ middle: middle.replace('100', '900') })),
  },
  'change the tail of a message': { change: ask(({ tail }) => ({ tail: `${tail}!` })) },
  'change the prompt or the URL': {
    change: one(['url', 'sample'], (node) =>
      node.kind === 'url' ? { more: `${node.more}/x` } : { more: 'Be strict' },
    ),
  },
  'change the text of a prompt': {
    change: one(['url', 'sample'], ({ text }) => ({ text: `${text}!` })),
  },
  'change the middle of an input': {
    change: step(({ inputVersion }) => ({ inputVersion: inputVersion + 1 })),
  },
  'make another input': { change: step(({ input }) => ({ input: nextInput[input] })) },
  'change a key': { change: step(({ key }) => ({ key: nextKey[key] })) },
  'toggle keep': { change: step(({ keep }) => ({ keep: !keep })) },
  'toggle once': { isFree: true, change: step(({ once }) => ({ once: !once })) },
  'change a function': { isFree: true, change: step(({ code }) => ({ code: code + 1 })) },
  'change a label': { isFree: true, change: step(({ label }) => ({ label: `${label ?? ''}x` })) },
  'change a retry policy': {
    isFree: true,
    change: step(({ attempts }) => ({ attempts: attempts === 1 ? 3 : 1 })),
  },
  'change a timeout': {
    isFree: true,
    change: step(({ timeout = 1e8 }) => ({ timeout: timeout * 2 })),
  },
  'undo a step otherwise': {
    isFree: true,
    change: step(({ undo }, maker) => ({
      undo: maker.draw.pick(
        (['none', 'function', 'generator', 'named', 'unknown'] as const).filter(
          (kind) => kind !== undo,
        ),
      ),
    })),
  },
  'change a schema': { isFree: true, change: ask(({ schema }) => ({ schema: schema + 1 })) },
  'change a time to live': { isFree: true, change: ask(({ ttl = 1e11 }) => ({ ttl: ttl * 2 })) },
  'return a refusal, or throw it': { change: ask(({ asOutcome }) => ({ asOutcome: !asOutcome })) },
  'change an interval': {
    isFree: true,
    change: one(['poll'], ({ every }) => ({ every: every * 2 })),
  },
  'change a duration': { change: one(['sleep'], ({ ms }) => ({ ms: ms + 1_000 })) },
  'change the arguments of a call': {
    change: one(['call'], ({ argument }) => ({ argument: argument + 1 })),
  },
  'rename a scope or a called saga': {
    change: one(['scope', 'call'], ({ id }) => ({ id: `${id}Renamed` })),
  },
  'make a scope a call': {
    change: one(
      ['scope', 'call'],
      ({ kind }) => ({ kind: kind === 'scope' ? 'call' : 'scope' }) as never,
    ),
  },
  'wrap in a scope': {
    change: some(anything, (body, maker) => {
      const node = maker.number();
      return {
        kind: 'scope',
        node,
        id: maker.draw.chance(70) ? `new${node}` : 'scope',
        argument: 0,
        body,
      };
    }),
  },
  'unwrap a scope': {
    change: some(
      ({ kind }) => kind === 'scope',
      (node) => (node as Of<'scope'>).body,
    ),
  },
  'put into a group': {
    change: some(anything, (body, maker) => {
      const other: Node = maker.draw.chance(50) ? maker.step() : maker.ask();
      const branches = [body, other].map((each, index) => ({
        key: `g${index}`,
        single: maker.draw.chance(50),
        body: each,
      }));
      return {
        kind: maker.draw.pick(['all', 'race'] as const),
        node: maker.number(),
        shape: 'record',
        branches,
      };
    }),
  },
  catch: {
    change: some(anything, (body, maker) => ({
      kind: 'try',
      node: maker.number(),
      body,
      catches: true,
      finally: undefined,
    })),
  },
  'clean up': {
    change: some(anything, (body, maker) => ({
      kind: 'try',
      node: maker.number(),
      body,
      catches: false,
      finally: newStep(maker, body),
    })),
  },
  'no longer catch or clean up': {
    change: some(
      ({ kind }) => kind === 'try',
      (node) => (node as Of<'try'>).body,
    ),
  },
  throw: { change: put('before', plain('throw')) },
  'throw after': { change: put('after', plain('throw')) },
  'return early': { change: put('before', plain('return')) },
  'return after': { change: put('after', plain('return')) },
  'abort early': { change: put('before', plain('abort')) },
  'abort after': { change: put('after', plain('abort')) },
  'continue as another saga': { change: put('after', plain('continueAs')) },
  'add a pivot': {
    change: put('after', (maker) => ({ kind: 'pivot', node: maker.number(), id: 'newPivot' })),
  },
  'remove a pivot': { change: remove(({ kind }) => kind === 'pivot') },
  'add now()': { change: put('before', plain('now')) },
  'add random()': { change: put('before', plain('random')) },
  'add a checkpoint': { change: put('before', plain('checkpoint')) },
  'add a sleep': {
    change: put('before', (maker) => ({ kind: 'sleep', node: maker.number(), ms: 700 })),
  },
  'add a report of progress': {
    isFree: true,
    change: inRow((beside, maker) => ({
      kind: 'sequence',
      node: maker.number(),
      nodes: [beside, { kind: 'progress', node: maker.number() }],
    })),
  },
  'add a step behind patched': {
    isFree: true,
    change: inRow((beside, maker) => {
      const node = maker.number();
      const body = newStep(maker, beside);
      const added: Node = {
        kind: 'patched',
        node,
        id: `new${node}`,
        enabled: true,
        body,
        otherwise: undefined,
      };
      return { kind: 'sequence', node: maker.number(), nodes: [added, beside] };
    }),
  },
  'replace by patched': {
    isFree: true,
    change: inRow((otherwise, maker) => {
      const node = maker.number();
      return {
        kind: 'patched',
        node,
        id: `new${node}`,
        enabled: true,
        body: maker.leaf(),
        otherwise,
      };
    }),
  },
  'disable or enable patched': {
    change: one(['patched'], ({ enabled }) => ({ enabled: !enabled })),
  },
  'remove patched': {
    change: some(
      ({ kind }) => kind === 'patched',
      (node) => (node as Of<'patched'>).body,
    ),
  },
  'add an item': { change: one(['loop'], ({ items }) => ({ items: [...items, 'z'] })) },
  'add an item at the start': {
    change: one(['loop'], ({ items }) => ({ items: ['y', ...items] })),
  },
  'remove an item': { change: one(['loop'], ({ items }) => ({ items: items.slice(1) })) },
  'swap two items': {
    change: one(['loop'], ({ items }, maker) => ({ items: swapped(items, maker) })),
  },
  'exchange two branches of the code': {
    change: one(['if'], ({ even, odd }) => ({ even: odd, odd: even })),
  },
};

/** An edited tree, and the kind of its edit. */
export interface Edited {
  readonly kind: string;
  readonly tree: Node;
}

/** Applies a random edit that changes the tree. */
export function drawEdit(tree: Node, maker: Maker): Edited {
  const kinds = Object.keys(editKinds);
  for (;;) {
    const kind = maker.draw.pick(kinds);
    const edited = editKinds[kind]?.change(tree, maker);
    if (edited === undefined || (kind !== 'nothing' && isDeepStrictEqual(edited, tree))) continue;
    return { kind, tree: edited };
  }
}
