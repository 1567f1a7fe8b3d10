import { describe, expect, it } from 'vitest';
import { exploreRefund, matrixOf, withMatrix } from './front/matrix.ts';
import { read } from './markdown.ts';

describe('the tool of the front page', () => {
  it('keeps money and books equal after every single fault', async () => {
    const cells = await exploreRefund();
    expect(cells.length).toBeGreaterThan(15);
    expect(cells.filter(({ what }) => what !== undefined)).toEqual([]);
  });

  it('has its crash matrix on the page (`pnpm generate matrix` writes it)', async () => {
    const page = read('docs/index.md');
    const cells = await exploreRefund();
    expect(page).toBe(withMatrix(page, matrixOf(cells)));
    expect(page).toContain(`all ${cells.length} cases`);
  });
});
