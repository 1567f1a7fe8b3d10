import type { SqlStore } from '@mcp-saga/sql';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { absentClientsSuite } from '../../../server/test/guards/absent-clients-suite.ts';
import { guardedHostsSuite } from '../../../server/test/guards/guarded-hosts-suite.ts';
import { interruptedTurnsSuite } from '../../../server/test/guards/interrupted-turns-suite.ts';
import { lateCopiesSuite } from '../../../server/test/guards/late-copies-suite.ts';
import { lostClientsSuite } from '../../../server/test/guards/lost-clients-suite.ts';
import { repeatedTurnsSuite } from '../../../server/test/guards/repeated-turns-suite.ts';
import { storeConformance } from '../../../testing/src/stores.ts';
import type { Connected } from './databases.ts';
import { pass } from './pass.ts';
import { clockless, shiftedStores } from '../../../../test/support/shifted-store.ts';
import { patient } from '../../../../test/support/patience.ts';

// Of all suites: several may share a server.
let made = 0;

/**
 * Runs all suites of stores on a database. `hosts`: also those of whole hosts, which take longer.
 */
export function storeSuites(
  name: string,
  connect: () => Promise<Connected>,
  { runs = 50, hosts = true } = {},
): void {
  describe(name, () => {
    let connected: Connected;

    beforeAll(async () => {
      connected = await connect();
    });
    afterAll(() => connected.close());

    const fresh = async () => {
      made += 1;
      const prefix = `test_${made}_`;
      const [one, other]: readonly [SqlStore, SqlStore] = connected.stores({ ...patient, prefix });
      await one.createTables();
      return { one, other, pass: (ms: number) => pass(connected.run, prefix, ms) };
    };
    const makeStores = async () => {
      const { one, other, pass: passInDatabase } = await fresh();
      return shiftedStores(one, other, passInDatabase);
    };
    for (const { title, run } of storeConformance(makeStores, { runs })) it(`[T13] ${title}`, run);
    const makeHosts = async () => clockless(await makeStores());
    if (hosts) {
      guardedHostsSuite(`by ${name}`, makeHosts);
      absentClientsSuite(`by ${name}`, makeHosts);
      repeatedTurnsSuite(`by ${name}`, makeHosts);
      lateCopiesSuite(`by ${name}`, makeHosts);
      lostClientsSuite(`by ${name}`, makeHosts);
      interruptedTurnsSuite(`by ${name}`, makeHosts);
    }
  });
}
