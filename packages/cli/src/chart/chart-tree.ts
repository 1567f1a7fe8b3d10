import type { Chart, ChartState, ChartTransition } from '@mcp-saga/xstate/internal';

/** States of a chart by ID, with their parents, and the state inside which each transition is drawn. */
export class ChartTree {
  readonly chart: Chart;
  readonly #parents = new Map<string, string>();

  constructor(chart: Chart) {
    this.chart = chart;
    this.#add(chart.root);
  }

  /** Returns the parent's ID; undefined for the root. */
  parentOf(id: string): string | undefined {
    return this.#parents.get(id);
  }

  /** Finds the child of a container on the path to an inner state. Undefined outside the container. */
  childToward(container: string, inner: string): string | undefined {
    const path = this.#pathTo(inner);
    const at = path.indexOf(container);
    return at === -1 ? undefined : path[at + 1];
  }

  /** Returns the ID of the state inside which a transition with targets is drawn. */
  containerOf({ source, targets }: ChartTransition): string {
    const paths = [source, ...targets].map((id) => this.#pathTo(id));
    const [first = []] = paths;
    const shared = first.findLast((id) => paths.every((path) => path.includes(id))) ?? this.chart.root.id;
    // A transition to an ancestor leaves the ancestor.
    return targets.includes(shared) ? (this.parentOf(shared) ?? shared) : shared;
  }

  #pathTo(id: string): readonly string[] {
    const parent = this.parentOf(id);
    return parent === undefined ? [id] : [...this.#pathTo(parent), id];
  }

  #add(state: ChartState): void {
    for (const inner of state.states) {
      this.#parents.set(inner.id, state.id);
      this.#add(inner);
    }
  }
}
