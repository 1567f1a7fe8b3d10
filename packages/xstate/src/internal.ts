/** Reads machines for drawings. Internal: for the command line and the studio. */
export { readChart, type Chart, type ChartState, type ChartTransition } from './draw/read-chart.ts';
export { isMachine } from './adapter/logic-kind.ts';
export { logicOf, nodesOf, rootOf } from './adapter/xstate-nodes.ts';
export { activeIds, lastScheduled } from './adapter/xstate-actors.ts';
