import { fullEffort } from './harness.ts';
import { loadPeers } from './peers/peers.ts';
import { rows } from './rows/rows.ts';

// Runs one row in its own process, started by bench.ts: compiler optimizations for one row can slow
// the next.
const [name = '', peers = ''] = process.argv.slice(2);
const row = rows[name];
if (row === undefined) throw new Error(`There is no row '${name}'`);
const findings = await row({
  effort: fullEffort,
  peers: peers === '' ? undefined : loadPeers(peers),
});
process.send?.(findings, () => process.exit());
