/**
 * Many walks: `tsx packages/xstate/test/walks.ts 5000 1`, how many and from which seed. Reports
 * which seeds diverge from a live actor, and which ones go wrong after the chart was changed.
 */
import { isDeepStrictEqual } from 'node:util';
import { seeded } from '../../core/test/support/world.ts';
import { walkChanged } from './support/walk-changed.ts';
import { walk } from './support/walk.ts';

const [count = '1000', first = '1'] = process.argv.slice(2);
console.warn = () => undefined;
const ended: Record<string, number> = {};
const changed: Record<string, number> = {};
const diverging: number[] = [];
const wrong: number[] = [];
let turns = 0;
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const random = seeded(seed);
  const draw = (length: number): number[] =>
    Array.from({ length }, () => Math.floor(random() * 60));
  const numbers = draw(600);
  const changes = draw(12);
  try {
    const walked = await walk(numbers);
    const end = walked?.figures.ended ?? 'too long';
    ended[end] = (ended[end] ?? 0) + 1;
    turns += walked?.figures.turns ?? 0;
    if (!isDeepStrictEqual(walked?.saga, walked?.live)) diverging.push(seed);
  } catch (error) {
    diverging.push(seed);
    console.error(seed, error);
  }
  try {
    const walked = await walkChanged(numbers, changes);
    const end = walked?.end ?? 'nothing to change';
    changed[end] = (changed[end] ?? 0) + 1;
    if (walked === undefined || walked.problems.length === 0) continue;
    wrong.push(seed);
    console.error(seed, JSON.stringify(walked));
  } catch (error) {
    wrong.push(seed);
    console.error(seed, error);
  }
}
console.log(JSON.stringify({ walks: Number(count), turns, ended, diverging, changed, wrong }));
if (diverging.length + wrong.length > 0) process.exitCode = 1;
