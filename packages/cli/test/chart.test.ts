import { createMachine, type AnyStateMachine, type AnyStateNode } from 'xstate';
import { readChart } from '@mcp-saga/xstate/internal';
import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
  string,
  type Arbitrary,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawChart } from '../src/chart/draw-chart.ts';
import { layOutChart, type ChartLayout } from '../src/chart/lay-out-chart.ts';
import { toSvgText } from '../src/chart/svg-element.ts';
import { breakLines, measureText } from '../src/chart/text-lines.ts';
import { order } from './fixtures/statechart.ts';

interface Sketch {
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly children: readonly Sketch[];
  readonly transitions: readonly {
    readonly kind: 'on' | 'after' | 'always';
    readonly name: string;
    readonly target: number;
    readonly isInternal: boolean;
  }[];
}

// The name of a config cannot be one that every object has, such as `__proto__`.
const anyName = string({ minLength: 1 }).filter((name) => !(name in {}));

const transition = record({
  kind: constantFrom('on', 'after', 'always'),
  name: oneof(constantFrom('PAY', '*', 'a.very.long.event.name.that.has.no.space'), anyName),
  target: nat(60),
  isInternal: boolean(),
});

const sketchOf = (depth: number): Arbitrary<Sketch> =>
  record({
    type: constantFrom('atomic', 'compound', 'compound', 'parallel', 'final', 'history'),
    children: depth === 0 ? constant([]) : array(sketchOf(depth - 1), { maxLength: 4 }),
    transitions: array(transition, { maxLength: 3 }),
  });

/** Makes a machine of a sketch. A target is the number of a state, in the order of the machine. */
function machineOf(root: Sketch): AnyStateMachine {
  const ids = idsOf(root, 'm');
  const configOf = (at: Sketch, id: string): object => {
    const type = typeOf(at, id);
    const states = Object.fromEntries(
      childrenOf(at, id).map((child, i) => [`s${i}`, configOf(child, `${id}-${i}`)]),
    );
    const shape = type === 'compound' ? { initial: 's0' } : { type };
    return { id, ...shape, states, ...(type === 'history' ? {} : transitionsOf(at, ids)) };
  };
  return createMachine(configOf(root, 'm') as never);
}

function transitionsOf({ transitions }: Sketch, ids: readonly string[]): object {
  const always: object[] = [];
  const on: Record<string, object[]> = {};
  const after: Record<string, object[]> = {};
  for (const { kind, name, target, isInternal } of transitions) {
    const to = { target: `#${ids[target % ids.length]}`, guard: 'isReady' };
    const made = isInternal ? { actions: 'note' } : to;
    if (kind === 'always') always.push(made);
    if (kind === 'after') (after[name.length * 1000] ??= []).push(made);
    if (kind === 'on') (on[name] ??= []).push(made);
  }
  return { always, on, after };
}

function idsOf(at: Sketch, id: string): readonly string[] {
  return [id, ...childrenOf(at, id).flatMap((child, i) => idsOf(child, `${id}-${i}`))];
}

function childrenOf(at: Sketch, id: string): readonly Sketch[] {
  return ['compound', 'parallel'].includes(typeOf(at, id)) ? at.children : [];
}

function typeOf({ type, children }: Sketch, id: string): Sketch['type'] {
  if (type === 'compound' || type === 'parallel') return children.length > 0 ? type : 'atomic';
  return id === 'm' ? 'atomic' : type;
}

const nodesOf = (node: AnyStateNode): readonly AnyStateNode[] => [
  node,
  ...(Object.values(node.states) as readonly AnyStateNode[]).flatMap(nodesOf),
];

/** Lays out random machines, and checks each layout. */
function holds(check: (layout: ChartLayout, machine: AnyStateMachine) => void): void {
  assert(
    property(sketchOf(3), (drawn) => {
      const machine = machineOf(drawn);
      check(layOutChart(readChart(machine)), machine);
    }),
    { numRuns: 60 },
  );
}

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const overlap = (one: Rectangle, other: Rectangle): boolean =>
  one.x < other.x + other.width - 0.1 &&
  other.x < one.x + one.width - 0.1 &&
  one.y < other.y + other.height - 0.1 &&
  other.y < one.y + one.height - 0.1;

const contains = (outer: Rectangle, inner: Rectangle): boolean =>
  inner.x >= outer.x - 0.1 &&
  inner.y >= outer.y - 0.1 &&
  inner.x + inner.width <= outer.x + outer.width + 0.1 &&
  inner.y + inner.height <= outer.y + outer.height + 0.1;

