/**
 * `pnpm compare NAME` runs the same tool, written with several libraries, and prints a table.
 *
 * - `first-response`: what happens if the first response is lost, or its process dies. Writes
 *   `docs/reference/first-response.md`.
 */
import { compareFirstResponse } from './first-response.ts';

const comparisons: Readonly<Record<string, () => Promise<void>>> = {
  'first-response': compareFirstResponse,
};

const [name = ''] = process.argv.slice(2);
const comparison = comparisons[name];
if (comparison === undefined)
  throw new Error(
    `There is no comparison '${name}'. The comparisons: ${Object.keys(comparisons).join(', ')}`,
  );
await comparison();
