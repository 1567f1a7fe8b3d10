/** `pnpm hosts [name …] [--long] [--write]`: drives real hosts through sagas, and prints a table. */
import { generateKey } from '@mcp-saga/server';
import { startServer } from '../../examples/run-server/index.ts';
import { hosts } from './hosts.ts';
import { installHost } from './install-host.ts';
import { ScriptedModel } from './model/model.ts';
import { play } from './play.ts';
import { scenarios } from './scenarios.ts';
import { startTaskStore } from './task-store.ts';
import { Wire } from './wire.ts';

const only = process.env['ONLY'];
const folder = new URL('server/', import.meta.url);
const store = await startTaskStore();
const environment = { SAGA_KEYS: generateKey(), RUNNER_URL: store.url, NODE_ENV: 'production' };
let effects: string[] = [];
const onLine = (line: string): void => {
  if (line.startsWith('effect ')) effects.push(line.slice(7));
  else console.error(line);
};
const servers = await Promise.all(['A', 'B'].map((name) => startServer(name, { folder, environment, onLine })));
const wire = await Wire.listen(servers.map(({ url }) => url));
const model = await ScriptedModel.listen();
if (process.env['DEBUG'])
  model.onRequest = (path, body, reply) => console.error(path, JSON.stringify(body).slice(-1500), '\n=>', JSON.stringify(reply));
const names = process.argv.slice(2).filter((a) => !a.startsWith('--'));
for (const host of hosts.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const installed = await installHost(host.name, host.packages);
  for (const scenario of scenarios.filter((s) => !s.isLong && (only === undefined || only.split(',').includes(s.tool)))) {
    const played = await play(host, installed, scenario, {
      model,
      wire,
      takeEffects: () => {
        const taken = effects;
        effects = [];
        return taken;
      },
    });
    console.log(scenario.title, played.problem ?? 'right', played.calls);
    if (played.problem) console.log(played.output);
    if (process.env['FRAMES'])
      for (const { from, message } of played.frames) console.log(from, JSON.stringify(message).slice(0, 1200));
  }
}
await Promise.all([...servers.map((s) => s.stop()), wire.close(), model.close(), store.close()]);
