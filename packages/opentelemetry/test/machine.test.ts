import { openTelemetry } from '@mcp-saga/opentelemetry';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { SpanStatusCode } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { accept, hostOf, suspended } from './support/sagas.ts';
import { eventsOf, idOf, tracing } from './support/tracing.ts';

test('a machine is traced as a generator saga', async () => {
  let tries = 0;
  const machine = setup({
    types: { output: {} as string },
    actors: {
      ask: elicit({ message: 'Sure?', schema: z.object({}) }),
      charge: step(
        () => {
          tries += 1;
          if (tries === 1) throw new RangeError('secret');
        },
        { retry: 2 },
      ),
    },
  }).createMachine({
    id: 'paying',
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
      charging: { invoke: { id: 'charge', src: 'charge', onDone: 'over' } },
      over: { type: 'final' },
    },
    output: () => 'paid',
  });
  const traced = tracing();
  const paying = machineSaga({ name: 'paying', version: '1' }, machine);
  const make = () =>
    hostOf([paying], {
      telemetry: openTelemetry({ tracerProvider: traced.provider }),
      testing: { sleep: async () => undefined },
    });
  const { token } = suspended(await make().start('paying', {}));
  expect(await make().resume(token, [accept('sure')])).toMatchObject({ result: 'paid' });
  expect(traced.tree()).toBe(
    ['saga paying', '  saga paying', '    step charge', '    step charge'].join('\n'),
  );
  expect(traced.span('saga paying', 1).parentSpanContext?.spanId).toBe(
    idOf(traced.span('saga paying')),
  );
  expect(eventsOf(traced.span('saga paying'))).toEqual([
    ['saga.suspended', { 'saga.step.ids': ['sure'], 'saga.step.kinds': ['elicitation'] }],
  ]);
  expect([0, 1].map((nth) => traced.span('step charge', nth).status.code)).toEqual([
    SpanStatusCode.ERROR,
    SpanStatusCode.UNSET,
  ]);
});
