import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';

/** A store of projects that honors idempotency keys. */
export const store = {
  files: new Map([['website', 12]]),
  count: (project: string): number => store.files.get(project) ?? 0,
  delete: async (project: string, _idempotencyKey?: string): Promise<void> =>
    void store.files.delete(project),
};

// #region tool
const Confirmation = z.object({ name: z.string().describe('Name of the project') });

export const deleteProject = saga(
  {
    name: 'delete_project',
    version: '1',
    description: 'Deletes a project, after the user has confirmed it',
    input: z.object({ project: z.string() }),
    needs: ['elicitation'],
  },
  function* ({ project }) {
    const files = yield* step('count', () => store.count(project), { reads: true });
    const { name } = yield* elicit('confirm', {
      message: `This deletes ${files} files for good. Type "${project}" to confirm.`,
      schema: Confirmation,
      answeredBy: ['client'], // no model confirms for its user, whatever the saga allows
    });
    if (name !== project) return 'Not deleted: the name does not match.';
    yield* step('delete', ({ idempotencyKey }) => store.delete(project, idempotencyKey), {
      retry: 3,
    });
    return `Deleted ${project}.`;
  },
);
// #endregion tool

// #region once
export const deleteOnce = saga(
  { name: 'delete_once', version: '1', input: z.object({ project: z.string() }) },
  function* ({ project }) {
    yield* elicit('confirm', { message: `Delete ${project}?`, schema: Confirmation });
    yield* step('delete', () => store.delete(project), { once: true });
    return `Deleted ${project}.`;
  },
);
// #endregion once
