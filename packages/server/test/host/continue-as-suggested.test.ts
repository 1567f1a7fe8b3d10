import { continueAs, info, now, saga, type Program as Saga } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { completed, hostOf } from '../fixtures/host.ts';
import { withLimits } from '../fixtures/with-limits.ts';

test.each([10_000, 250])(
  'a loop that continues as suggested stays within a journal of %i entries',
  async (maxJournalEntries) => {
    const loop: Saga = withLimits(
      saga(
        { name: 'loop', version: '1', input: z.object({ from: z.number() }) },
        function* ({ from }) {
          for (let at = from; at < 500; at += 1) {
            yield* now();
            if ((yield* info()).continueAsSuggested)
              yield* continueAs(loop as never, { from: at + 1 });
          }
          return 'done';
        },
      ),
      { maxJournalEntries },
    );
    const { host } = hostOf(loop);
    const turn = await host.start('loop', { from: 0 });
    if (turn.status === 'failed') expect(String(turn.error)).toBe('');
    expect(completed(turn).result).toBe('done');
  },
);
