/** Layout and drawing of statecharts. Internal: for the studio. */
export { layOutChart, type ChartLayout } from './chart/lay-out-chart.ts';
export { drawChart, type DrawChartOptions } from './chart/draw-chart.ts';
export { toSvgText, type SvgElement } from './chart/svg-element.ts';
