import { lineForPeople } from '@mcp-saga/core/shared';
import type { Chart } from '@mcp-saga/xstate/internal';
import type { Point } from './boxes.ts';
import { chartStyle } from './chart-style.ts';
import { activityIndent, margin, nameLine, textLine, type Head, type LabelBox } from './head.ts';
import type { ChartLayout, PlacedLine, PlacedState } from './lay-out-chart.ts';
import { svg, type SvgElement } from './svg-element.ts';

/** What is live in a drawing. */
export interface DrawChartOptions {
  /** IDs of active states. */
  readonly active?: ReadonlySet<string>;
  /** Transitions that can be clicked, by number, with the label of the button. */
  readonly buttons?: ReadonlyMap<number, { readonly label: string }>;
}

/** Draws a chart, with its colors for light and dark inside. */
export function drawChart(layout: ChartLayout, options: DrawChartOptions = {}): SvgElement {
  const { chart, states, lines, labels, starts } = layout;
  const { active = new Set(), buttons } = options;
  const size = { width: round(layout.width), height: round(layout.height) };
  const draw = (placed: PlacedState): SvgElement => drawState(layout, placed, active);
  const isLit = ({ transition = -1 }: PlacedLine) =>
    active.has(chart.transitions[transition]?.source ?? '');
  const title = `Statechart of ${lineForPeople(chart.root.name)}`;
  // The buttons inside an image would not reach assistive technology.
  const role = buttons === undefined ? 'img' : 'group';
  const viewBox = `0 0 ${size.width} ${size.height}`;
  return svg(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox,
      ...size,
      class: 'statechart',
      role,
      'aria-label': title,
    },
    [
      svg('title', {}, [title]),
      svg('desc', {}, [describe(layout)]),
      svg('style', {}, [chartStyle]),
      svg('rect', { class: 'back', ...size }),
      ...states.filter(isGroup).map(draw),
      ...starts.map(({ x, y }) =>
        svg('circle', { class: 'start', cx: round(x), cy: round(y), r: 5 }),
      ),
      ...lines.flatMap((line) => drawLine(line, isLit(line))),
      // A line into a group passes behind the states there.
      ...states.filter((placed) => !isGroup(placed)).map(draw),
      ...labels.map((label) => drawLabel(label, chart, buttons?.get(label.transition)?.label)),
    ],
  );
}

function describe({ chart, states }: ChartLayout): string {
  const names = states.slice(1).map(({ state }) => lineForPeople(state.name));
  const listed = names.length === 0 ? 'no inner states' : `the states ${names.join(', ')}`;
  return `${listed[0]?.toUpperCase() ?? ''}${listed.slice(1)}. Transitions: ${chart.transitions.length}.`;
}

function isGroup({ state }: PlacedState): boolean {
  return state.states.length > 0;
}

function drawState(
  { states }: ChartLayout,
  placed: PlacedState,
  active: ReadonlySet<string>,
): SvgElement {
  const { state, parent, head, width, height } = placed;
  const isRegion = states.some(
    (each) => each.state.id === parent && each.state.type === 'parallel',
  );
  const kinds = [
    isGroup(placed) && 'group',
    isRegion && 'region',
    active.has(state.id) && 'active',
  ];
  const names = ['state', state.type, ...kinds].filter(Boolean).join(' ');
  const children: SvgElement[] = [];
  if (head === undefined) {
    const [cx, cy] = [round(width / 2), round(height / 2)];
    const middle = { class: 'name', x: cx, y: cy + 5, 'text-anchor': 'middle' };
    children.push(svg('circle', { cx, cy, r: round(width / 2 - 1) }));
    children.push(svg('text', middle, [state.isDeep ? 'H*' : 'H']));
  } else {
    const frame = { width: round(width), height: round(height), rx: 8 };
    const inner = {
      x: 4,
      y: 4,
      width: round(width - 8),
      height: round(height - 8),
      rx: 5,
      class: 'inner',
    };
    const rule = {
      class: 'rule',
      x1: 0,
      y1: round(head.height),
      x2: frame.width,
      y2: round(head.height),
    };
    children.push(
      svg('rect', frame),
      ...(state.type === 'final' ? [svg('rect', inner)] : []),
      ...(isGroup(placed) ? [svg('line', rule)] : []),
      ...drawHead(state.id, head),
    );
  }
  const shown = { class: names, 'data-state': state.id, transform: at(placed) };
  return svg('g', shown, children, state.id);
}

function drawHead(id: string, { name, activities }: Head): readonly SvgElement[] {
  const drawn = name.map((line, index) =>
    svg('text', { class: 'name', x: margin, y: margin + 12 + index * nameLine }, [line]),
  );
  let y = margin + 9 + name.length * nameLine;
  for (const [index, lines] of activities.entries()) {
    drawn.push(
      svg('path', { class: 'mark', d: `M${margin + 1} ${y - 9}l6 4l-6 4z` }, [], `${id} ${index}`),
    );
    for (const line of lines) {
      drawn.push(svg('text', { class: 'activity', x: margin + activityIndent, y }, [line]));
      y += textLine;
    }
  }
  return drawn;
}

function drawLabel(
  label: LabelBox,
  { transitions }: Chart,
  button: string | undefined,
): SvgElement {
  const { transition, width, height, lines } = label;
  const isQuiet = transitions[transition]?.kind !== 'event';
  const names = ['label', isQuiet && 'quiet', button !== undefined && 'button'];
  const attributes = {
    class: names.filter(Boolean).join(' '),
    'data-transition': transition,
    transform: at(label),
    ...(button !== undefined && {
      role: 'button',
      tabindex: 0,
      'aria-label': lineForPeople(button),
    }),
  };
  const frame = { width: round(width), height: round(height), rx: Math.min(12, round(height / 2)) };
  const texts = lines.map((line, index) =>
    svg('text', { x: round(width / 2), y: 19 + index * textLine }, [line]),
  );
  return svg('g', attributes, [svg('rect', frame), ...texts], `label ${transition}`);
}

function drawLine({ points, hasArrow }: PlacedLine, isLit: boolean): readonly SvgElement[] {
  const [before, last] = points.slice(-2);
  if (before === undefined || last === undefined) return [];
  const lit = isLit ? ' active' : '';
  const end = hasArrow ? towards(last, before, 6) : last;
  const line = svg('path', { class: `line${lit}`, d: smooth([...points.slice(0, -1), end]) });
  return hasArrow ? [line, svg('path', { class: `tip${lit}`, d: tip(last, before) })] : [line];
}

/** Rounds the corners: each inner point bends the line between the centers of two parts. */
function smooth(points: readonly Point[]): string {
  const bends = points.slice(1, -1).map((point, index) => {
    const next = points[index + 2] as Point;
    const isLast = index === points.length - 3;
    const to = isLast ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${write(point)} ${write(to)}`;
  });
  const [start, end] = points.map(write);
  return `M${start}${bends.length === 0 ? `L${end}` : bends.join('')}`;
}

function tip(end: Point, before: Point): string {
  const base = towards(end, before, 8);
  const [dx, dy] = [(end.x - base.x) / 2, (end.y - base.y) / 2];
  return `M${write(end)}L${write({ x: base.x - dy, y: base.y + dx })}L${write({ x: base.x + dy, y: base.y - dx })}z`;
}

/** Moves a point by a distance. */
function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const share = length === 0 ? 0 : distance / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

const at = ({ x, y }: Point): string => `translate(${round(x)} ${round(y)})`;
const write = ({ x, y }: Point): string => `${round(x)} ${round(y)}`;
const round = (value: number): number => Math.round(value * 10) / 10;
