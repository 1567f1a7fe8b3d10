// #region tool
import { writeFile } from 'node:fs/promises';
import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });

export const note = saga(
  {
    name: 'note',
    version: '1',
    description: 'Keeps a note',
    input: z.object({ text: z.string() }),
  },
  function* ({ text }) {
    const { sure } = yield* elicit('sure', { message: `Keep "${text}"?`, schema: Sure });
    if (!sure) return 'Not kept.';
    yield* step('save', () => writeFile('note.txt', text));
    return 'Kept in note.txt.';
  },
);
// #endregion tool
