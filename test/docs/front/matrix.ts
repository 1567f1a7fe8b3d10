/** The crash matrix of the front page: the cases that the playground runs for the tool above it. */
import { check, script } from '../../../packages/studio/examples/front/script.ts';
import { explore } from '../../../packages/studio/src/engine/explore.ts';
import type { Cell } from '../../../packages/studio/src/model/view.ts';

/** Runs the tool with each single fault. Returns what happened, a case each. */
export async function exploreRefund(): Promise<readonly Cell[]> {
  const exported = { file: 'refund', name: 'refund', isScript: false };
  const cells: Cell[] = [];
  await explore(
    () => Promise.resolve({ script, check, harmless: [], exported }),
    (reply) => {
      if (reply.type === 'cell') cells.push(reply.cell);
      if (reply.type === 'baseline') throw new Error(reply.message);
    },
  );
  return cells;
}

/** Writes cells as text: a line for each step, question, and turn, in the order of their faults. */
export function matrixOf(cells: readonly Cell[]): string {
  const subjects = [...new Set(cells.map(({ subject }) => subject))];
  return subjects
    .map((subject) => {
      const row = cells.filter((cell) => cell.subject === subject);
      const faults = row.map(({ fault, what }) => `${what === undefined ? '✓' : '✗'} ${fault}`);
      return [subject.replace(/^~/, 'undo '), ...faults].join(' | ');
    })
    .join('\n');
}

/** Replaces the matrix in the text of a page. */
export function withMatrix(page: string, matrix: string): string {
  const block = /(<!-- generated: matrix -->\s*```matrix \S+\n)[^]*?(\n```)/;
  if (!block.test(page)) throw new Error('The page has no matrix.');
  return page.replace(block, (_, start: string, end: string) => `${start}${matrix}${end}`);
}
