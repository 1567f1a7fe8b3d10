import type { CommitPoint } from '@mcp-saga/core/program';
import { machineSaga, step } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import { expect, it } from 'vitest';
import { continuesAtCommits } from '../../core/test/support/world.ts';
import { Drive } from './support/drive.ts';

it('[E1] reads in a row, which are no effects, need no commit between them, and an effect after them does', async () => {
  const machine = setup({
    actors: { look: step(() => 1, { reads: true }), pay: step(() => 2) },
  }).createMachine({
    initial: 'first',
    states: {
      first: { invoke: { id: 'first', src: 'look', onDone: 'second' } },
      second: { invoke: { id: 'second', src: 'look', onDone: 'third' } },
      third: { invoke: { id: 'third', src: 'look', onDone: 'paying' } },
      paying: { invoke: { id: 'pay', src: 'pay', onDone: 'paid' } },
      paid: { type: 'final' },
    },
    output: () => 'paid',
  });
  const points: CommitPoint[] = [];
  const drive = new Drive(machineSaga({ name: 'reads', version: '1', reuse: 'ok' }, machine));
  const outcome = await drive.start({}, { replace: continuesAtCommits(points) });
  expect(outcome).toMatchObject({ status: 'completed', result: 'paid' });
  expect(points.map(({ reason }) => reason)).toEqual(['chance']);
});
