/** Many walks: `tsx packages/xstate/test/walks.ts 5000 1`, how many and from which seed. Says which seeds diverge. */
import { isDeepStrictEqual } from 'node:util';
import { seeded } from '../../core/test/support/world.ts';
import { walk } from './support/walk.ts';

const [count = '1000', first = '1'] = process.argv.slice(2);
console.warn = () => undefined;
const ended: Record<string, number> = {};
const diverging: number[] = [];
let turns = 0;
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const random = seeded(seed);
  const numbers = Array.from({ length: 600 }, () => Math.floor(random() * 60));
  try {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const walked = await walk(numbers);
    const end = walked?.figures.ended ?? 'too long';
    ended[end] = (ended[end] ?? 0) + 1;
    turns += walked?.figures.turns ?? 0;
    if (!isDeepStrictEqual(walked?.saga, walked?.live)) diverging.push(seed);
  } catch (error) {
    diverging.push(seed);
    console.error(seed, error);
  }
}
console.log(JSON.stringify({ walks: Number(count), turns, ended, diverging }));
if (diverging.length > 0) process.exitCode = 1;
