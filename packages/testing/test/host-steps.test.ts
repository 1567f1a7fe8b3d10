import { saga, step, type Program } from '@mcp-saga/server';
import { replayRecording, testSaga } from '@mcp-saga/testing';
import { machineSaga, step as stepInMachine } from '@mcp-saga/xstate';
import { expect, it } from 'vitest';
import { setup } from 'xstate';

const looks = saga({ name: 'looks', version: '1' }, function* () {
  return yield* step('look', () => 'seen');
});
const machineWith = (retry?: number) =>
  machineSaga(
    { name: 'looks', version: '1', reuse: 'ok' },
    setup({
      types: { output: {} as string },
      actors: { look: stepInMachine(() => 'seen', retry === undefined ? {} : { retry }) },
    }).createMachine({
      initial: 'looking',
      states: {
        looking: { invoke: { id: 'look', src: 'look', onDone: 'done' } },
        done: { type: 'final' },
      },
      output: () => 'seen',
    }),
  );

it.each<[string, Program]>([
  ['a saga', looks],
  ['a machine', machineWith()],
])('the test kit tries each step as often as the host of the test says: %s', async (_, program) => {
  const failing = (retry: number) =>
    testSaga(program, { host: { steps: { retry } } }).fail.step('look', new Error('down'), {
      times: 2,
    });
  expect((await failing(3).run()).result).toBe('seen');
  expect((await failing(2).run()).status).toBe('failed');
});

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
