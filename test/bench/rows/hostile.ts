import { createSagaHost, generateKey, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { compare } from '../compare.ts';
import type { Candidate } from '../harness.ts';
import type { Row } from '../row.ts';

/** Cost of rejecting a call with too large arguments, relative to parsing its text. */
export const hostile: Row = async ({ effort }) => [
  await compare('hostile-call', [refusing(), parsing()], effort),
];

const items = Array.from({ length: 12_000 }, (_, index) => ({
  id: `item-${index}`,
  note: `${index}`.repeat(12),
}));
const text = JSON.stringify({ items });

function refusing(): Candidate {
  const takes = saga({ name: 'bench', version: '1', input: z.looseObject({}) }, function* () {
    return yield* step('take', () => 'taken');
  });
  const host = createSagaHost({ sagas: [takes], keys: generateKey(), name: 'bench' });
  return {
    name: 'refused',
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const refused = await host
          .start('bench', JSON.parse(text))
          .catch((error: unknown) => error);
        if (!(refused instanceof Error)) throw new Error('The call was not refused');
      }
    },
  };
}

function parsing(): Candidate {
  return {
    name: 'JSON.parse',
    run: (times) => {
      for (let count = 0; count < times; count += 1) JSON.parse(text);
    },
  };
}
