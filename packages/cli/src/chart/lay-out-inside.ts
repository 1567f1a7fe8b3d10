import { Graph, layout, type EdgeLabel, type GraphLabel, type NodeLabel } from '@dagrejs/dagre';
import type { Box, Point } from './boxes.ts';

/** Node of one level: a state, the label of a transition, or the mark of the first state. */
export interface LevelNode {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

/** Arrow between two nodes of one level, by ID. */
export interface LevelEdge {
  readonly ends: readonly [from: string, to: string];
}

/** Nodes and edges of one level, from the top left corner of the level. */
export interface Level {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
  /** Points of each edge, in the order of the edges. */
  readonly routes: readonly (readonly Point[])[];
}

/** Lays out the nodes of one level from top to bottom. */
export function layOutInside(nodes: readonly LevelNode[], edges: readonly LevelEdge[]): Level {
  const graph = new Graph<GraphLabel, NodeLabel, EdgeLabel>({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 30, edgesep: 18, ranksep: 26 });
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const [index, { ends }] of edges.entries()) graph.setEdge(...ends, {}, String(index));
  layout(graph);
  const boxes = new Map(
    nodes.map(({ id, width, height }): [string, Box] => {
      const { x = 0, y = 0 } = graph.node(id) ?? {};
      return [id, { x: x - width / 2, y: y - height / 2, width, height }];
    }),
  );
  const routes = edges.map(({ ends }, index): readonly Point[] => {
    const { points = [] } = graph.edge(...ends, String(index)) as { readonly points?: readonly Point[] };
    return points.map(({ x, y }) => ({ x, y }));
  });
  return fitted(boxes, routes);
}

/** Moves the content of a level to the top left corner. */
function fitted(boxes: ReadonlyMap<string, Box>, routes: Level['routes']): Level {
  const all = [...boxes.values(), ...routes.flat().map(({ x, y }) => ({ x, y, width: 0, height: 0 }))];
  const left = Math.min(...all.map(({ x }) => x));
  const top = Math.min(...all.map(({ y }) => y));
  const moved = <T extends Point>(one: T): T => ({ ...one, x: one.x - left, y: one.y - top });
  return {
    width: Math.max(...all.map(({ x, width }) => x + width)) - left,
    height: Math.max(...all.map(({ y, height }) => y + height)) - top,
    boxes: new Map([...boxes].map(([id, box]) => [id, moved(box)])),
    routes: routes.map((points) => points.map(moved)),
  };
}
