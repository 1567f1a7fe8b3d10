import { createSagaHost, generateKey, type StepAnswer, type SuspendedTurn } from '@mcp-saga/server';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { expectLogs } from '../../../test/support/logs.ts';
import { restartLog } from '../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

const message = 'x'.repeat(20_000);
const ask = elicit({ message, schema: z.object({ n: z.number() }) });

/**
 * A machine that asks two long questions, with a delay beside them, on a host whose guard keeps
 * responses.
 */
function asking() {
  const did: string[] = [];
  const charge = step(() => void did.push('charge'));
  const machine = setup({ types: { output: {} as string }, actors: { ask, charge } }).createMachine(
    {
      initial: 'open',
      states: {
        open: {
          initial: 'one',
          after: { 3_000_000: 'closed' },
          states: {
            one: { invoke: { id: 'one', src: 'ask', onDone: 'charging' } },
            charging: { invoke: { id: 'charge', src: 'charge', onDone: 'two' } },
            two: { invoke: { id: 'two', src: 'ask', onDone: 'done' } },
            done: { type: 'final' },
          },
          onDone: 'closed',
        },
        closed: { type: 'final' },
      },
      output: 'charged',
    },
  );
  const kept: number[] = [];
  const host = createSagaHost({
    sagas: [machineSaga({ name: 'asking', version: '1' }, machine)],
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production' },
    hooks: { onTurn: () => undefined },
    store: storeWithGuard((guard) => ({
      finish: (fence, sealed) => {
        kept.push(sealed.length);
        return guard.finish(fence, sealed);
      },
    })),
  });
  return { host, kept, did };
}

const answer = (stepId: string, n: number | string): StepAnswer[] => [
  { stepId, result: { action: 'accept', content: { n } } },
];

it('[T13] a repeated request renders the long question of a machine again', async () => {
  const { host, kept, did } = asking();
  const { token, steps } = (await host.start('asking', {})) as SuspendedTurn;
  const [one] = steps;
  const next = (await host.resume(token, answer(one?.stepId ?? '', 1))) as SuspendedTurn;
  expect(next.steps).toMatchObject([{ params: { message } }]);
  expect(await host.resume(token, answer(one?.stepId ?? '', 1))).toEqual(next);
  expect(kept).toHaveLength(1);
  expect(kept[0]).toBeLessThan(5_000);
  expect(did).toEqual(['charge']);
  expect(await host.resume(next.token, answer(next.steps[0]?.stepId ?? '', 2))).toMatchObject({
    result: 'charged',
  });
});

it('[T13] [W4] a guard stores nothing of an invalid answer to a machine', async () => {
  const { host, kept, did } = asking();
  const first = (await host.start('asking', {})) as SuspendedTurn;
  const { stepId = '' } = first.steps[0] ?? {};
  const again = (await host.resume(first.token, answer(stepId, 'one'))) as SuspendedTurn;
  expect(again).toMatchObject({
    turn: first.turn,
    steps: [{ stepId, reason: expect.any(String) }],
  });
  expect(kept).toEqual([]);
  await host.resume(again.token, answer(stepId, 1));
  expect(kept).toHaveLength(1);
  expect(did).toEqual(['charge']);
});
