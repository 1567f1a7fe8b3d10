import { generateKey } from '@mcp-saga/server';
import { startServer } from '../../examples/run-server/index.ts';
import { ScriptedModel } from './model/model.ts';
import type { World } from './play.ts';
import { startStore } from './shared-store.ts';
import { Wire } from './wire.ts';

const folder = new URL('server/', import.meta.url);

/**
 * Starts two server processes that share a key and a store, the proxy in front of them, and the
 * model.
 *
 * @param hasHandles - `true` to replace resume tokens by handles
 */
export async function startWorld(hasHandles: boolean): Promise<World> {
  const store = await startStore();
  const environment = {
    SAGA_KEYS: generateKey(),
    RUNNER_URL: store.url,
    HAS_HANDLES: String(hasHandles),
    NODE_ENV: 'production',
  };
  let effects: string[] = [];
  const onLine = (line: string): void => {
    if (line.startsWith('effect ')) effects.push(line.slice('effect '.length));
    else console.error(`server: ${line}`);
  };
  const servers = await Promise.all(
    ['A', 'B'].map((name) => startServer(name, { folder, environment, onLine })),
  );
  const wire = await Wire.listen(servers.map(({ url }) => url));
  const model = await ScriptedModel.listen();
  return {
    model,
    wire,
    takeEffects: () => {
      const taken = effects;
      effects = [];
      return taken;
    },
    stop: async () => {
      const stops = [
        ...servers.map((server) => server.stop()),
        wire.close(),
        model.close(),
        store.close(),
      ];
      await Promise.all(stops);
    },
  };
}
