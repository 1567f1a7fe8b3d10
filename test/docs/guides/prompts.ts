import { elicit, promptSaga, resourceSaga, step } from '@mcp-saga/server';
import { z } from 'zod';

const orders = {
  read: async (id: string): Promise<string> => `Order ${id}`,
  ids: async (start: string): Promise<string[]> =>
    ['17', '18', '23'].filter((id) => id.startsWith(start)),
};

// #region prompt
const Focus = z.object({ focus: z.enum(['bugs', 'style']) });

export const review = promptSaga(
  { name: 'review', version: '1', input: z.object({ language: z.string() }) },
  function* ({ language }) {
    const { focus } = yield* elicit('focus', {
      message: 'What shall the review look for?',
      schema: Focus,
      fallback: { focus: 'bugs' }, // for clients that cannot be asked
    });
    return `Review this ${language} code for ${focus}.`;
  },
);
// #endregion prompt

// #region resource
export const order = resourceSaga(
  {
    name: 'order',
    version: '1',
    uriTemplate: 'orders://{id}',
    mimeType: 'text/plain',
    complete: { id: (start) => orders.ids(start) },
  },
  function* ({ id }) {
    return yield* step('read', () => orders.read(id), { reads: true });
  },
);
// #endregion resource
