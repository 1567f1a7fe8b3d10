/**
 * `pnpm chaos [calls] [seed] [redis | postgres]`: runs the chaos test, prints its figures, and
 * fails if it finds problems.
 */
import { chaos } from './chaos.ts';
import { toStory, toTable } from './figures.ts';

const [, , calls = '200', seed = String(Date.now() % 100_000), store = 'redis'] = process.argv;
if (store !== 'redis' && store !== 'postgres')
  throw new TypeError(`There is no chaos on '${store}'. Pass redis or postgres.`);
if (!(Number.isSafeInteger(Number(calls)) && Number(calls) > 0))
  throw new TypeError(`The number of calls must be a positive integer, not '${calls}'.`);
console.log(`Chaos of ${calls} calls, seed ${seed}, on ${store}\n`);
const result = await chaos({
  calls: Number(calls),
  seed: Number(seed),
  store,
  onLine: (line) => console.error(line),
});
console.log(toTable(result));
for (const problem of result.problems)
  console.error(`WRONG: ${problem}\n${toStory(problem, result)}`);
if (result.problems.length > 0) process.exitCode = 1;
