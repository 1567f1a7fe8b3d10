// #region server
import { writeFile } from 'node:fs/promises';
import { elicit, saga, step } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

const note = saga(
  { name: 'note', version: '1', description: 'Keeps a note', input: z.object({ text: z.string() }) },
  function* ({ text }) {
    const { sure } = yield* elicit('sure', { message: `Keep "${text}"?`, schema: Sure });
    if (!sure) return 'Not kept.';
    yield* step('save', () => writeFile('note.txt', text));
    return 'Kept in note.txt.';
  },
);

const sagas = serveSagas({ name: 'notes', version: '1.0.0', sagas: [note] });

serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' }); // on PORT, or 3000
// #endregion server
