import { poll, saga, sleep, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';

const waiting = saga({ name: 'waiting', version: '1' }, function* () {
  yield* step('read', () => 1, { timeout: '500ms', key: '1' });
  yield* step('read', () => 1, { timeout: 2_000, key: '2' });
  yield* poll('done', () => true, { every: 30, timeout: '1m' });
  yield* sleep(5);
  return 'done';
});

async function warningsIn(environment: string): Promise<readonly string[]> {
  const clock = testClock();
  const { host, told } = hostOf(waiting, {
    clock,
    testing: { environment, sleep: async (ms) => void (clock.now += ms) },
  });
  await host.start('waiting', {});
  await host.start('waiting', {});
  return told.warnings.filter((warning) => warning.includes('milliseconds'));
}

test('durations below a second without a unit are named once, in development', async () => {
  expect(await warningsIn('development')).toEqual([
    "Saga 'waiting': `every` of poll('done') is 30 milliseconds. Write '30s' for seconds, or '30ms'.",
    "Saga 'waiting': The duration of sleep() is 5 milliseconds. Write '5s' for seconds, or '5ms'.",
  ]);
});

test.each(['production', 'test'])('no such duration is named in %s', async (environment) => {
  expect(await warningsIn(environment)).toEqual([]);
});
