import { testSaga, type TestSaga } from '@mcp-saga/testing';
import { saga, step, type Program } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';

const empty = saga({ name: 'empty', version: '1' }, function* () {
  return yield* step('greet', () => 'Hello');
});
const db = { insert: async (row: string): Promise<number> => row.length };
const options = { name: 'typed', version: '1', sagas: [empty] as readonly Program[] };

serveSagas({ ...options, services: () => ({ db }) });
// @ts-expect-error -- the registered services have a `db`
serveSagas({ ...options, services: () => ({ bd: db }) });

export const typed: TestSaga<typeof empty> = testSaga(empty, { services: { db } });
// @ts-expect-error -- as above
testSaga(empty, { services: {} });
