import { elicit, saga, sleep, step } from '@mcp-saga/server';
import { forkEverywhere, testSaga } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const minute = 60_000;
const naps = (ms: number) =>
  saga({ name: 'naps', version: '1' }, function* () {
    yield* elicit('go', { message: 'On?', schema: z.object({ go: z.boolean() }) });
    yield* step('once', () => 1, { once: true });
    yield* sleep(ms);
    return 'done';
  });

describe('[E7] a fork of a run that took longer than its tokens are good', () => {
  it.each([50, 70, 120, 1_200])(
    'is refused, or repeats its response, after %i minutes',
    async (minutes) => {
      const script = testSaga(naps(minutes * minute)).on.elicit('go', { go: true });
      const { forks } = await forkEverywhere(script);
      expect(forks.slice(0, 3).map(({ id, answer, status }) => [id, answer, status])).toEqual([
        ['go', undefined, 'completed'],
        ['go', 'decline', 'refused'],
        ['go', { go: false }, 'refused'],
      ]);
      const run = await script.run();
      expect((await run.at('go').fork({ go: false })).status).toBe('refused');
      const again = await run.at('go').fork();
      expect([again.result, again.effects.map(({ runs }) => runs)]).toEqual(['done', [1]]);
    },
  );
});
