import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Result } from '../table.ts';

/** Results of `pnpm bench --write` for one major version of Node. */
export interface Recorded {
  /** Version of Node, for example `v20.20.2`. */
  readonly node: string;
  readonly results: readonly Result[];
}

const folder = join(import.meta.dirname, '..', 'results');

/** Reads all recorded results, oldest Node first. */
export function readResults(): readonly Recorded[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recorded)
    .toSorted((one, other) => majorOf(one.node) - majorOf(other.node));
}

/**
 * Records results for this version of Node, with date and machine. Figures without a new result
 * keep the old one.
 */
export function writeResults(order: readonly string[], found: readonly Result[]): void {
  mkdirSync(folder, { recursive: true });
  const { version } = process;
  const day = new Date().toISOString().slice(0, 10);
  const measured = `${day}, on ${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}`;
  const results = found.map((result) => ({ ...result, measured }));
  const earlier =
    readResults().find(({ node }) => majorOf(node) === majorOf(version))?.results ?? [];
  const now = new Set(results.map(({ figure }) => figure));
  const all = [...earlier.filter(({ figure }) => !now.has(figure)), ...results]
    .filter(({ figure }) => order.includes(figure))
    .toSorted((one, other) => order.indexOf(one.figure) - order.indexOf(other.figure));
  const recorded: Recorded = { node: version, results: all };
  writeFileSync(
    join(folder, `node-${majorOf(version)}.json`),
    `${JSON.stringify(rounded(recorded), null, 2)}\n`,
  );
}

function majorOf(version: string): number {
  return Number(/\d+/.exec(version)?.[0]);
}

/** Rounds to four digits, the precision of a measurement. */
function rounded<T>(value: T): T {
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'number' ? Number(inner.toPrecision(4)) : inner,
  );
  return JSON.parse(text) as T;
}
