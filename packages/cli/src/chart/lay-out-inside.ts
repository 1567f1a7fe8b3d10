import { Graph, layout, type EdgeLabel, type GraphLabel, type NodeLabel } from '@dagrejs/dagre';
import type { Box, Point, Size } from './boxes.ts';

/** Arrow between two nodes of one level, by ID. */
export type LevelEdge = Readonly<Record<'ends', readonly [from: string, to: string]>>;

/** Box around one level, with the places of its nodes and edges. */
export interface Level extends Box {
  /** Box of each node, by ID. */
  readonly boxes: ReadonlyMap<string, Box>;
  /** Points of each edge, in the order of the edges. */
  readonly routes: readonly (readonly Point[])[];
}

/** Lays out the nodes of one level from top to bottom. */
export function layOutInside(nodes: ReadonlyMap<string, Size>, edges: readonly LevelEdge[]): Level {
  const graph = new Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 30, edgesep: 18, ranksep: 26 });
  for (const [id, { width, height }] of nodes) graph.setNode(id, { width, height });
  for (const [index, { ends }] of edges.entries()) graph.setEdge(...ends, {}, String(index));
  layout(graph);
  const boxes = new Map<string, Box>();
  for (const [id, { width, height }] of nodes) {
    const { x = 0, y = 0 } = graph.node(id);
    boxes.set(id, { x: x - width / 2, y: y - height / 2, width, height });
  }
  const routes = edges.map(({ ends }, index) => graph.edge(...ends, String(index)).points ?? []);
  const all = [
    ...boxes.values(),
    ...routes.flat().map(({ x, y }) => ({ x, y, width: 0, height: 0 })),
  ];
  const x = Math.min(...all.map((box) => box.x));
  const y = Math.min(...all.map((box) => box.y));
  const width = Math.max(...all.map((box) => box.x + box.width)) - x;
  const height = Math.max(...all.map((box) => box.y + box.height)) - y;
  return { x, y, width, height, boxes, routes };
}
