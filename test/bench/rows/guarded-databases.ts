import { measuredNames, startMeasuredStore } from '../load/measured-stores.ts';
import { confirm, refundHost, suspend } from '../load/refund.ts';
import type { Finding, Row } from '../row.ts';

const turns = 4000;

/** Processor time of a database for a turn that it guards, one turn at a time. */
export const guardedDatabases: Row = async ({ effort }) => {
  const findings: Finding[] = [];
  const count = Math.ceil(turns * effort.share);
  for (const name of measuredNames()) {
    const measured = await startMeasuredStore(name);
    try {
      const host = refundHost(measured.store);
      const run = async (): Promise<number> => {
        // Starts that have no name are not guarded, and cost the database nothing.
        const tokens: string[] = [];
        for (let started = 0; started < count; started += 1) tokens.push(await suspend(host));
        const before = measured.cpu();
        for (const token of tokens) await confirm(host, token);
        return measured.cpu() - before;
      };
      // The database prepares its statements, and fills its caches.
      await run();
      const used = await run();
      findings.push({ figure: `guarded-database-${name}`, ours: used / count, peers: [] });
    } finally {
      await measured.close();
    }
  }
  return findings;
};
