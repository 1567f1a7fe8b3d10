import { joinRecording, recordSagas, replayRecording, type RecordedTurn } from '@mcp-saga/testing';
import type { Program } from '@mcp-saga/server';
import { assert, asyncProperty } from 'fast-check';
import { expect, it } from 'vitest';
import { seeded } from '../../core/test/support/world.ts';
import { quietly } from '../../xstate/test/support/quietly.ts';
import { decisions, walkWatched } from '../../xstate/test/support/walk.ts';

/** Walks that are done, fail, and wait: a random walk is rarely done. */
const everyEnd = [3, 6, 10].map((seed): [number[]] => {
  const random = seeded(seed);
  return [Array.from({ length: 600 }, () => Math.floor(random() * 60))];
});

it('[R3] a recording of any machine with any answers replays with the same code, and runs nothing', async () => {
  quietly();
  const ended: Record<string, number> = {};
  let turnCount = 0;
  await assert(
    asyncProperty(decisions, async (drawn) => {
      const turns: RecordedTurn[] = [];
      const watch = (program: Program): Program =>
        recordSagas([program], {
          onTurn: (turn) => turns.push(turn),
          redact: (value) => value,
          onError: (error) => {
            throw error;
          },
        })[0] as Program;
      const walked = await walkWatched(drawn, watch);
      if (walked === undefined) return;
      const { saga, anew } = walked;
      const recording = joinRecording(JSON.parse(JSON.stringify(turns)) as RecordedTurn[]);
      const { program, world } = anew();
      await replayRecording(recording, [program]);
      expect(world.effects).toEqual([]);
      expect(world.trace).toEqual(saga.trace);
      ended[saga.status] = (ended[saga.status] ?? 0) + 1;
      turnCount += recording.turns?.length ?? 0;
    }),
    { numRuns: 80, endOnFailure: true, examples: everyEnd },
  );
  // The walks make progress.
  expect(turnCount).toBeGreaterThan(160);
  expect(Object.keys(ended).toSorted()).toEqual(['done', 'failed', 'walking']);
});
