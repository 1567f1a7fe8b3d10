import { setTimeout as pause } from 'node:timers/promises';
import { redisStore } from '@mcp-saga/redis';
import type { SagaStore } from '@mcp-saga/server';
import { postgresStore } from '@mcp-saga/sql';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { startPostgres } from '../../support/postgres-server.ts';
import { startRedis } from '../../support/redis-server.ts';
import { hasDatabase } from './databases.ts';
import { knowsProcessorTime, processorTimeOf } from './process-cpu.ts';

/** A store in a database of its own, whose bytes and processor time can be read. */
export interface MeasuredStore {
  readonly store: SagaStore;
  /** Bytes that the database takes for all entries, with keys, indexes, and its own overhead. */
  bytes(): Promise<number>;
  /** Bytes of the heads and bodies of all entries. */
  valueBytes(): Promise<number>;
  /** Processor time of all processes of the database since its start, in microseconds. */
  cpu(): number;
  /**
   * Lets time pass until all entries have expired and are gone, and returns the processor time that
   * this took the database, in microseconds.
   */
  expire(): Promise<number>;
  close(): Promise<void>;
}

/** Databases that this machine can start and measure. */
export function measuredNames(): readonly ('redis' | 'postgres')[] {
  return (['redis', 'postgres'] as const).filter((name) => knowsProcessorTime && hasDatabase(name));
}

/** Starts a database for a store. */
export async function startMeasuredStore(name: 'redis' | 'postgres'): Promise<MeasuredStore> {
  return await (name === 'redis' ? inRedis() : inPostgres());
}

async function inRedis(): Promise<MeasuredStore> {
  const server = await startRedis();
  const client = createClient({ url: server.url });
  await client.connect();
  const cpu = (): number => processorTimeOf(server.pid ?? 0);
  const usedMemory = async (): Promise<number> =>
    Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
  const empty = await usedMemory();
  return {
    store: redisStore(client),
    bytes: async () => (await usedMemory()) - empty,
    valueBytes: async () => Number(await client.eval(sumOfLengths)),
    cpu,
    expire: async () => {
      // Redis has no clock that could be moved. Its keys get another time instead, which is far
      // enough ahead for the change to end before.
      await client.eval(expireSoon);
      const before = cpu();
      while ((await client.dbSize()) > 0) await pause(100);
      return cpu() - before;
    },
    close: async () => {
      client.destroy();
      await server.kill();
    },
  };
}

const sumOfLengths = `
local sum = 0
for _, key in ipairs(redis.call('KEYS', '*')) do sum = sum + redis.call('STRLEN', key) end
return sum
`;

const expireSoon = `
local time = redis.call('TIME')
for _, key in ipairs(redis.call('KEYS', '*')) do
  redis.call('PEXPIREAT', key, (time[1] + 5) * 1000)
end
`;

async function inPostgres(): Promise<MeasuredStore> {
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url, max: 20 });
  const store = postgresStore(pool);
  await store.createTables();
  const numberOf = async (sql: string): Promise<number> => {
    const { rows } = await pool.query<{ readonly value: string }>(`SELECT ${sql} AS value`);
    return Number(rows[0]?.value);
  };
  const cpu = (): number => processorTimeOf(server.pid ?? 0);
  const due = `(SELECT count(*) FROM ${table} WHERE due_at <= extract(epoch FROM now()) * 1000)`;
  return {
    store,
    bytes: () => numberOf(`pg_total_relation_size('${table}')`),
    valueBytes: () =>
      numberOf(`(SELECT sum(octet_length(head) + coalesce(octet_length(body), 0)) FROM ${table})`),
    cpu,
    expire: async () => {
      let used = 0;
      // First the bodies expire, which a day later nobody may ask for again, and then the heads.
      for (const days of [2, 30]) {
        const ms = days * 86_400_000;
        const columns = ['due_at', 'body_until', 'expires_at'];
        const earlier = columns.map((column) => `${column} = ${column} - ${ms}`).join(', ');
        await pool.query(`UPDATE ${table} SET ${earlier}`);
        // The table is as if its rows had been written with these times.
        await pool.query(`VACUUM FULL ANALYZE ${table}`);
        const before = cpu();
        for (let left = await numberOf(due); left > 0; left = await numberOf(due))
          await sweep(pool, Math.ceil(left / 200));
        // PostgreSQL does so on its own, minutes later.
        await pool.query(`VACUUM ANALYZE ${table}`);
        used += cpu() - before;
      }
      if ((await numberOf(`(SELECT count(*) FROM ${table})`)) > 0)
        throw new Error('Some entries have not expired');
      return used;
    },
    close: async () => {
      await pool.end();
      await server.remove();
    },
  };
}

const table = 'mcp_saga_entries';

/** Removes up to 200 expired rows each time, as the first write of each process does. */
async function sweep(pool: Pool, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const key = { group: 'none', name: 'none' };
    const expiresAtMs = Date.now() + 60_000;
    // There is no such entry to replace, so nothing is written.
    await postgresStore(pool).write(key, { head: 'none' }, 1, { expiresAtMs });
  }
}
