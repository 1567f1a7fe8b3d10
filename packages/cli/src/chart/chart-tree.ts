import type { Chart, ChartState, ChartTransition } from '@mcp-saga/xstate/internal';

/** Chart with the path of each state, and the state inside which each transition is drawn. */
export class ChartTree {
  readonly chart: Chart;
  readonly #paths = new Map<string, readonly string[]>();

  constructor(chart: Chart) {
    this.chart = chart;
    this.#add(chart.root, []);
  }

  /** Returns the IDs of the states around a state, from the root, and the ID of the state. */
  pathOf(id: string): readonly string[] {
    return this.#paths.get(id) ?? [];
  }

  /** Returns the ID of the state inside which a transition is drawn. */
  containerOf({ source, targets }: ChartTransition): string {
    const path = this.pathOf(source);
    // A transition to an ancestor leaves the ancestor.
    const around = targets.map((id) => this.pathOf(id).slice(0, -1));
    return path.findLast((id) => around.every((ids) => ids.includes(id))) ?? this.chart.root.id;
  }

  #add(state: ChartState, around: readonly string[]): void {
    const path = [...around, state.id];
    this.#paths.set(state.id, path);
    for (const inner of state.states) this.#add(inner, path);
  }
}
