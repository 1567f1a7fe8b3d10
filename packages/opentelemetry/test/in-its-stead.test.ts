import { openTelemetry } from '@mcp-saga/opentelemetry';
import { elicit, saga } from '@mcp-saga/server';
import { machineSaga } from '@mcp-saga/xstate';
import { expect, test } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { hostOf } from './support/sagas.ts';
import { tracing } from './support/tracing.ts';

test('a fallback function is a span, and a fallback value is not', async () => {
  const traced = tracing();
  const team = saga({ name: 'team', version: '1' }, function* () {
    const { team: found } = yield* elicit('team', {
      message: 'Who?',
      schema: z.object({ team: z.string() }),
      fallback: () => ({ team: 'billing' }),
    });
    const { room } = yield* elicit('room', {
      message: 'Where?',
      schema: z.object({ room: z.string() }),
      fallback: { room: 'here' },
    });
    return `${found} ${room}`;
  });
  const host = hostOf([team], { telemetry: openTelemetry({ tracerProvider: traced.provider }) });
  expect(await host.start('team', {}, { caller: { capabilities: {} } })).toMatchObject({
    result: 'billing here',
  });
  expect(traced.tree()).toBe(['saga team', '  fallback team'].join('\n'));
  expect(traced.span('fallback team').attributes).toEqual({
    'saga.step.id': 'team',
    'saga.step.kind': 'fallback',
    'saga.step.attempt': 1,
  });
});

test('a promise of a machine is the span of a step', async () => {
  const traced = tracing();
  const machine = setup({
    types: { output: {} as string },
    actors: { look: fromPromise(async () => 'seen') },
  }).createMachine({
    initial: 'looking',
    states: {
      looking: { invoke: { id: 'look', src: 'look', onDone: 'over' } },
      over: { type: 'final' },
    },
    output: () => 'seen',
  });
  const looking = machineSaga({ name: 'looking', version: '1' }, machine);
  const host = hostOf([looking], { telemetry: openTelemetry({ tracerProvider: traced.provider }) });
  expect(await host.start('looking', {})).toMatchObject({ result: 'seen' });
  expect(traced.tree()).toBe(['saga looking', '  step look'].join('\n'));
  expect(traced.span('step look').attributes).toEqual({
    'saga.step.id': 'look',
    'saga.step.kind': 'step',
    'saga.step.attempt': 1,
  });
});
