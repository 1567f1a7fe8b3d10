import {
  assign,
  cancel,
  fromPromise,
  fromTransition,
  raise,
  sendParent,
  sendTo,
  setup,
  type AnyActorLogic,
  type AnyStateMachine,
} from 'xstate';
import { elicit, listRoots, sample, step, stepError } from '@mcp-saga/xstate';
import { z } from 'zod';
import type { Tape } from './tape.ts';
import type { WalkWorld } from './walk-world.ts';

const leafInvokes = [
  'ask',
  'ask',
  'outcome',
  'sample',
  'ask',
  'outcome',
  'sample',
  'roots',
  'works',
  'fails',
  'effect',
  'undoable',
  'broken',
  'counter',
] as const;

const asks: ReadonlySet<string> = new Set(['ask', 'outcome', 'sample', 'roots']);

interface ChartNode {
  readonly id: string;
  readonly key: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly deep: boolean;
  readonly nodes: readonly ChartNode[];
  readonly above: readonly string[];
  readonly invokes: readonly string[];
}

/** A statechart as data: machines are made of it again and again. */
export interface Chart {
  readonly config: (world: WalkWorld, sources: Record<string, unknown>) => object;
  readonly children: Readonly<Record<string, Chart>>;
}

/** Delays have fractions, and stand on both sides of the grace for answers. */
function seconds(count: number): number {
  return (count * 1_000) / 3;
}

/** What charts are drawn of. */
interface ChartParts {
  /** What a state may invoke beside other machines: a question by one of four names, or an effect. */
  readonly leaves?: readonly string[];
  /** `true`: the machine ends or is stuck after some transitions, whatever the client answers. */
  readonly isBounded?: boolean;
}

