import { createSagaHost, memoryStore, poll, saga, step, type SagaHost } from '@mcp-saga/server';

/** Number of times that the warehouse was asked. */
export const asked = { times: 0 };
const warehouse = {
  start: async (key: string): Promise<string> => `job-${key.slice(0, 2)}`,
  rows: async (job: string): Promise<number | undefined> => {
    asked.times += 1;
    return asked.times < 3 ? undefined : 200 * job.length;
  },
};

// #region tool
export const report = saga(
  {
    name: 'report',
    version: '1',
    description: 'Makes the yearly report, which takes about ten minutes',
    task: 'prefer',
  },
  function* () {
    const job = yield* step('start', ({ idempotencyKey }) => warehouse.start(idempotencyKey));
    const rows = yield* poll('rows', () => warehouse.rows(job), {
      every: '5s',
      timeout: '1h',
      report: ({ elapsedMs }) => `Running for ${Math.round(elapsedMs / 1_000)} s`,
    });
    return `The report has ${rows} rows.`;
  },
);
// #endregion tool

// #region host
export const hostOf = (keys: string): SagaHost =>
  createSagaHost({
    sagas: [report],
    keys,
    name: 'reports',
    store: memoryStore(),
    anonymous: { tasks: 'accept' },
  });
// #endregion host
