// #region prompts
import { elicit, promptSaga, resourceSaga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { orders } from './orders.ts';

const Context = z.object({ context: z.string() });

export const review = promptSaga(
  { name: 'review', version: '1', input: z.object({ language: z.string() }) },
  function* ({ language }) {
    const { context } = yield* elicit('context', { message: 'Which context?', schema: Context });
    return `Review ${language} for ${context}.`;
  },
);

export const order = resourceSaga(
  { name: 'order', version: '1', uriTemplate: 'orders://{id}', mimeType: 'text/plain' },
  function* ({ id }) {
    return yield* step('read', () => orders.read(id));
  },
);
// #endregion prompts
