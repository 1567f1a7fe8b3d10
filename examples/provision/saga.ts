import { abort, elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { cloud } from './cloud.ts';

const Keep = z.object({ keep: z.boolean().describe('Whether to keep the machine') });

/** Creates a machine, shows it to the user, and removes it unless the user keeps it. */
export const provision = saga(
  {
    name: 'provision',
    version: '1',
    description: 'Creates a machine that the user may look at before keeping it',
    input: z.object({ size: z.enum(['small', 'large']) }),
    // An older token can only remove the machine again, which does no harm.
    reuse: 'ok',
  },
  function* ({ size }) {
    // The effect precedes the question, and runs once even if the question is asked again or by
    // another process.
    const machine = yield* step(
      'create',
      ({ idempotencyKey, signal }) => cloud.create(size, idempotencyKey, signal),
      {
        retry: 3,
        label: 'the machine',
        compensate: ({ result, idempotencyKey, signal }) =>
          cloud.remove(result.id, idempotencyKey, signal),
      },
    );
    const { keep } = yield* elicit('keep', {
      message: `${machine.id} runs at ${machine.address} for ${machine.price} an hour. Keep it?`,
      schema: Keep,
    });
    if (!keep) yield* abort(`${machine.id} was not wanted.`);
    return `${machine.id} is yours, at ${machine.address}.`;
  },
);
