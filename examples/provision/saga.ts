import { abort, elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { cloud } from './cloud.ts';

const Keep = z.object({ keep: z.boolean().describe('Whether to keep the machine') });

/** Creates a machine, shows it to the user, and removes it again unless the user wants to keep it. */
export const provision = saga(
  {
    name: 'provision',
    version: '1',
    description: 'Creates a machine that the user may look at before keeping it',
    input: z.object({ size: z.enum(['small', 'large']) }),
    // To go back to the question and answer it otherwise removes a machine, or finds it removed: no harm is done.
    forks: 'accept',
  },
  function* ({ size }) {
    // The effect comes before the question. It runs once, however often the question is asked, and wherever.
    const machine = yield* step(
      'create',
      ({ idempotencyKey, signal }) => cloud.create(size, idempotencyKey, signal),
      {
        retry: 3,
        label: 'the machine',
        compensate: ({ result, idempotencyKey, signal }) => cloud.remove(result.id, idempotencyKey, signal),
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
