import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateKey } from '@mcp-saga/server';
import { bundleForNode, runBundles } from '../../support/bundle-for-node.ts';
import type { Target } from '../peers/peer.ts';
import { listen, sessions, stateless } from './http-server.ts';
import { createHost } from './sagas.ts';

/** Transport of a server. */
export type Place = 'stateless HTTP' | 'a session over HTTP' | 'stdio';

/** A server of the sagas. */
export interface Served {
  readonly target: Target;
  /** The server steps that succeeded so far. */
  readonly effects: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** Serves the sagas. Over stdio the client starts the server. */
export async function serve(
  place: Place,
  { hasModel }: { readonly hasModel: boolean },
): Promise<Served> {
  const keys = generateKey();
  if (place === 'stdio') return await forStdio(keys, hasModel);
  const effects: string[] = [];
  const host = createHost({ keys, hasModel }, (path) => effects.push(path));
  const kind = place === 'stateless HTTP' ? stateless : sessions;
  const { url, stop } = await listen(kind((server) => host.attach(server)));
  return { target: { url }, effects: async () => effects, stop };
}

let bundled: Promise<void> | undefined;

async function forStdio(keys: string, hasModel: boolean): Promise<Served> {
  await (bundled ??= bundleForNode('test/interop/support/stdio-server.ts'));
  const folder = await mkdtemp(join(tmpdir(), 'interop-'));
  const effects = join(folder, 'effects');
  await writeFile(effects, '');
  return {
    target: {
      command: process.execPath,
      args: [...runBundles, fileURLToPath(new URL('stdio-server.ts', import.meta.url))],
      env: { SAGA_KEYS: keys, INTEROP_EFFECTS: effects, INTEROP_MODEL: hasModel ? 'yes' : 'no' },
    },
    effects: async () => (await readFile(effects, 'utf8')).split('\n').filter(Boolean),
    stop: () => rm(folder, { recursive: true }),
  };
}