describe('the layout of a statechart', () => {
  it('places every state once, inside its parent, below the head of the parent', () => {
    holds((layout, machine) => {
      expect(layout.states.map(({ state }) => state.id)).toEqual(
        nodesOf(machine.root).map(({ id }) => id),
      );
      for (const placed of layout.states) {
        const parent = layout.states.find(({ state }) => state.id === placed.parent) ?? layout;
        expect(contains(parent, placed)).toBe(true);
        if ('head' in parent)
          expect(placed.y).toBeGreaterThan(parent.y + (parent.head?.height ?? 0));
      }
    });
  });

  it('keeps siblings and the labels between them apart', () => {
    holds(({ states, labels }) => {
      for (const [at, one] of states.entries()) {
        for (const other of states.slice(at + 1))
          if (one.parent === other.parent) expect(overlap(one, other)).toBe(false);
      }
      for (const [at, one] of labels.entries())
        for (const other of labels.slice(at + 1)) expect(overlap(one, other)).toBe(false);
    });
  });

  it('draws each transition once, with a line to each target', () => {
    holds((layout, machine) => {
      const { chart, labels, lines } = layout;
      const count = nodesOf(machine.root).flatMap((node) =>
        node.type === 'history'
          ? []
          : [...(node.always ?? []), ...[...node.transitions.values()].flat()],
      ).length;
      expect(labels.map(({ transition: number }) => number)).toEqual([...Array(count).keys()]);
      for (const [index, { targets }] of chart.transitions.entries()) {
        const arrows = lines.filter((line) => line.transition === index && line.hasArrow);
        expect(arrows).toHaveLength(targets.length);
      }
      const text = toSvgText(drawChart(layout));
      expect(text.match(/data-transition="/g) ?? []).toHaveLength(count);
    });
  });
});

describe('the lines of a label', () => {
  it('hold every character of the text, within the width', () => {
    assert(
      property(string({ unit: 'grapheme' }), integer({ min: 20, max: 200 }), (text, width) => {
        const lines = breakLines(text, 12, width);
        // A character that nobody sees is written as its escape.
        const seen = (part: string): string =>
          part.replaceAll(/\\u([\da-f]{4})/g, (_, code: string) =>
            String.fromCharCode(Number.parseInt(code, 16)),
          );
        const letters = (part: string): string => seen(part).replaceAll(/[\s\p{Cc}]+/gu, '');
        expect(letters(lines.join(''))).toBe(letters(text));
        for (const line of lines) expect(measureText(line, 12)).toBeLessThanOrEqual(width);
      }),
      { examples: [['\u2800', 200]] },
    );
  });

  it('break a long word after punctuation', () => {
    // The rest after the punctuation would be too wide.
    expect(breakLines('i.xxxW', 12, 32)).toEqual(['i.xxx', 'W']);
    expect(breakLines('INVOICE.WRITTEN.AND.SIGNED', 12, 140)).toEqual([
      'INVOICE.WRITTEN.',
      'AND.SIGNED',
    ]);
  });
});

describe('the drawing of a statechart', () => {
  it('has states, marks, and transitions of every kind', async () => {
    const text = toSvgText(drawChart(layOutChart(readChart(order))));
    await expect(`${text}\n`).toMatchFileSnapshot('golden/order.svg');
  });

  it('lights active states and what leaves them, and has a button for each event', () => {
    const text = toSvgText(
      drawChart(layOutChart(readChart(order)), {
        active: new Set(['order', 'order.checking']),
        buttons: new Map([[1, { label: 'Send CANCEL' }]]),
      }),
    );
    expect(text.match(/class="state [^"]*active"/g)).toHaveLength(2);
    expect(text).toContain('role="group"');
    expect(text.match(/role="button"/g)).toHaveLength(1);
    expect(text).toContain('aria-label="Send CANCEL"');
  });

  it('escapes names', () => {
    const odd = createMachine({ id: '<b>"&\u{0}', on: { '</text>': { actions: 'a' } } });
    const text = toSvgText(drawChart(layOutChart(readChart(odd))));
    expect(text).toContain('&lt;b&gt;"&amp;'.replace('"', '&quot;'));
    expect(text).toContain('&lt;/text&gt;');
    expect(text).not.toContain('\u{0}');
  });
});
