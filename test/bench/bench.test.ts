import { describe, expect, it } from 'vitest';
import { figures } from './figures.ts';
import { leastEffort } from './harness.ts';
import { hasDatabase, storeNames } from './load/databases.ts';
import { knowsProcessorTime } from './load/process-cpu.ts';
import type { Finding } from './row.ts';
import { rows } from './rows/rows.ts';
import { isReached, toResults, toTable, valueOf } from './table.ts';

// These tests measure no times: only `pnpm bench` prints figures that depend on the machine.
describe('the bench', () => {
  const found: Finding[] = [];

  it.each(Object.entries(rows))('finds figures for %s', { timeout: 240_000 }, async (_, row) => {
    const findings = await row({ effort: leastEffort, peers: undefined });
    for (const { ours, peers } of findings) {
      for (const value of [ours, ...peers.map((peer) => peer.value)])
        expect(value).toSatisfy(Number.isFinite);
    }
    found.push(...findings);
  });

  it('has a figure for every limit', () => {
    // A developer's machine may lack a Redis or PostgreSQL server, or may not tell what they use,
    // and then skips those figures. CI may not.
    const isMissing = (figure: string): boolean =>
      storeNames.some((name) => figure.endsWith(`-${name}`) && !hasDatabase(name)) ||
      (!knowsProcessorTime && /^(?:suspended|guarded-database)-/.test(figure));
    const expected = Object.keys(figures).filter(
      (figure) => process.env['CI'] !== undefined || !isMissing(figure),
    );
    expect(found.map(({ figure }) => figure).toSorted()).toEqual(expected.toSorted());
    expect(toTable(toResults([found]))).toContain('figures are reached');
  });

  // Errors, and sizes in bytes, are the same on every machine. Figures that miss their goal are
  // left out here, and `pnpm bench` reports them.
  it.each([
    'journal-bytes',
    'machine-bytes-chain',
    'machine-bytes-regions',
    'load-shapes-errors',
    'store-bytes-suspended',
    'store-bytes-live',
    'token-bytes-info',
  ] as const)('reaches the figure for %s', (id) => {
    const finding = found.find(({ figure }) => figure === id) as Finding;
    expect(valueOf(finding)).toBeLessThanOrEqual(figures[id].atMost);
  });

  it.each([
    [[0.5, 0.6, 0.55], true],
    [[0.5, 0.5, 0.61], false],
    [[0.7, 0.7, 0.7], false],
    [[], false],
  ])('reaches a goal of 0.6 if all runs reach it: %j', (values, isEnough) => {
    const figure = 'load-by-hand-100' as const;
    const result = {
      figure,
      runs: values.map((ours) => ({ figure, ours, peers: [{ name: 'by hand', value: 1 }] })),
    };
    expect(isReached(result)).toBe(isEnough);
    if (values.length > 0)
      expect(toTable([result])).toMatch(isEnough ? / 0\.6x +yes/ : / 0\.6x +NO/);
  });

  it('shows the medians, and the lowest and the highest ratio', () => {
    const figure = 'load-by-hand-100';
    const runs = [3, 1, 2].map(
      (ours) =>
        [{ figure, ours, wall: ours * 10, peers: [{ name: 'by hand', value: 4 }] }] as const,
    );
    expect(toTable(toResults(runs))).toMatch(
      / 2 us +20 us +4 us by hand +0\.500x +0\.250x +0\.750x +100 % +0\.6x/,
    );
  });
});
