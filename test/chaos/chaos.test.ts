import { expect, it } from 'vitest';
import { describeWithRedis } from '../support/redis-server.ts';
import { chaos } from './chaos.ts';
import { toStory, toTable } from './figures.ts';

// CI also runs `pnpm chaos`, with more calls.
const calls = 60;
const seed = 1;

describeWithRedis('chaos', () => {
  it('[E1] [E3] [E8] [R1] [T7] [T13] [W1] runs and undoes each effect once, and leaves none without an end', async () => {
    const said: string[] = [];
    const result = await chaos({ calls, seed, inFlight: 60, onLine: (line) => said.push(line) });
    const problems = result.problems.map((problem) => `${problem}\n${toStory(problem, result)}`);
    expect(problems, toTable(result)).toEqual([]);
    const { dialects } = result.crowd;
    expect(dialects.filter(({ completed }) => completed > 0)).toEqual(dialects);
    expect(result.monkey.kills).toBeGreaterThan(0);
  });
});
