import type { ChartTransition } from '@mcp-saga/xstate/internal';
import type { Point } from './boxes.ts';
import { chartStyle } from './chart-style.ts';
import { activityIndent, margin, nameLine, textLine, type LabelBox } from './head.ts';
import type { ChartLayout, PlacedState } from './lay-out-chart.ts';
import type { PlacedLine } from './measure-chart.ts';
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
  const { chart, width, height } = layout;
  const { active = new Set(), buttons } = options;
  const [w, h] = [round(width), round(height)];
  const isLit = ({ transition }: { readonly transition: number | undefined }): boolean =>
    transition !== undefined && active.has(chart.transitions[transition]?.source ?? '');
  const groups = layout.states.filter(({ state }) => state.states.length > 0);
  const leaves = layout.states.filter(({ state }) => state.states.length === 0);
  const title = `Statechart of ${chart.root.name}`;
  return svg(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${w} ${h}`,
      width: w,
      height: h,
      class: 'statechart',
      // The buttons inside an image would not reach assistive technology.
      role: buttons === undefined ? 'img' : 'group',
      'aria-label': title,
    },
    [
      svg('title', {}, [title]),
      svg('desc', {}, [describe(layout)]),
      svg('style', {}, [chartStyle]),
      svg('rect', { class: 'back', width: w, height: h }),
      ...groups.map((state) => drawState(layout, state, active)),
      ...layout.starts.map(({ x, y }) => svg('circle', { class: 'start', cx: round(x), cy: round(y), r: 5 })),
      ...layout.lines.flatMap((line) => drawLine(line, isLit(line))),
      // A line into a group passes behind the states there.
      ...leaves.map((state) => drawState(layout, state, active)),
      ...layout.labels.map((label) =>
        drawLabel(
          label,
          chart.transitions[label.transition] as ChartTransition,
          buttons?.get(label.transition)?.label,
        ),
      ),
    ],
  );
}

function describe({ chart, states }: ChartLayout): string {
  const names = states.slice(1).map(({ state }) => state.name);
  const listed = names.length === 0 ? 'no inner states' : `the states ${names.join(', ')}`;
  return `${listed[0]?.toUpperCase() ?? ''}${listed.slice(1)}. Transitions: ${chart.transitions.length}.`;
}

function drawState(layout: ChartLayout, placed: PlacedState, active: ReadonlySet<string>): SvgElement {
  const { state, parent, head, x, y, width, height } = placed;
  const isGroup = state.states.length > 0;
  const isRegion = layout.states.some((each) => each.state.id === parent && each.state.type === 'parallel');
  const names = ['state', state.type, isGroup ? 'group' : '', isRegion ? 'region' : ''];
  const classes = [...names, active.has(state.id) ? 'active' : ''].filter((name) => name !== '').join(' ');
  const attributes = { class: classes, 'data-state': state.id, transform: at({ x, y }) };
  if (head === undefined) {
    const [cx, cy] = [round(width / 2), round(height / 2)];
    const circle = svg('circle', { cx, cy, r: round(width / 2 - 1) });
    const text = svg('text', { class: 'name', x: cx, y: cy + 5, 'text-anchor': 'middle' }, [
      state.isDeep ? 'H*' : 'H',
    ]);
    return svg('g', attributes, [circle, text], state.id);
  }
  const frame = { width: round(width), height: round(height), rx: 8 };
  const inner = { x: 4, y: 4, width: round(width - 8), height: round(height - 8), rx: 5, class: 'inner' };
  const ruleY = round(head.height);
  return svg(
    'g',
    attributes,
    [
      svg('rect', frame),
      ...(state.type === 'final' ? [svg('rect', inner)] : []),
      ...(isGroup ? [svg('line', { class: 'rule', x1: 0, y1: ruleY, x2: frame.width, y2: ruleY })] : []),
      ...drawHead(placed, head),
    ],
    state.id,
  );
}

function drawHead({ state }: PlacedState, head: NonNullable<PlacedState['head']>): readonly SvgElement[] {
  let y = margin + 11;
  const drawn = head.name.map((line, index) =>
    svg('text', { class: 'name', x: margin, y: y + index * nameLine }, [line]),
  );
  y = margin - 4 + head.name.length * nameLine + 12;
  for (const [index, lines] of head.activities.entries()) {
    const mark = `M${margin + 1} ${y - 8}l6 4l-6 4z`;
    drawn.push(svg('path', { class: 'mark', d: mark }, [], `${state.id} ${index}`));
    for (const line of lines) {
      drawn.push(svg('text', { class: 'activity', x: margin + activityIndent, y }, [line]));
      y += textLine;
    }
  }
  return drawn;
}

function drawLabel(label: LabelBox, transition: ChartTransition, button: string | undefined): SvgElement {
  const { x, y, width, height, lines } = label;
  const isQuiet = transition.kind !== 'event';
  const classes = `label${isQuiet ? ' quiet' : ''}${button === undefined ? '' : ' button'}`;
  const role: SvgElement['attributes'] =
    button === undefined ? {} : { role: 'button', tabindex: 0, 'aria-label': button };
  const texts = lines.map((line, index) =>
    svg('text', { x: round(width / 2), y: 16 + index * textLine }, [line]),
  );
  return svg(
    'g',
    { class: classes, 'data-transition': label.transition, transform: at({ x, y }), ...role },
    [
      svg('rect', { width: round(width), height: round(height), rx: Math.min(12, round(height / 2)) }),
      ...texts,
    ],
    `label ${label.transition}`,
  );
}

function drawLine({ points, hasArrow }: PlacedLine, isLit: boolean): readonly SvgElement[] {
  const last = points.at(-1);
  if (last === undefined) return [];
  const end = hasArrow ? towards(last, points.at(-2) ?? last, 6) : last;
  const lit = isLit ? ' active' : '';
  const line = svg('path', { class: `line${lit}`, d: smooth([...points.slice(0, -1), end]) });
  return hasArrow ? [line, svg('path', { class: `tip${lit}`, d: tip(last, points.at(-2) ?? last) })] : [line];
}

/** Rounds the corners: each inner point bends the line between the centers of two parts. */
function smooth(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined) return '';
  const inner = others.slice(0, -1).map((point, index) => {
    const next = others[index + 1] as Point;
    const isBeforeLast = index === others.length - 2;
    const to = isBeforeLast ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${write(point)} ${write(to)}`;
  });
  const [only] = others.length === 1 ? others : [];
  return [`M${write(first)}`, ...inner, ...(only === undefined ? [] : [`L${write(only)}`])].join('');
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
