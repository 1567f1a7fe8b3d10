/**
 * `pnpm chaos [seconds] [seed]`: runs the chaos test, prints its figures, and fails if it finds
 * problems.
 */
import { chaos } from './chaos.ts';
import { toStory, toTable } from './figures.ts';

const [, , seconds = '60', seed = String(Date.now() % 100_000)] = process.argv;
console.log(`${seconds} s of chaos, seed ${seed}\n`);
const result = await chaos({
  seconds: Number(seconds),
  seed: Number(seed),
  onLine: (line) => console.error(line),
});
console.log(toTable(result));
for (const problem of result.problems)
  console.error(`WRONG: ${problem}\n${toStory(problem, result)}`);
if (result.problems.length > 0) process.exitCode = 1;
