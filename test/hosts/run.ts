/**
 * `pnpm hosts [name …]` drives real hosts through sagas and prints tables.
 *
 * - `--long` adds the scenario that takes minutes.
 * - `--write` writes `docs/operate/hosts.md`.
 * - `--only TOOL` drives one scenario.
 * - `--show` prints the messages and the screen of each scenario that did not end right.
 */
import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import type { Host } from './host.ts';
import { hosts } from './hosts.ts';
import { installHost } from './install-host.ts';
import { writePage } from './page.ts';
import { play, type Played, type World } from './play.ts';
import { toTables, type HostReport } from './report.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { startWorld } from './world.ts';

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    show: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const unknown = names.filter((name) => hosts.every((host) => host.name !== name));
if (unknown.length > 0) {
  const known = hosts.map(({ name }) => name).join(', ');
  throw new Error(`Unknown hosts: ${unknown.join(', ')}. Known hosts: ${known}.`);
}
if (flags.write && names.length > 0)
  throw new Error('--write needs all hosts: leave the names out.');

const chosenHosts = hosts.filter(({ name }) => names.length === 0 || names.includes(name));
const chosen = scenarios.filter(
  ({ isLong, tool }) => (flags.long || isLong !== true) && (flags.only ?? tool) === tool,
);
// Each server process adds an exit listener to this process.
setMaxListeners(0, process);

const isLong = (scenario: Scenario): boolean => scenario.isLong === true;

const reports: HostReport[] = [];
for (const host of chosenHosts) {
  reports.push(
    await drive(
      host,
      chosen.filter((scenario) => !isLong(scenario)),
    ),
  );
}
// Long scenarios mostly wait, so all hosts run at once.
const long = chosen.filter(isLong);
const complete = await Promise.all(
  reports.map(async (report) => {
    if (long.length === 0 || report.notRun !== undefined) return report;
    const { played, notRun } = await drive(report.host, long);
    return {
      ...report,
      ...(notRun === undefined ? {} : { notRun }),
      played: [...report.played, ...played],
    };
  }),
);

const tables = toTables(complete, chosen);
console.log(tables);
if (flags.write) await writePage(tables, new Date());

/** Drives one host through scenarios, with separate servers. */
async function drive(host: Host, list: readonly Scenario[]): Promise<HostReport> {
  let world: World | undefined;
  const played: Played[] = [];
  try {
    const installed = await installHost(host.packages);
    world = await startWorld(host.needsHandles === true);
    for (const scenario of list) {
      const one = await play(host, installed, scenario, world);
      played.push(one);
      console.error(`${host.title}, ${scenario.title}: ${one.problem ?? 'right'}`);
      if (flags.show && one.problem !== undefined) show(one);
    }
    return { host, played };
  } catch (error) {
    return { host, played, notRun: (error as Error).message };
  } finally {
    await world?.stop();
  }
}

function show({ output, frames }: Played): void {
  console.error(output);
  for (const { from, message } of frames)
    console.error(from, JSON.stringify(message).slice(0, 1_000));
}
