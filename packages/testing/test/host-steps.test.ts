import { saga, step, type Program } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { machineSaga, step as stepInMachine } from '@mcp-saga/xstate';
import { expect, it } from 'vitest';
import { setup } from 'xstate';

const looks = saga({ name: 'looks', version: '1' }, function* () {
  return yield* step('look', () => 'seen');
});
const machine = setup({
  types: { output: {} as string },
  actors: { look: stepInMachine(() => 'seen') },
}).createMachine({
  initial: 'looking',
  states: {
    looking: { invoke: { id: 'look', src: 'look', onDone: 'done' } },
    done: { type: 'final' },
  },
  output: () => 'seen',
});
const looksAsMachine = machineSaga({ name: 'looks', version: '1', forks: 'accept' }, machine);

it.each<[string, Program]>([
  ['a saga', looks],
  ['a machine', looksAsMachine],
])('the test kit tries each step as often as the host of the test says: %s', async (_, program) => {
  const failing = (retry: number) =>
    testSaga(program, { host: { steps: { retry } } }).fail.step('look', new Error('down'), {
      times: 2,
    });
  expect((await failing(3).run()).result).toBe('seen');
  expect((await failing(2).run()).status).toBe('failed');
});
