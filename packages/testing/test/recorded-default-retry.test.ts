import { replayRecording, testSaga } from '@mcp-saga/testing';
import { machineSaga, step } from '@mcp-saga/xstate';
import { expect, it } from 'vitest';
import { setup } from 'xstate';

const machineWith = (retry?: number) =>
  machineSaga(
    { name: 'looks', version: '1', forks: 'accept' },
    setup({
      types: { output: {} as string },
      actors: { look: step(() => 'seen', retry === undefined ? {} : { retry }) },
    }).createMachine({
      initial: 'looking',
      states: {
        looking: { invoke: { id: 'look', src: 'look', onDone: 'done' } },
        done: { type: 'final' },
      },
      output: () => 'seen',
    }),
  );

it.each([
  ['the step', machineWith(3), {}],
  ['the host', machineWith(), { steps: { retry: 3 } }],
])('a recording of a machine replays if its retries come from %s', async (_, program, options) => {
  const host = { starts: { unkeyed: 'run' }, ...options } as const;
  const run = await testSaga(program, { host })
    .fail.step('look', new Error('down'), { times: 1 })
    .run();
  expect(run.result).toBe('seen');
  await replayRecording(JSON.parse(JSON.stringify(run.recording)), [program]);
});
