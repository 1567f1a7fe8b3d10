/** Internal: for the studio. */
export { layOutChart, type ChartLayout } from './chart/lay-out-chart.ts';
export { drawChart, type DrawChartOptions } from './chart/draw-chart.ts';
export { toSvgText, type SvgElement } from './chart/svg-element.ts';
export { clientSnippets, type ClientSnippet, type SnippetFacts } from './studio/client-snippets.ts';
export { isScript } from './input/module-exports.ts';
export { loadSagas, type LoadedSagas } from './input/load-sagas.ts';
