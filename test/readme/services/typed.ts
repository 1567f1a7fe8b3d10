import { testSaga, type TestSaga } from '@mcp-saga/testing';
import { saga, step, type Program } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';

const empty = saga({ name: 'empty', version: '1' }, function* () {
  return yield* step('greet', () => 'Hello');
});
const db = { insert: async (row: string): Promise<number> => row.length };
const options = { name: 'typed', version: '1', sagas: [empty] as readonly Program[] };

serveSagas({ ...options, services: { db } });
serveSagas({ ...options, services: (env: { readonly DB: typeof db }) => ({ db: env.DB }) });
// @ts-expect-error -- the registered services have a `db`
serveSagas({ ...options, services: { bd: db } });
// @ts-expect-error -- as above
serveSagas({ ...options, services: () => ({ bd: db }) });

const authenticate = (): { readonly subject: string; readonly roles: readonly string[] } => ({
  subject: 'ann',
  roles: [],
});
serveSagas({
  ...options,
  auth: { authenticate, mayAnswer: (_, __, { user }) => user?.roles.includes('manager') === true },
});
// @ts-expect-error -- the registered user has roles
serveSagas({ ...options, auth: { authenticate: () => ({ subject: 'ann' }) } });

// @ts-expect-error -- a turn of a queue has no user
step('read', ({ user }) => user.subject);

export const typed: TestSaga<typeof empty> = testSaga(empty, {
  services: { db },
  user: { subject: 'ann', roles: [] },
});
// @ts-expect-error -- as above
testSaga(empty, { services: {} });
// @ts-expect-error -- as above
testSaga(empty, { user: { subject: 'ann' } });
