import { joinRecording, recordSagas, replayRecording, type RecordedTurn } from '@mcp-saga/testing';
import type { Program } from '@mcp-saga/server';
import { assert, asyncProperty } from 'fast-check';
import { expect, it } from 'vitest';
import { quietly } from '../../xstate/test/support/quietly.ts';
import { decisions, walkWatched } from '../../xstate/test/support/walk.ts';

it('[R3] a recording of a machine replays on the same code, whatever chart and answers, and runs nothing', async () => {
  quietly();
  const ended: Record<string, number> = {};
  let turnCount = 0;
  await assert(
    asyncProperty(decisions, async (drawn) => {
      const turns: RecordedTurn[] = [];
      const watch = (program: Program): Program =>
        recordSagas([program], {
          onRecording: () => undefined,
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
      turnCount += recording.turns.length;
    }),
    { numRuns: 80, endOnFailure: true },
  );
  // They go somewhere, and come to every kind of end.
  expect(turnCount).toBeGreaterThan(160);
  expect(Object.keys(ended).toSorted()).toEqual(['done', 'failed', 'walking']);
}, 240_000);