/** Draws a chart. */
export function drawChart(
  tape: Tape,
  level: number = 0,
  name: string = 'm',
  parts: ChartParts = {},
): Chart {
  const { leaves = leafInvokes, isBounded = false } = parts;
  const children: Record<string, Chart> = {};
  if (level < 3) {
    const count = level === 0 ? tape.pick(3) : tape.pick(2);
    for (let at = 0; at < count; at += 1) {
      children[`child${at}`] = drawChart(tape, level + 1, `${name}c${at}`, parts);
    }
  }
  const drawn = tape.pick(12);
  const fuel = isBounded ? 3 + (drawn % 5) : 4 + drawn;
  let serial = 0;
  const drawNode = (above: readonly string[], depth: number): ChartNode => {
    serial += 1;
    const id = `${name}_${serial}`;
    const type =
      depth >= 3 ? 'atomic' : tape.of(['atomic', 'atomic', 'compound', 'parallel'] as const);
    const below = [...above, id];
    const nodes: ChartNode[] = [];
    if (type !== 'atomic') {
      const count = 1 + tape.pick(depth === 0 ? 3 : 2);
      for (let at = 0; at < count; at += 1) nodes.push(drawNode(below, depth + 1));
      if (type === 'compound' && tape.once(2)) nodes.push(special(below, 'final'));
      if (tape.once(4)) nodes.push(special(below, 'history'));
    }
    const invokes: string[] = [];
    const count = type === 'atomic' ? tape.of([1, 1, 1, 1, 2, 1, 0]) : tape.of([0, 0, 1]);
    for (let at = 0; at < count; at += 1) {
      const machines = Object.keys(children);
      invokes.push(machines.length > 0 && tape.once(3) ? tape.of(machines) : tape.of(leaves));
    }
    return { id, key: id, type, deep: false, nodes, above, invokes };
  };
  const special = (above: readonly string[], type: 'final' | 'history'): ChartNode => {
    serial += 1;
    const id = `${name}_${serial}`;
    return { id, key: id, type, deep: tape.once(2), nodes: [], above, invokes: [] };
  };
  const top: ChartNode[] = [];
  const isParallel = tape.once(6);
  const tops = 2 + tape.pick(3);
  for (let at = 0; at < tops; at += 1) top.push(drawNode([], 0));
  if (!isParallel) top.push(special([], 'final'));
  const all = top.flatMap(flatten);
  const decorate = (
    node: ChartNode,
  ): ((world: WalkWorld, sources: Record<string, unknown>) => object) => {
    const target = (): { readonly target?: string; readonly reenter?: boolean } => {
      // A history target from inside its own parent leaves orphans in XState itself.
      const to = all.filter(
        (other) =>
          other.type !== 'history' ||
          !node.above.concat(node.id).includes(other.above.at(-1) ?? ''),
      );
      if (tape.once(12)) return {};
      return { target: `#${tape.of(to).id}`, ...(tape.once(5) ? { reenter: true } : {}) };
    };
    const inner = node.nodes.map((below) => [below.key, decorate(below)] as const);
    const initial = node.nodes.find(({ type }) => type !== 'final' && type !== 'history')?.key;
    const invokes = node.invokes.map((src, at) => {
      const done = target();
      const failed = tape.once(12) ? undefined : target();
      return {
        src,
        id: tape.once(4) ? undefined : `${node.id}i${at}`,
        done,
        failed,
        snapshots: src.startsWith('child') && tape.once(2),
        systemId:
          src.startsWith('child') && level === 0 && tape.once(3)
            ? `sys_${node.id}_${at}`
            : undefined,
      };
    });
    const after = tape.once(3)
      ? { delay: seconds(10 + 10 * tape.pick(4)), to: target() }
      : undefined;
    const always = tape.once(10) ? target() : undefined;
    const ping = tape.once(4) ? target() : undefined;
    const later = tape.once(5)
      ? {
          delay: seconds(5 + 10 * tape.pick(4)),
          // States may schedule under one ID, and cancel what another one has scheduled.
          name: tape.of([undefined, `later_${node.id}`, 'later']),
          cancels: tape.once(2),
        }
      : undefined;
    const spawns =
      Object.keys(children).length > 0 && tape.once(6) ? tape.of(Object.keys(children)) : undefined;
    const tellsParent = level > 0 && tape.once(3);
    const tellsChild = invokes.find(
      ({ src, id }) => src.startsWith('child') && id !== undefined && tape.once(2),
    );
    const tagged = node.type === 'final' && tape.once(3);
    const raised = tape.once(12);
    const onDone = node.type === 'compound' || node.type === 'parallel' ? target() : undefined;
    return (world, sources) => {
      if (node.type === 'history')
        return { id: node.id, type: 'history', history: node.deep ? 'deep' : 'shallow' };
      const note =
        (what: string) =>
        ({ context, event }: Noted): void => {
          world.trace.push(`${what} ${node.id} ${context.n} ${textOf(event)}`);
        };
      const count = assign({ n: ({ context }: Noted) => context.n + 1 });
      const burn = assign({ fuel: ({ context }: Noted) => context.fuel - 1 });
      const fueled = ({ context }: Noted): boolean => context.fuel > 0;
      // An answer adds fuel: only transitions without a client must end.
      const isFree = (src: string): boolean => asks.has(src) && !isBounded;
      const refuel = assign({ fuel });
      const move = (what: string, to: object, needsFuel: boolean): object => ({
        ...to,
        ...(needsFuel ? { guard: fueled } : {}),
        actions: [note(what), count, needsFuel ? burn : refuel],
      });
      const idle = (what: string): object => ({ actions: [note(`idle ${what}`)] });
      const entry: unknown[] = [note('enter')];
      if (spawns !== undefined) {
        entry.push(
          assign(
            ({ context, spawn }: Noted & { spawn: (src: string, options: object) => unknown }) => {
              if (context.fuel <= 0) return {};
              const id = `${node.id}s${context.n}f${context.fuel}`;
              return { ref: spawn(spawns, { id }), fuel: context.fuel - 1 };
            },
          ),
        );
      }
      if (tellsParent) entry.push(sendParent({ type: 'PING', from: node.id } as never));
      if (later !== undefined) {
        entry.push(
          raise({ type: 'PING', from: `later ${node.id}` } as never, {
            delay: later.delay,
            ...(later.name === undefined ? {} : { id: later.name }),
          }),
        );
      }
      if (raised) entry.push(raise({ type: 'PING', from: `now ${node.id}` } as never));
      if (tellsChild?.id !== undefined) {
        entry.push(
          sendTo(tellsChild.id, { type: 'PING', from: `up ${node.id}` }, { delay: seconds(15) }),
        );
      }
      const exit: unknown[] = [note('exit')];
      if (later?.name !== undefined && later.cancels) exit.push(cancel(later.name));
      return {
        id: node.id,
        entry,
        exit,
        ...(node.type === 'final'
          ? { type: 'final', ...(tagged ? { tags: ['compensate'] } : {}) }
          : {}),
        ...(node.type === 'parallel' ? { type: 'parallel' } : {}),
        ...(node.type === 'compound' ? { initial } : {}),
        ...(inner.length === 0
          ? {}
          : {
              states: Object.fromEntries(inner.map(([key, make]) => [key, make(world, sources)])),
            }),
        ...(onDone === undefined ? {} : { onDone: [move('done', onDone, true), idle('done')] }),
        ...(invokes.length === 0
          ? {}
          : {
              invoke: invokes.map(({ src, id, done, failed, snapshots, systemId }) => ({
                src,
                ...(id === undefined ? {} : { id }),
                ...(systemId === undefined ? {} : { systemId }),
                input: ({ context }: Noted) => ({ name: node.id, n: context.n }),
                onDone: isFree(src)
                  ? move('did', done, false)
                  : [move('did', done, true), idle('did')],
                ...(failed === undefined
                  ? {}
                  : {
                      onError: isFree(src)
                        ? move('failed', failed, false)
                        : [move('failed', failed, true), idle('failed')],
                    }),
                ...(snapshots ? { onSnapshot: { actions: [note('snap'), count] } } : {}),
              })),
            }),
        ...(after === undefined
          ? {}
          : { after: { [after.delay]: [move('after', after.to, true), idle('after')] } }),
        ...(always === undefined ? {} : { always: [move('always', always, true)] }),
        ...(ping === undefined ? {} : { on: { PING: [move('ping', ping, true), idle('ping')] } }),
      };
    };
  };
  const states = top.map((node) => [node.key, decorate(node)] as const);
  return {
    children,
    config: (world, sources) => ({
      id: name,
      ...(isParallel ? { type: 'parallel' } : { initial: top[0]?.key }),
      context: { fuel, n: 0 },
      states: Object.fromEntries(states.map(([key, make]) => [key, make(world, sources)])),
      output: ({ context }: Noted) => `${name} ${context.n}`,
    }),
  };
}

