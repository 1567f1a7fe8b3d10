import { createSagaHost, generateKey, type SagaHost, type SagaTurn } from '@mcp-saga/server';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enqueueActions, setup } from 'xstate';
import { z } from 'zod';
import { noise } from '../../server/test/fixtures/lengths.ts';
import { coreOf } from '../../server/src/saga-host.ts';

const Keys = z.object({ keys: z.string() });
const keys = generateKey();

/** A machine with an effect for each text of the client, and with an effect named by a secret. */
function machineOf(secret: string) {
  return setup({
    types: {
      input: {} as { readonly keys: string },
      context: {} as { readonly keys: string },
      output: {} as string,
    },
    actors: {
      ask: elicit({ message: 'Well?', schema: z.object({}) }),
      look: step(() => undefined, { compensate: () => undefined }),
    },
  }).createMachine({
    context: ({ input }) => ({ keys: input.keys }),
    entry: enqueueActions(({ context, enqueue }) => {
      enqueue.spawnChild('look', { id: `pay-${secret}` });
      for (const id of context.keys.split(' ')) enqueue.spawnChild('look', { id });
    }),
    invoke: { id: 'ask', src: 'ask' },
  });
}

function hostOf(secret: string): SagaHost {
  const program = machineSaga(
    { name: 'spawns', version: '1', input: Keys, reuse: 'ok' },
    machineOf(secret),
  );
  return createSagaHost({
    sagas: [program],
    keys,
    name: 'test',
    testing: { environment: 'test', clock: () => 1_760_000_000_000 },
    hooks: { onWarning: () => undefined },
  });
}

async function lengthOf(secret: string, echoed: string, size: number): Promise<number> {
  const bulk = Array.from({ length: 30 }, (_, index) => noise(100, index + 2));
  const args = { keys: [...bulk, `to-pay-${echoed}`, noise(size)].join(' ') };
  return tokenOf(await coreOf(hostOf(secret)).start('spawns', args, {}, { method: 'tools/call' }))
    .length;
}

function tokenOf(turn: SagaTurn): string {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}.`, { cause: turn });
  return turn.token;
}

describe('the token of a machine', () => {
  it('[T15] has the same length for every secret in the ID of a spawned actor', async () => {
    const digits = fc.stringMatching(/^\d{16}$/);
    await fc.assert(
      fc.asyncProperty(
        digits,
        digits,
        fc.integer({ min: 1, max: 64 }),
        async (echoed, other, size) => {
          expect(await lengthOf(other, echoed, size)).toBe(await lengthOf(echoed, echoed, size));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('[T15] [E3] contains the paths of spawned actors for an undo', async () => {
    const host = hostOf('1');
    const token = tokenOf(await host.start('spawns', { keys: 'a b(c)' }));
    const { timeline } = await host.inspect(token);
    expect(timeline?.map(({ path }) => path)).toEqual(['', 'pay-1', 'a', 'b(c)']);
    expect(await host.cancel(token)).toMatchObject({
      compensated: [{ stepId: 'b(c)' }, { stepId: 'a' }, { stepId: 'pay-1' }],
    });
  });
});
