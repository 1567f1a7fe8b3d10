import { fileURLToPath } from 'node:url';
import { bundleForNode } from '../support/bundle-for-node.ts';

/** Node's arguments and environment for the bundled `pnpm start`. */
export interface BundledStart {
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** Bundles `pnpm start` and its server, for tests with many runs. */
export async function bundleStart(): Promise<BundledStart> {
  const runServer = fileURLToPath(new URL('run-bundled-server.ts', import.meta.url));
  const [start, server] = await Promise.all([
    bundleForNode(new URL('../../examples/quickstart/start.ts', import.meta.url), {
      '@mcp-saga/example-run-server': runServer,
    }),
    bundleForNode(new URL('bundled-server.ts', import.meta.url)),
  ]);
  return { args: ['--enable-source-maps', start], env: { QUICKSTART_SERVER: server } };
}
