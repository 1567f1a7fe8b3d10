import { describe, expect, it } from 'vitest';
import { figures } from './figures.ts';
import { leastEffort } from './harness.ts';
import type { Finding } from './row.ts';
import { rows } from './rows/rows.ts';
import { isReached, reached, toTable } from './table.ts';

// Nothing here is timed: a figure that depends on the machine is for `pnpm bench` to print.
describe('the bench', () => {
  const found: Finding[] = [];

  it.each(Object.entries(rows))('finds figures for %s', { timeout: 240_000 }, async (_, row) => {
    const findings = await row({ effort: leastEffort, peers: undefined });
    expect(findings.length).toBeGreaterThan(0);
    for (const { ours, peers } of findings) {
      for (const value of [ours, ...peers.map((peer) => peer.value)])
        expect(value).toSatisfy(Number.isFinite);
    }
    found.push(...findings);
  });

  it('finds every figure there is to reach', () => {
    expect(found.map(({ figure }) => figure).toSorted()).toEqual(Object.keys(figures).toSorted());
    expect(toTable(found)).toContain('figures are reached');
  });

  // Bytes are the same on every machine. Figures that are not reached yet are missing here, and `pnpm bench` says so.
  it.each(['journal-bytes', 'token-bytes', 'token-bytes-sampling'] as const)(
    'reaches the figure for %s',
    (id) => {
      const finding = found.find(({ figure }) => figure === id) as Finding;
      expect(reached(finding)).toBeLessThanOrEqual(figures[id].atMost);
    },
  );

  it.each([
    ['load-requests-100', 2, true],
    ['load-requests-100', 1, true],
    ['load-requests-100', 0.9, false],
    ['load-cpu-100', 1, true],
    ['load-cpu-100', 1.1, false],
  ] as const)('of %s, %d times the peer is reached: %s', (figure, ours, isEnough) => {
    const finding = { figure, ours, peers: [{ name: 'by hand', value: 1 }] };
    expect(isReached(finding)).toBe(isEnough);
    expect(toTable([finding])).toContain(figure === 'load-cpu-100' ? ' 1x ' : ' at least 1x ');
  });
});
