import type { SagaStore } from '@mcp-saga/server/stores';
import type { Supervisor } from '../model/supervisor.ts';

const since = 'remembersSince';

/** Store in the memory of a supervisor, which knows its entries after a kill of this process. */
export function keptStore(supervisor: Supervisor): SagaStore {
  let startedAtMs = supervisor.kept.get(since) as number | undefined;
  const call =
    (method: keyof SagaStore) =>
    async (...given: readonly unknown[]): Promise<never> =>
      (await supervisor.callStore(method, given)) as never;
  return {
    write: call('write'),
    remove: call('remove'),
    read: call('read'),
    append: call('append'),
    list: call('list'),
    discard: call('discard'),
    close: call('close'),
    // Tokens of an earlier command are unknown here, as in a store of this process.
    remembersSince: (nowMs) => {
      if (startedAtMs === undefined) {
        startedAtMs = nowMs;
        void supervisor.keep(since, nowMs);
      }
      return startedAtMs;
    },
  };
}
