import { figures, sizes, type FigureId } from '../figures.ts';
import { median } from '../harness.ts';
import { storeNames } from '../load/databases.ts';
import { isReached, valueOf, type Result } from '../table.ts';
import { drawPlot, type Bar, type BarGroup } from './plot.ts';
import type { Recorded } from './results.ts';

/**
 * Tables of the pages, by name: of requests, users, guards, answers from outside, suspended sagas,
 * and all figures.
 */
const parts: Readonly<Record<string, (recorded: readonly Recorded[]) => string>> = {
  capacity: capacityOf,
  users: usersOf,
  guards: guardsOf,
  outside: outsideOf,
  suspended: suspendedOf,
  figures: tableOf,
};

/** Names of the tables that a page can have. */
export const partNames: readonly string[] = Object.keys(parts);

/** Fills the tables that a page has. */
export function fillPage(page: string, recorded: readonly Recorded[]): string {
  return page.replaceAll(
    /(<!-- generated: (\w+) -->)[^]*?(<!-- \/generated -->)/g,
    (_, start: string, name: string, end: string) => {
      const make = parts[name];
      if (make === undefined) throw new Error(`There is no table '${name}' to generate.`);
      return `${start}\n\n${make(recorded)}\n\n${end}`;
    },
  );
}

/** The plots of the pages, by file name. Drawn from the results of the oldest Node. */
export function plotsOf([first]: readonly Recorded[]): Readonly<Record<string, string>> {
  if (first === undefined) return {};
  const { node, results } = first;
  const requests = sizes.map((size): BarGroup => {
    const hand = barsOf(results, `load-by-hand-${size}`);
    const trivial = barsOf(results, `load-trivial-${size}`).slice(1);
    return { label: `${size.toLocaleString('en')} at once`, bars: [...hand, ...trivial] };
  });
  const machines = ([8, 32, 128] as const).map((regions): BarGroup => ({
    label: `${regions} parallel regions`,
    bars: barsOf(results, `machine-regions-${regions}`),
  }));
  const tokens = (['text', 'forms', 'sampling'] as const).map((corpus): BarGroup => ({
    label: corpus,
    bars: barsOf(results, `token-bytes-${corpus}`),
  }));
  const plots = {
    'requests.svg': {
      title: 'Processor time of one HTTP request',
      unit: 'µs',
      groups: requests,
    },
    'machines.svg': {
      title: 'Processor time of a machine turn',
      unit: 'µs',
      groups: machines,
    },
    'tokens.svg': { title: 'Token size over 100 turns', unit: 'bytes', groups: tokens },
  };
  return Object.fromEntries(
    Object.entries(plots).map(([name, plot]) => [
      name,
      drawPlot({
        ...plot,
        on: `Node ${node}`,
        groups: plot.groups.filter(({ bars }) => bars.length > 0),
      }),
    ]),
  );
}

function barsOf(results: readonly Result[], figure: FigureId): readonly Bar[] {
  const result = results.find((one) => one.figure === figure);
  const [first] = result?.runs ?? [];
  if (result === undefined || first === undefined) return [];
  return [
    { label: 'mcp-saga', value: oursOf(result), isOurs: true },
    ...first.peers.map(({ name }, index) => ({ label: name, value: peerOf(result, index) })),
  ];
}

function tableOf(recorded: readonly Recorded[]): string {
  const nodes = recorded.map(({ node }) => `Node ${node.replace(/^v(\d+)\..*/, '$1')}`);
  const rows = (Object.keys(figures) as FigureId[]).map((id) => {
    const cells = recorded.map(({ results }) =>
      cellOf(results.find(({ figure }) => figure === id)),
    );
    return [figures[id].what, goalOf(id), ...cells];
  });
  const days = recorded.map(({ node, results }) => {
    const known = new Set(results.map(({ measured }) => measured ?? 'a day that was not recorded'));
    return `- ${node}: ${[...known].toSorted().join('; ')}`;
  });
  return [
    toTable(['figure', 'goal', ...nodes], rows),
    ['Days and machines of these figures:', '', ...days].join('\n'),
  ].join('\n\n');
}

/** Range over all runs, and a mark for the goal. */
function cellOf(result: Result | undefined): string {
  if (result === undefined) return 'not measured';
  const values = result.runs.map(valueOf);
  const unit = unitOf(result.figure);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)].map(shown) as [
    string,
    string,
  ];
  const range = lowest === highest ? lowest : `${lowest} to ${highest}`;
  return `${range}${unit} ${isReached(result) ? 'reached' : '**missed**'}`;
}

