import { engineOf } from '@mcp-saga/core/program';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../src/index.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import type { SagaHistory } from '../src/model/history.ts';
import { drive, turn } from './support/drive.ts';
import { answerOf, sagaOfTree, trees, type Run } from './support/random-saga.ts';
import { World } from './support/world.ts';

function newRun(): Run {
  return {
    world: new World(),
    effects: [],
    duration: 0,
    gated: false,
    traces: [],
  };
}

describe('a journal', () => {
  it('[R1] [R4] of a completed saga replays to the same end, and runs nothing', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: true }), async (tree) => {
        const run = newRun();
        const make = () => sagaOfTree(tree, run);
        const { outcome } = await drive({ make, world: run.world, answer: answerOf });
        fc.pre(outcome.state !== undefined);
        const program = make();
        const history = engineOf(program).history?.(outcome.state);
        const kept = JSON.parse(JSON.stringify(history)) as SagaHistory;
        const restored = engineOf(program).restore?.(kept) as ProgramState;
        expect(engineOf(program).history?.(restored)).toEqual(history);
        const before = run.effects.length;
        const again = await turn(program, restored, {}, run.world);
        expect(again).toMatchObject({ status: outcome.status });
        if (outcome.status === 'completed') expect(again).toMatchObject({ result: outcome.result });
        expect(run.effects).toHaveLength(before);
      }),
    );
  });

  it('with an unknown entry is refused', () => {
    const entry = { letter: '?', kind: 'step', path: 'a', outcome: 'done', fingerprint: 0 };
    const input: Json = {};
    const program = sagaOfTree({ kind: 'sequence', nodes: [] }, newRun());
    expect(() => engineOf(program).restore?.({ input, entries: [entry] })).toThrow(
      'Unknown journal entry',
    );
  });
});