interface Noted {
  readonly context: { readonly n: number; readonly fuel: number };
  readonly event: { readonly type: string };
}

/** The input of an invoke: the name of its state, and the number of its transition. */
export interface Given {
  readonly name: string;
  readonly n: number;
}

interface Acting {
  readonly input: Given;
  readonly signal: AbortSignal;
}

/** Makes a machine of a chart, anew, with its configuration edited, and with more effects. */
export function makeMachine(
  chart: Chart,
  world: WalkWorld,
  edit: (config: object, machine: string) => object = (config) => config,
  path: string = 'm',
  more: Readonly<Record<string, AnyActorLogic>> = {},
): AnyStateMachine {
  const label = (what: string, { name, n }: Given): string => `${what} ${name} ${n}`;
  const act =
    (what: string, fails: boolean) =>
    async ({ input, signal }: Acting) => {
      const text = label(what, input);
      // An effect whose state was left is awaited; a plain promise is not.
      await world.gate(text, what === 'works' || what === 'fails' ? signal : undefined);
      world.effects.push(text);
      if (fails) throw new Error(text);
      return { text };
    };
  const answer = z.object({ answer: z.number() });
  const message = ({ input }: { input: Given }): string => label('ask', input);
  const actors: Record<string, AnyActorLogic> = {
    ask: elicit({ message, schema: answer }),
    outcome: elicit.outcome({ message, schema: answer }),
    sample: sample({
      messages: ({ input }: { input: Given }) => [
        { role: 'user', content: { type: 'text', text: label('sample', input) } },
      ],
      maxTokens: 10,
      parse: ({ model }) => {
        if (model === 'bad') throw new Error('cannot be read');
        return model;
      },
    }),
    roots: listRoots(),
    works: fromPromise(act('works', false) as never),
    fails: fromPromise(act('fails', true) as never),
    effect: step(act('effect', false)),
    undoable: step(act('undoable', false), {
      compensate: ({ result }) => void world.effects.push(`undo ${result.text}`),
    }),
    broken: step(act('broken', true)),
    counter: fromTransition((count: number) => count + 1, 0),
    ...more,
  };
  for (const [src, child] of Object.entries(chart.children)) {
    actors[src] = makeMachine(child, world, edit, `${path}/${src}`, more);
  }
  const config = edit(chart.config(world, actors), path);
  return setup({ actors }).createMachine(config as never) as unknown as AnyStateMachine;
}

function textOf(event: { readonly type: string }): string {
  const { output, from } = event as { readonly output?: unknown; readonly from?: string };
  const failure = stepError(event)?.reason;
  const snapshot = (event as { readonly snapshot?: { readonly value?: unknown } }).snapshot?.value;
  return JSON.stringify([
    event.type,
    output,
    from,
    failure === 'failed' ? undefined : failure,
    snapshot,
  ]);
}

function flatten(node: ChartNode): readonly ChartNode[] {
  return [node, ...node.nodes.flatMap(flatten)];
}