function goalOf(id: FigureId): string {
  return `≤ ${shown(figures[id].atMost)}${unitOf(id)}`;
}

function unitOf(id: FigureId): string {
  const { of, unit } = figures[id];
  return of === 'ratio' ? 'x' : ` ${unit === 'us' ? 'µs' : unit}`;
}

function capacityOf(recorded: readonly Recorded[]): string {
  const rows = recorded.flatMap(({ node, results }) => {
    const result = results.find(({ figure }) => figure === 'load-by-hand-100');
    if (result === undefined) return [];
    const us = oursOf(result);
    return [[node, `${shown(us)} µs`, shown(us / 1000)]];
  });
  return toTable(
    ['Node', 'processor time of a request', 'cores for 1,000 requests a second'],
    rows,
  );
}

const shapes = [
  ['plain', 'MCP 2026-07-28'],
  ['progress', 'MCP 2026-07-28, with a progress token'],
  ['2025', 'MCP 2025-11-25, without a session'],
] as const;

function usersOf(recorded: readonly Recorded[]): string {
  const rows = recorded.flatMap(({ node, results }) =>
    shapes.flatMap(([shape, name]) => {
      const cpu = results.find(({ figure }) => figure === `load-shape-${shape}`);
      const wait = results.find(({ figure }) => figure === `load-shape-${shape}-p99`);
      if (cpu === undefined || wait === undefined) return [];
      const cells = (result: Result): string =>
        [oursOf(result), peerOf(result, 0), peerOf(result, 1)].map(shown).join(' · ');
      return [[node, name, `${cells(cpu)} µs`, `${cells(wait)} ms`]];
    }),
  );
  return toTable(['Node', 'requests', 'processor time of a request', '99th percentile'], rows);
}

function guardsOf(recorded: readonly Recorded[]): string {
  const rows = recorded.flatMap(({ node, results }) =>
    storeNames.flatMap((name) => {
      const result = results.find(({ figure }) => figure === `guards-${name}`);
      if (result === undefined) return [];
      const us = oursOf(result);
      const wall = median(result.runs.map((run) => run.wall ?? Number.NaN));
      return [[node, name, `${shown(us)} µs`, `${shown(peerOf(result, 0))} µs`, shown(1e6 / wall)]];
    }),
  );
  return toTable(
    ['Node', 'guard', 'processor time of a request', 'with bare round trips', 'requests a second'],
    rows,
  );
}

function outsideOf(recorded: readonly Recorded[]): string {
  const rows = recorded.flatMap(({ node, results }) =>
    storeNames.flatMap((name) => {
      const result = results.find(({ figure }) => figure === `outside-${name}`);
      return result === undefined
        ? []
        : [[node, name, `${shown(oursOf(result))} ms`, `${shown(peerOf(result, 0))} ms`]];
    }),
  );
  return toTable(['Node', 'store', 'answer to effect', 'bare message of the queue'], rows);
}

function suspendedOf(recorded: readonly Recorded[]): string {
  const rows = recorded.flatMap(({ node, results }) =>
    (['redis', 'postgres'] as const).flatMap((name) => {
      const [bytes, expiry, turn] = [
        `suspended-${name}`,
        `suspended-expiry-${name}`,
        `guarded-database-${name}`,
      ].map((id) => results.find(({ figure }) => figure === id));
      if (bytes === undefined || expiry === undefined || turn === undefined) return [];
      const values = [peerOf(bytes, 0), oursOf(bytes)].map((value) => `${shown(value)} bytes`);
      const times = [peerOf(expiry, 0), oursOf(expiry), oursOf(turn)].map(
        (value) => `${shown(value)} µs`,
      );
      return [[node, name, ...values, ...times]];
    }),
  );
  return toTable(
    ['Node', 'store', 'heads and bodies', 'in the database', 'writing', 'expiry', 'guarded turn'],
    rows,
  );
}

function toTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [columns, columns.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function oursOf({ runs }: Result): number {
  return median(runs.map(({ ours }) => ours));
}

function peerOf({ runs }: Result, index: number): number {
  return median(runs.map(({ peers }) => peers[index]?.value ?? Number.NaN));
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}
