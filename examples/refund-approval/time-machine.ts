import type { SagaQueue } from '@mcp-saga/server';
import { Client } from 'pg';

/** Clock of the example, which PostgreSQL follows. */
export interface TimeMachine {
  readonly clock: () => number;
  /** Connection options of the store. */
  readonly options: string;
  /** Translates the times of messages to the clock of pg-boss, which nothing advances. */
  shift(queue: SagaQueue): SagaQueue;
  /** Advances the clock. pg-boss delivers the messages that are then due. */
  advance(ms: number): Promise<void>;
}

/**
 * Starts at the current time. Replaces `statement_timestamp()`, the clock of the store, on
 * connections with `options`.
 */
export async function startTimeMachine(connectionString: string): Promise<TimeMachine> {
  let ahead = 0;
  const client = new Client({ connectionString });
  await client.connect();
  await client.query(`
    CREATE SCHEMA IF NOT EXISTS example;
    CREATE TABLE IF NOT EXISTS example.clock (ahead interval NOT NULL);
    TRUNCATE example.clock;
    INSERT INTO example.clock VALUES ('0');
    CREATE OR REPLACE FUNCTION example.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
      AS 'SELECT pg_catalog.statement_timestamp() + ahead FROM example.clock'`);
  return {
    clock: () => Date.now() + ahead,
    options: '-c search_path=public,example,pg_catalog',
    shift: (queue) => ({ ...queue, send: (message, at) => queue.send(message, at - ahead) }),
    advance: async (ms) => {
      ahead += ms;
      await client.query('UPDATE example.clock SET ahead = ahead + make_interval(secs => $1)', [
        ms / 1000,
      ]);
      await client.query(
        "UPDATE pgboss.job SET start_after = start_after - make_interval(secs => $1) WHERE state < 'active'",
        [ms / 1000],
      );
    },
  };
}
