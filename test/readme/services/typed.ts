import { testSaga, type TestSaga } from '@mcp-saga/testing';
import { poll, saga, step, type Program, type StepContext } from '@mcp-saga/server';
import { expectType, type Equal } from '../../../packages/core/test/types/equal.ts';
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
// @ts-expect-error -- steps would get undefined in place of the registered services
serveSagas(options);

const authenticate = (): { readonly subject: string; readonly roles: readonly string[] } => ({
  subject: 'ann',
  roles: [],
});
serveSagas({
  ...options,
  services: { db },
  auth: { authenticate, mayAnswer: (user, by) => by === null || user.roles.includes(by.role) },
});
// @ts-expect-error -- the registered user has roles
serveSagas({ ...options, services: { db }, auth: { authenticate: () => ({ subject: 'ann' }) } });

// Wherever a turn may run without a request of the user, the type of `user` says so.
type Registered = { readonly subject: string; readonly roles: readonly string[] };
type Services = { readonly db: { insert(row: string): Promise<number> } };
expectType<Equal<StepContext<undefined>['user'], Registered | undefined>>();
expectType<Equal<StepContext<undefined>['services'], Services>>();
step('known', ({ user, services }) => {
  expectType<Equal<typeof user, Registered | undefined>>();
  expectType<Equal<typeof services, Services>>();
});
step('undone', () => 1, {
  compensate: ({ user, services }) => {
    expectType<Equal<typeof user, Registered | undefined>>();
    expectType<Equal<typeof services, Services>>();
  },
});
poll(
  'polled',
  ({ user, services }) => {
    expectType<Equal<typeof user, Registered | undefined>>();
    expectType<Equal<typeof services, Services>>();
    return 1;
  },
  { every: '1s', timeout: '1s' },
);
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
