import { testSaga } from '@mcp-saga/testing';
import { deleteProject } from './confirm.ts';

/** The user types the name of the project. */
export const script = testSaga(deleteProject, { input: { project: 'website' } }).on.elicit(
  'confirm',
  {
    name: 'website',
  },
);

/** A second delete changes nothing. */
export const harmless = ['delete'];
