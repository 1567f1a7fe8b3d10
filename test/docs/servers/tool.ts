import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

/** Notes that were kept. */
export const notes: string[] = [];

const Sure = z.object({ sure: z.boolean() });

/** The tool that each server gets. */
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
    yield* step('save', () => void notes.push(text));
    return 'Kept.';
  },
);
