/** Many walks through charts that are changed: `tsx packages/xstate/test/walks-changed.ts 5000 1`, how many and from which seed. */
import { seeded } from '../../core/test/support/world.ts';
import { walkChanged } from './support/walk-changed.ts';

const [count = '1000', first = '1'] = process.argv.slice(2);
console.warn = () => undefined;
const ends: Record<string, number> = {};
const wrong: number[] = [];
for (let seed = Number(first); seed < Number(first) + Number(count); seed += 1) {
  const random = seeded(seed);
  const draw = (length: number): number[] => Array.from({ length }, () => Math.floor(random() * 60));
  const numbers = draw(600);
  const changes = draw(12);
  try {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const walked = await walkChanged(numbers, changes);
    const end = walked === undefined ? 'nothing to change' : walked.end;
    ends[end] = (ends[end] ?? 0) + 1;
    if (walked === undefined || walked.problems.length === 0) continue;
    wrong.push(seed);
    console.error(seed, JSON.stringify(walked));
  } catch (error) {
    wrong.push(seed);
    console.error(seed, error);
  }
}
console.log(JSON.stringify({ walks: Number(count), ends, wrong }));
if (wrong.length > 0) process.exitCode = 1;
