import { together } from '../load/fleet.ts';
import { measuredNames, startMeasuredStore } from '../load/measured-stores.ts';
import { refundHost, suspend } from '../load/refund.ts';
import type { Finding, Row } from '../row.ts';

const sagas = 100_000;
/** Sagas that start at once. */
const atOnce = 20;

/**
 * 100,000 sagas that wait for an answer which never comes: the bytes of each in a database, and the
 * processor time of the database for its expiry, beside that for its writing.
 */
export const suspended: Row = async ({ effort }) => {
  const findings: Finding[] = [];
  const count = Math.ceil(sagas * effort.share);
  for (const name of measuredNames()) {
    const measured = await startMeasuredStore(name);
    try {
      const host = refundHost(measured.store);
      const before = measured.cpu();
      let started = 0;
      await together(atOnce, async () => {
        while (started < count) {
          started += 1;
          await suspend(host, `order-${started}`);
        }
      });
      const written = measured.cpu() - before;
      const each = (value: number): number => value / count;
      const bytes = await measured.bytes();
      findings.push(
        {
          figure: `suspended-${name}`,
          ours: each(bytes),
          peers: [{ name: 'heads and bodies', value: each(await measured.valueBytes()) }],
        },
        {
          figure: `suspended-expiry-${name}`,
          ours: each(await measured.expire()),
          peers: [{ name: 'writing', value: each(written) }],
        },
      );
    } finally {
      await measured.close();
    }
  }
  return findings;
};
