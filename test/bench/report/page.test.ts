import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FigureId } from '../figures.ts';
import type { Recorded } from './results.ts';
import { fillPage, partNames, plotsOf } from './page.ts';
import { readResults } from './results.ts';
import { pageFiles, plotsFolder } from './write-pages.ts';

test.each(pageFiles)('the page %s shows the recorded results', (file) => {
  const page = readFileSync(file, 'utf8');
  expect(page).toContain('<!-- generated: ');
  expect(fillPage(page, readResults())).toBe(page);
});

test('the log of measurements has all tables', () => {
  const log = readFileSync(pageFiles.at(-1) ?? '', 'utf8');
  for (const name of partNames) expect(log).toContain(`<!-- generated: ${name} -->`);
});

test('the plots of the performance pages show the recorded results', () => {
  for (const [name, svg] of Object.entries(plotsOf(readResults())))
    expect(readFileSync(join(plotsFolder, name), 'utf8')).toBe(svg);
});

const page = ['figures', 'capacity', 'users', 'guards', 'outside', 'suspended']
  .map((name) => `<!-- generated: ${name} -->\n<!-- /generated -->`)
  .join('\n');

function recordedOf(...values: readonly number[]): Recorded {
  const figure = 'load-by-hand-100';
  const runs = values.map(
    (ours) => ({ figure, ours, peers: [{ name: 'by <hand>', value: 1000 }] }) as const,
  );
  return { node: 'v20.1.0', results: [{ figure, runs }] };
}

test.each([
  [[500, 510, 520], '0.5 to 0.52x reached'],
  [[500, 510, 700], '0.5 to 0.7x **missed**'],
])('a figure is reached only if each run reaches it: %j', (values, cell) => {
  expect(fillPage(page, [recordedOf(...values)])).toContain(`100 at once | ≤ 0.6x | ${cell} |`);
});

test('the page shows the cores for 1,000 requests a second, and each figure that was not measured', () => {
  const filled = fillPage(page, [recordedOf(500, 510, 520)]);
  expect(filled).toContain('| v20.1.0 | 510 µs | 0.51 |');
  expect(filled).toContain('| not measured |');
});

test('the page shows the requests a second of each guard', () => {
  const figure = 'guards-redis';
  const runs = [
    { figure, ours: 300, wall: 500, peers: [{ name: 'no guard', value: 200 }] } as const,
  ];
  const filled = fillPage(page, [{ node: 'v20.1.0', results: [{ figure, runs }] }]);
  expect(filled).toContain('| v20.1.0 | redis | 300 µs | 200 µs | 2,000 |');
});

test('the page shows the time from an answer to its effect with each store', () => {
  const figure = 'outside-d1';
  const runs = [{ figure, ours: 30, peers: [{ name: 'bare round trips', value: 20 }] } as const];
  const filled = fillPage(page, [{ node: 'v20.1.0', results: [{ figure, runs }] }]);
  expect(filled).toContain('| v20.1.0 | d1 | 30 ms | 20 ms |');
});

test('the page shows the processor time and the waits of many users, beside both peers', () => {
  const resultOf = (figure: FigureId, ours: number) => {
    const peers = [ours * 2, ours * 3].map((value) => ({ name: 'peer', value }));
    return { figure, runs: [{ figure, ours, peers }] };
  };
  const results = [resultOf('load-shape-2025', 100), resultOf('load-shape-2025-p99', 20)];
  expect(fillPage(page, [{ node: 'v20.1.0', results }])).toContain(
    '| v20.1.0 | MCP 2025-11-25, without a session | 100 · 200 · 300 µs | 20 · 40 · 60 ms |',
  );
});

test('the page shows what a database keeps of a suspended saga, and what it costs', () => {
  const resultOf = (figure: FigureId, ours: number, value: number) => ({
    figure,
    runs: [{ figure, ours, peers: [{ name: 'peer', value }] }],
  });
  const results = [
    resultOf('suspended-redis', 2000, 1000),
    resultOf('suspended-expiry-redis', 5, 50),
    resultOf('guarded-database-redis', 70, 0),
  ];
  expect(fillPage(page, [{ node: 'v20.1.0', results }])).toContain(
    '| v20.1.0 | redis | 1,000 bytes | 2,000 bytes | 50 µs | 5 µs | 70 µs |',
  );
});

test('the page names each day and machine of its figures', () => {
  const [recorded] = [recordedOf(500)];
  const [result] = recorded.results;
  const results = [
    result,
    { ...result, measured: '2026-01-02, on 2 cores of X' },
  ] as Recorded['results'];
  expect(fillPage(page, [{ ...recorded, results }])).toContain(
    '- v20.1.0: 2026-01-02, on 2 cores of X; a day that was not recorded',
  );
});

test('a plot names its peers, escaped', () => {
  const { 'requests.svg': svg } = plotsOf([recordedOf(500)]);
  expect(svg).toContain('by &lt;hand>');
  expect(svg).toContain('class="ours"');
});
