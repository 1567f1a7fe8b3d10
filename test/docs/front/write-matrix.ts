/** `pnpm generate matrix` writes the crash matrix of the front page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { exploreRefund, matrixOf, withMatrix } from './matrix.ts';

const page = new URL('../../../docs/index.md', import.meta.url);
const matrix = matrixOf(await exploreRefund());
writeFileSync(page, withMatrix(readFileSync(page, 'utf8'), matrix));
