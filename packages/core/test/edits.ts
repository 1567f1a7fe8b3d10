/**
 * Edits of random sagas: `tsx packages/core/test/edits.ts 20000 1` runs 20,000 cases from seed 1.
 * Prints the outcomes by kind of edit, and the failing seeds. For a single seed, prints a smaller
 * case that fails in the same way.
 */
import { caseOf, runCase, shrink } from './support/edit-case.ts';

const [count = '1000', first = '1'] = process.argv.slice(2);
const ends: Record<string, Record<string, number>> = {};
const wrong: number[] = [];
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const drawn = caseOf(seed);
  const { kind, end, problems } = await runCase(drawn).catch((error: unknown) => ({
    kind: drawn.edited.kind,
    end: 'thrown' as const,
    problems: [String(error instanceof Error ? error.stack : error)],
  }));
  const ofKind = (ends[kind] ??= {});
  ofKind[end] = (ofKind[end] ?? 0) + 1;
  if (problems.length === 0) continue;
  wrong.push(seed);
  console.error(seed, kind, JSON.stringify(drawn.mode), problems.join('\n  '));
  if (count === '1') console.error(JSON.stringify(await shrink(drawn), null, 1));
}
if (count !== '1') console.table(ends);
console.log(JSON.stringify({ cases: Number(count), wrong }));
if (wrong.length > 0) process.exitCode = 1;
